//! Programs that embed the public crates; see the examples of this package.
