//! What builder methods take: a value, an optional value, or text for a string.

use crate::Patch;

/// A value or an `Option` of it, as builder methods of optional members take it.
pub trait IntoOption<T> {
    /// The member's new state.
    fn into_option(self) -> Option<T>;
}

impl<T> IntoOption<T> for T {
    fn into_option(self) -> Option<T> {
        Some(self)
    }
}

impl<T> IntoOption<T> for Option<T> {
    fn into_option(self) -> Option<T> {
        self
    }
}

/// A value, an `Option` (none clears) or a [`Patch`], as builder methods of patched members take it.
pub trait IntoPatch<T> {
    /// What to do to the stored value.
    fn into_patch(self) -> Patch<T>;
}

impl<T> IntoPatch<T> for T {
    fn into_patch(self) -> Patch<T> {
        Patch::Set(self)
    }
}

impl<T> IntoPatch<T> for Option<T> {
    fn into_patch(self) -> Patch<T> {
        self.into()
    }
}

impl<T> IntoPatch<T> for Patch<T> {
    fn into_patch(self) -> Patch<T> {
        self
    }
}

impl IntoOption<String> for &str {
    fn into_option(self) -> Option<String> {
        Some(self.to_owned())
    }
}

impl IntoPatch<String> for &str {
    fn into_patch(self) -> Patch<String> {
        Patch::Set(self.to_owned())
    }
}

/// Lets builder methods take text where the member is a string newtype.
macro_rules! from_text {
    ($name:ident) => {
        impl crate::IntoOption<$name> for &str {
            fn into_option(self) -> Option<$name> {
                Some(self.into())
            }
        }
        impl crate::IntoOption<$name> for String {
            fn into_option(self) -> Option<$name> {
                Some(self.into())
            }
        }
        impl crate::IntoPatch<$name> for &str {
            fn into_patch(self) -> crate::Patch<$name> {
                crate::Patch::Set(self.into())
            }
        }
        impl crate::IntoPatch<$name> for String {
            fn into_patch(self) -> crate::Patch<$name> {
                crate::Patch::Set(self.into())
            }
        }
    };
}
pub(crate) use from_text;
