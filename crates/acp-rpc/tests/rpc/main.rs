//! The crate's guarantees, over in-memory streams and a paused clock.

#[cfg(test)]
mod any_input;
#[cfg(test)]
mod drain;
#[cfg(test)]
mod handlers;
#[cfg(test)]
mod pressure;
#[cfg(test)]
mod properties;
#[cfg(test)]
mod requests;
#[cfg(test)]
mod responders;
#[cfg(test)]
mod seeds;
#[cfg(test)]
mod spans;
#[cfg(test)]
mod stress;
#[cfg(test)]
mod support;
#[cfg(test)]
mod taps;
#[cfg(test)]
mod threads;
#[cfg(test)]
mod wakes;
#[cfg(test)]
mod wire;
