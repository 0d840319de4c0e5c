//! Folding live events and replaying what was stored.

#[cfg(test)]
mod folder;
#[cfg(test)]
mod property;
#[cfg(test)]
mod replay;
#[cfg(test)]
mod support;
