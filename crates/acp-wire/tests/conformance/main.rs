//! Conformance by machine: instances made up from the official JSON Schema are read and written by these types
//! and by the official crate, in both directions, and must come out the same. Beside it, what values look like
//! when they are built by hand.

#[cfg(test)]
mod any_message;
#[cfg(test)]
mod coverage;
#[cfg(test)]
mod cross;
#[cfg(test)]
mod examples;
#[cfg(test)]
mod generate;
#[cfg(test)]
mod lenient;
#[cfg(test)]
mod schema;
#[cfg(test)]
mod shapes_v1;
#[cfg(test)]
mod shapes_v2;
#[cfg(test)]
mod subjects;

/// A value as one line of JSON.
#[cfg(test)]
fn line<T: serde::Serialize>(value: &T) -> String {
    serde_json::to_string(value).expect("a value is JSON")
}
