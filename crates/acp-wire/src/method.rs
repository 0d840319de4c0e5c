//! The names of methods with the types that go with them.

use serde::Serialize;
use serde::de::DeserializeOwned;

/// A request: its name, its parameters and its result.
pub trait Method {
    /// The `method` on the wire.
    const NAME: &'static str;
    /// The `params`.
    type Params: Serialize + DeserializeOwned + Send + 'static;
    /// The `result`.
    type Result: Serialize + DeserializeOwned + Send + 'static;
}

/// A notification: its name and its parameters.
pub trait Notification {
    /// The `method` on the wire.
    const NAME: &'static str;
    /// The `params`.
    type Params: Serialize + DeserializeOwned + Send + 'static;
}

/// Defines the marker types of a version's methods: `Name = "wire/name": Params => Result`, or without a
/// result for a notification.
macro_rules! methods {
    ($($(#[$m:meta])* $name:ident = $wire:literal: $params:ty => $result:ty,)*
     ; $($(#[$nm:meta])* $note:ident = $nwire:literal: $nparams:ty,)*) => {
        $(
            $(#[$m])*
            #[derive(Debug, Clone, Copy)]
            pub struct $name;

            impl crate::Method for $name {
                const NAME: &'static str = $wire;
                type Params = $params;
                type Result = $result;
            }
        )*
        $(
            $(#[$nm])*
            #[derive(Debug, Clone, Copy)]
            pub struct $note;

            impl crate::Notification for $note {
                const NAME: &'static str = $nwire;
                type Params = $nparams;
            }
        )*
    };
}
pub(crate) use methods;
