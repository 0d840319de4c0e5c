//! Workflows from beginning to end, and from checkpoints.

#[cfg(test)]
mod runs;
#[cfg(test)]
mod support;
