//! Conformance by machine: instances made up from the official JSON Schema are read and written by these types
//! and by the official crate, in both directions, and must come out the same.

mod coverage;
mod cross;
mod generate;
mod schema;
mod subjects;
