//! The system prompt: who the model is, how it works with the tools it really has, and where.
//!
//! Pure, and the same for the same parts: it begins every request, and servers cache beginnings.

use std::fmt::Write as _;
use std::path::Path;

/// The parts of a system prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SystemPrompt {
    /// The agent's name.
    pub name: String,
    /// What it is for.
    pub role: PromptRole,
    /// How much it is told.
    pub tier: PromptTier,
    /// The user's own words; they come first.
    pub custom: Option<String>,
}

/// What an agent is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PromptRole {
    /// Answers first, and may hand over.
    #[default]
    Primary,
    /// Is handed what exceeded the primary agent.
    Escalation,
    /// Does one part of a workflow, without a history.
    Worker,
}

impl PromptRole {
    /// The role as [`session_model::Route::target`] names it; a worker has none.
    #[must_use]
    pub fn target(self) -> Option<&'static str> {
        match self {
            Self::Primary => Some("primary"),
            Self::Escalation => Some("escalation"),
            Self::Worker => None,
        }
    }
}

/// How much an agent is told. Small models do better with less.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PromptTier {
    /// Who it is.
    Minimal,
    /// And how to work.
    #[default]
    Standard,
    /// And how to work well.
    Full,
}

/// A sentence, and the tools without which it makes no sense.
struct Rule {
    needs: &'static [&'static str],
    text: &'static str,
}

const SHARED: &[Rule] = &[
    Rule {
        needs: &[],
        text: "Find out with the tools instead of guessing; say so when you could not find out.",
    },
    Rule {
        needs: &["read_file"],
        text: "You are already in the user's project: never ask for files or paths, look and read first.",
    },
    Rule {
        needs: &["list_dir"],
        text: "list_dir shows one level only: that a file is not in it does not mean that there is none.",
    },
    Rule {
        needs: &["find_files", "grep"],
        text: "Use find_files to find files by name and grep to find text inside them.",
    },
    Rule { needs: &["grep"], text: "Use grep to find where something is defined or used." },
    Rule {
        needs: &["write_file", "edit_file"],
        text: "Use write_file for new files and edit_file for changes to existing ones.",
    },
    Rule { needs: &["read_file"], text: "After calling a tool, stop and wait for its result." },
    Rule { needs: &["bash"], text: "For GitHub, use the gh command through bash." },
    Rule {
        needs: &["bash"],
        text: "Before a git commit, look at git status and the diff; commit only what you can explain, \
               otherwise stop and ask.",
    },
    Rule {
        needs: &["get_session_context"],
        text: "When the user refers to something you do not see, look it up with get_session_context before \
               you answer; never invent it.",
    },
    Rule {
        needs: &["ask_user"],
        text: "Ask with ask_user when a decision is the user's and guessing wrong would cost work; not for what \
               you can find out.",
    },
    Rule {
        needs: &["get_memory", "record_memory", "forget_memory"],
        text: "Look up what is remembered with get_memory, and record or forget at once what the user wants \
               remembered or forgotten.",
    },
    Rule { needs: &["get_metrics"], text: "Answer questions about how this agent runs from get_metrics." },
    Rule { needs: &["current_need"], text: "Call current_need whenever the user's goal changes." },
    Rule {
        needs: &[],
        text: "Labels and notes in square brackets in the history are not yours: never repeat them.",
    },
    Rule {
        needs: &[],
        text: "When a call was denied, do not repeat it; go on without it or say what you would have needed.",
    },
];

const PRIMARY: &[Rule] = &[Rule {
    needs: &["escalate"],
    text: "Hand over with escalate only for architecture, wide refactoring, or what is beyond you.",
}];

const ESCALATION: &[Rule] = &[
    Rule {
        needs: &["get_session_context"],
        text: "See with get_session_context what the primary agent did.",
    },
    Rule {
        needs: &[],
        text: "Do the work yourself: there is nobody to hand it over to, and no work but what was asked.",
    },
];

const FULL: &[Rule] = &[
    Rule {
        needs: &["read_file", "edit_file"],
        text: "Read a file before you edit it, and read the place again afterwards.",
    },
    Rule { needs: &["edit_file"], text: "Prefer small, targeted edits to rewriting a file." },
    Rule {
        needs: &["grep", "read_file"],
        text: "Locate before you read: one recursive grep is better than many reads.",
    },
    Rule { needs: &["bash"], text: "When a command fails, find out why before you run it again." },
];

impl SystemPrompt {
    /// A standard prompt for a primary agent of that name.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), role: PromptRole::default(), tier: PromptTier::default(), custom: None }
    }

    /// The prompt for a session in `cwd` with the tools of those names.
    #[must_use]
    pub fn render(&self, cwd: &Path, additional_roots: &[impl AsRef<Path>], tools: &[&str]) -> String {
        let mut prompt = String::new();
        if let Some(custom) = self.custom.as_deref().map(str::trim).filter(|custom| !custom.is_empty()) {
            prompt.push_str(custom);
            prompt.push_str("\n\n");
        }
        prompt.push_str(&self.who());
        for rule in self.rules() {
            if rule.needs.iter().all(|tool| tools.contains(tool)) {
                prompt.push_str("\n- ");
                prompt.push_str(rule.text);
            }
        }
        // Writing to a string cannot fail.
        write!(prompt, "\n\nWorking directory: {}", cwd.display()).unwrap_or_default();
        for root in additional_roots {
            write!(prompt, "\nAlso open to you: {}", root.as_ref().display()).unwrap_or_default();
        }
        prompt
    }

    fn who(&self) -> String {
        let name = &self.name;
        match self.role {
            PromptRole::Primary => {
                format!("You are {name}, a coding agent: the primary agent of a system of several.")
            }
            PromptRole::Escalation => format!(
                "You are {name}, a coding agent: the escalation agent of a system of several. You are handed what \
                 was too much for the primary agent; the whole conversation so far is before you."
            ),
            PromptRole::Worker => "You are a coding assistant.".to_owned(),
        }
    }

    fn rules(&self) -> impl Iterator<Item = &'static Rule> {
        let role: &[Rule] = match self.role {
            PromptRole::Primary => PRIMARY,
            PromptRole::Escalation => ESCALATION,
            PromptRole::Worker => &[],
        };
        let (shared, role, full): (&[Rule], &[Rule], &[Rule]) = match self.tier {
            PromptTier::Minimal => (&[], &[], &[]),
            PromptTier::Standard => (SHARED, role, &[]),
            PromptTier::Full => (SHARED, role, FULL),
        };
        shared.iter().chain(role).chain(full)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NO_ROOTS: &[&Path] = &[];

    #[test]
    fn minimal_says_who_and_where_only() {
        let prompt = SystemPrompt { tier: PromptTier::Minimal, ..SystemPrompt::new("milk") };
        insta::assert_snapshot!(prompt.render(Path::new("/work"), NO_ROOTS, &["bash", "read_file"]), @r"
        You are milk, a coding agent: the primary agent of a system of several.

        Working directory: /work
        ");
    }

    #[test]
    fn rules_apply_only_to_tools_that_exist() {
        let prompt = SystemPrompt { tier: PromptTier::Full, ..SystemPrompt::new("milk") };
        let without = prompt.render(Path::new("/work"), NO_ROOTS, &["read_file"]);
        for absent in ["bash", "grep", "edit_file", "get_memory", "escalate"] {
            assert!(!without.contains(absent), "{absent}: {without}");
        }
        assert!(prompt.render(Path::new("/work"), NO_ROOTS, &["bash"]).contains("gh command"));
    }

    #[test]
    fn custom_words_come_first_and_roots_last() {
        let prompt = SystemPrompt { custom: Some(" Speak Latin.\n".to_owned()), ..SystemPrompt::new("milk") };
        let text = prompt.render(Path::new("/work"), &[Path::new("/lib")], &[]);
        assert!(text.starts_with("Speak Latin.\n\nYou are milk"), "{text}");
        assert!(text.ends_with("Working directory: /work\nAlso open to you: /lib"), "{text}");
    }

    #[test]
    fn roles_differ_in_their_first_sentence() {
        let of = |role| {
            let prompt = SystemPrompt { role, tier: PromptTier::Minimal, ..SystemPrompt::new("m") };
            prompt.render(Path::new("/w"), NO_ROOTS, &[])
        };
        assert!(of(PromptRole::Primary).contains("the primary agent"));
        assert!(of(PromptRole::Escalation).contains("the escalation agent"));
        assert!(of(PromptRole::Worker).starts_with("You are a coding assistant."));
    }
}
