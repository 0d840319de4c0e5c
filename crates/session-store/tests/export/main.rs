//! Sessions written to files and read from them.

#[cfg(test)]
mod export;
#[cfg(test)]
mod import;
#[cfg(test)]
mod support;
