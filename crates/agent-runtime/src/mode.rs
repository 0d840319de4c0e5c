//! How freely a session's tools run, beside what its user granted.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

/// How freely tools run. Ids and order are Docker Agent's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    /// Looking inside the session's folders is free, the rest is asked.
    #[default]
    Default,
    /// Every call is asked that no rule allows.
    Strict,
    /// As [`Default`](Self::Default), and commands that only look are free.
    Balanced,
    /// As [`Balanced`](Self::Balanced), and what would be asked is refused.
    Restricted,
    /// Nothing is asked.
    Autonomous,
}

impl Mode {
    /// All of them, in the order in which they are offered.
    pub const ALL: [Self; 5] =
        [Self::Default, Self::Strict, Self::Balanced, Self::Restricted, Self::Autonomous];

    /// Its id.
    #[must_use]
    pub fn id(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Strict => "strict",
            Self::Balanced => "balanced",
            Self::Restricted => "restricted",
            Self::Autonomous => "autonomous",
        }
    }

    /// Its label.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Default => "Ask",
            Self::Strict => "Ask for everything",
            Self::Balanced => "Ask, but look freely",
            Self::Restricted => "Look only",
            Self::Autonomous => "Never ask",
        }
    }

    /// What it means, for the user.
    #[must_use]
    pub fn description(self) -> &'static str {
        match self {
            Self::Default => "Reading in the session's folders is free; changes and commands are asked for",
            Self::Strict => "Every tool call is asked for, reading included",
            Self::Balanced => "As `default`, and simple commands that only look run unasked",
            Self::Restricted => "Reading and commands that only look run unasked; all else is refused",
            Self::Autonomous => "Every tool call runs unasked",
        }
    }

    /// The mode of this id.
    #[must_use]
    pub fn from_id(id: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| mode.id() == id)
    }
}

/// A session's mode; clones share it, so that a change reaches the turn that runs.
#[derive(Debug, Clone, Default)]
pub struct SharedMode(Arc<AtomicU8>);

impl SharedMode {
    /// The mode now.
    #[must_use]
    pub fn get(&self) -> Mode {
        Mode::ALL.get(usize::from(self.0.load(Ordering::Acquire))).copied().unwrap_or_default()
    }

    /// Changes it for all clones.
    pub fn set(&self, mode: Mode) {
        let place = Mode::ALL.iter().position(|known| *known == mode);
        self.0.store(place.and_then(|place| u8::try_from(place).ok()).unwrap_or_default(), Ordering::Release);
    }
}

impl From<Mode> for SharedMode {
    fn from(mode: Mode) -> Self {
        let shared = Self::default();
        shared.set(mode);
        shared
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mode_is_found_by_its_id_and_shared_by_clones() {
        let shared = SharedMode::default();
        assert_eq!(shared.get(), Mode::Default);
        let clone = shared.clone();
        for mode in Mode::ALL {
            assert_eq!(Mode::from_id(mode.id()), Some(mode));
            shared.set(mode);
            assert_eq!(clone.get(), mode);
        }
        assert_eq!(Mode::from_id("Default"), None);
    }
}
