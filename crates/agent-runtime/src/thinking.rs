//! How hard a model thinks before it answers: by words, as some APIs have it, or by tokens, as others do. Knows no API.

/// How hard a model thinks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effort {
    /// Not at all.
    None,
    /// As little as it can.
    Minimal,
    /// A little.
    Low,
    /// As usual.
    Medium,
    /// Much.
    High,
    /// Very much.
    XHigh,
    /// As much as it can.
    Max,
}

impl Effort {
    /// All of them, from the least on.
    pub const ALL: [Self; 7] =
        [Self::None, Self::Minimal, Self::Low, Self::Medium, Self::High, Self::XHigh, Self::Max];

    /// The word for it in configurations and in APIs.
    #[must_use]
    pub fn id(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Minimal => "minimal",
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::XHigh => "xhigh",
            Self::Max => "max",
        }
    }

    /// The effort that a word means, in any case.
    #[must_use]
    pub fn from_id(word: &str) -> Option<Self> {
        let word = word.trim().to_lowercase();
        Self::ALL.into_iter().find(|effort| effort.id() == word)
    }
}

/// How much a model may think.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Thinking {
    /// In words.
    Effort(Effort),
    /// In tokens.
    Budget(u64),
}

impl Thinking {
    /// In words, for an API that has no numbers.
    #[must_use]
    pub fn effort(self) -> Effort {
        match self {
            Self::Effort(effort) => effort,
            Self::Budget(tokens) => {
                let fits = |effort: &Effort| Self::Effort(*effort).budget().unwrap_or(0) >= tokens;
                Effort::ALL.into_iter().find(fits).unwrap_or(Effort::Max)
            }
        }
    }

    /// In tokens, for an API that has no words; none is not to think.
    #[must_use]
    pub fn budget(self) -> Option<u64> {
        match self {
            Self::Budget(tokens) => Some(tokens).filter(|tokens| *tokens > 0),
            Self::Effort(Effort::None) => None,
            Self::Effort(Effort::Minimal) => Some(1_024),
            Self::Effort(Effort::Low) => Some(4_096),
            Self::Effort(Effort::Medium) => Some(10_240),
            Self::Effort(Effort::High) => Some(20_480),
            Self::Effort(Effort::XHigh) => Some(32_768),
            Self::Effort(Effort::Max) => Some(49_152),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_tokens_stand_for_each_other() {
        for effort in Effort::ALL {
            assert_eq!(Effort::from_id(&effort.id().to_uppercase()), Some(effort));
            let budget = Thinking::Effort(effort).budget();
            assert_eq!(budget.map_or(Effort::None, |tokens| Thinking::Budget(tokens).effort()), effort);
        }
        assert_eq!(Effort::from_id("whatever"), None);
        assert_eq!(Thinking::Budget(0).budget(), None);
        assert_eq!(Thinking::Budget(0).effort(), Effort::None);
        assert_eq!(Thinking::Budget(2_000).effort(), Effort::Low);
        assert_eq!(Thinking::Budget(1_000_000).effort(), Effort::Max);
    }
}
