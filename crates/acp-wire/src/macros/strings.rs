//! Strings with a meaning of their own, and enums of strings.

/// Defines an enum of strings. An unknown string is an error, unless `else Other` keeps it or `fallback V` takes
/// it for one of the variants.
macro_rules! strings {
    ($(#[$m:meta])* pub enum $name:ident $(: $default:ident)? {
        $($(#[$vm:meta])* $variant:ident = $wire:literal,)*
        $(; else $other:ident)?
        $(; fallback $fallback:ident)?
    }) => {
        $(#[$m])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash $(, $default)?)]
        pub enum $name {
            $($(#[$vm])* $variant,)*
            $(
                /// A value this version of the protocol doesn't define.
                $other(String),
            )?
        }

        impl $name {
            /// The values this version of the protocol defines.
            pub const VALUES: &'static [&'static str] = &[$($wire),*];

            /// The value as it is written.
            #[must_use]
            pub fn as_str(&self) -> &str {
                match self {
                    $(Self::$variant => $wire,)*
                    $(Self::$other(value) => value,)?
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl crate::open::Text for $name {
            fn from_text(text: &str) -> Option<Self> {
                Some(match text {
                    $($wire => Self::$variant,)*
                    unknown => strings! { @unknown unknown $($other)? $(fallback $fallback)? },
                })
            }
            const KNOWN: &'static [&'static str] = Self::VALUES;
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                crate::open::text(deserializer)
            }
        }
    };
    (@unknown $text:ident) => {{
        let _: &str = $text;
        return None
    }};
    (@unknown $text:ident fallback $fallback:ident) => {{
        let _: &str = $text;
        Self::$fallback
    }};
    (@unknown $text:ident $other:ident) => { Self::$other($text.to_owned()) };
}
pub(crate) use strings;

/// Defines a string with a meaning of its own: an identifier, a path, a cursor. Cheap to clone.
macro_rules! string_type {
    ($(#[$m:meta])* pub struct $name:ident;) => {
        $(#[$m])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(std::sync::Arc<str>);

        impl $name {
            #[doc = "Takes the string as it is."]
            #[must_use]
            pub fn new(value: impl Into<std::sync::Arc<str>>) -> Self {
                Self(value.into())
            }

            /// The string.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }

        impl std::borrow::Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl From<&str> for $name {
            fn from(value: &str) -> Self {
                Self(value.into())
            }
        }

        impl From<String> for $name {
            fn from(value: String) -> Self {
                Self(value.into())
            }
        }

        impl From<&String> for $name {
            fn from(value: &String) -> Self {
                Self(value.as_str().into())
            }
        }

        impl From<&$name> for $name {
            fn from(value: &$name) -> Self {
                value.clone()
            }
        }

        impl From<std::sync::Arc<str>> for $name {
            fn from(value: std::sync::Arc<str>) -> Self {
                Self(value)
            }
        }

        impl From<$name> for String {
            fn from(value: $name) -> Self {
                value.0.as_ref().to_owned()
            }
        }

        impl PartialEq<str> for $name {
            fn eq(&self, other: &str) -> bool {
                &*self.0 == other
            }
        }

        impl PartialEq<&str> for $name {
            fn eq(&self, other: &&str) -> bool {
                &*self.0 == *other
            }
        }

        crate::builder::from_text! { $name }

        impl crate::open::Text for $name {
            fn from_text(text: &str) -> Option<Self> {
                Some(Self(text.into()))
            }
            const KNOWN: &'static [&'static str] = &[];
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.0)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                crate::open::text(deserializer)
            }
        }
    };
}
pub(crate) use string_type;
