//! Unions told apart by one member.

/// Defines a union told apart by one string member (`tag`): the enum and both directions.
///
/// The tag is written first and may be read anywhere; when it comes first, nothing is buffered. A known tag
/// with a bad payload is an error. What an unknown or a missing tag means is said at the end: nothing (an
/// error); `else Other` keeps an unknown tag with its members (`requires [..]` and `where f` demand something of
/// them); `none V(T)` is the form without a tag; `rest V(T)` is the form for a missing, an unknown
/// and a malformed tag.
macro_rules! tagged {
    ($(#[$m:meta])* pub enum $name:ident: $tag:tt {
        $($(#[$vm:meta])* $variant:ident $(($ty:ty))? = $wire:tt,)*
        $(; else $other:ident $(requires [$($required:literal),*])? $(where $check:ident)?)?
        $(; none $(#[$nm:meta])* $none:ident($nty:ty))?
        $(; rest $(#[$rm:meta])* $rest:ident($rty:ty))?
    }) => {
        $(#[$m])*
        #[derive(Debug, Clone, PartialEq, serde::Serialize)]
        #[serde(tag = $tag)]
        pub enum $name {
            $($(#[$vm])* #[serde(rename = $wire)] $variant $(($ty))?,)*
            $(
                /// A value this version of the protocol doesn't define, kept with all its members.
                #[serde(untagged)]
                $other(crate::Other),
            )?
            $($(#[$nm])* #[serde(untagged)] $none($nty),)?
            $($(#[$rm])* #[serde(untagged)] $rest($rty),)?
        }

        impl $name {
            /// The discriminators this version of the protocol defines.
            pub const TAGS: &'static [&'static str] = &[$($wire),*];

            $(
                /// A value with a discriminator of one's own (beginning with `_`) and its members.
                #[must_use]
                pub fn other(tag: impl Into<String>, fields: crate::Meta) -> Self {
                    Self::$other(crate::Other::new($tag, tag.into(), fields))
                }
            )?
        }

        impl crate::open::Union for $name {
            const TAG: &'static str = $tag;
            const FALLS_BACK: bool = tagged! { @falls_back $($rest)? };

            fn build<'de, A: serde::de::MapAccess<'de>>(
                tag: Option<String>,
                members: &mut crate::open::Members<A>,
            ) -> Result<Self, A::Error> {
                $(if tag.as_deref() == Some($wire) {
                    return Ok(Self::$variant $((members.read::<$ty>()?))?);
                })*
                $(if let Some(tag) = &tag {
                    let other = members.other($tag, tag, &[$($($required),*)?])?;
                    $($check::<A::Error>(&other)?;)?
                    return Ok(Self::$other(other));
                })?
                $(if tag.is_none() {
                    return Ok(Self::$none(members.read::<$nty>()?));
                })?
                tagged! { @end $name tag members $($rest($rty))? }
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                crate::open::union(deserializer)
            }
        }
    };
    (@falls_back) => { false };
    (@falls_back $rest:ident) => { true };
    (@end $name:ident $tag:ident $members:ident) => {
        Err(crate::open::no_variant::<Self, A::Error>($tag.as_deref(), Self::TAGS))
    };
    (@end $name:ident $tag:ident $members:ident $rest:ident($rty:ty)) => {
        Ok(Self::$rest($members.read::<$rty>()?))
    };
}
pub(crate) use tagged;

/// Turns the payload of a variant into its union, where no other variant has the same payload.
macro_rules! from_variants {
    ($name:ident: $($variant:ident($ty:ty),)*) => {
        $(
            impl From<$ty> for $name {
                fn from(value: $ty) -> Self {
                    Self::$variant(value)
                }
            }
        )*
    };
}
pub(crate) use from_variants;
