//! The notation in which the wire types are written: objects, open and closed string enums, tagged unions and
//! string newtypes.
//!
//! The macros know serde and the builder methods; they know no member of the protocol.

mod object;
mod strings;
mod tagged;

pub(crate) use object::object;
pub(crate) use strings::{string_type, strings};
pub(crate) use tagged::{from_variants, tagged};
