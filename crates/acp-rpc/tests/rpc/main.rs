//! The crate's guarantees, over in-memory streams and a paused clock.

#[cfg(test)]
mod support;
#[cfg(test)]
mod wire;
