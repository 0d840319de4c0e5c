//! Wildcards of rules: over names and texts, where `*` is any text, and over paths, where `*` ends at a `/`. Pure.

use std::path::Path;

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

/// Whether all of `text` matches `pattern`, in any case: `*` is any text, `?` any character.
pub(super) fn text_matches(pattern: &str, text: &str) -> bool {
    let fold = |text: &str| text.to_lowercase().chars().collect::<Vec<_>>();
    crate::tools::shell::glob_matches(&fold(pattern), &fold(text))
}

/// A pattern over paths, which also stands for everything below what it matches.
#[derive(Debug, Clone)]
pub(super) struct PathGlob {
    exact: GlobSet,
    folded: GlobSet,
}

impl PathGlob {
    /// # Errors
    /// What is wrong with the pattern.
    pub(super) fn new(pattern: &str) -> Result<Self, String> {
        let build = |fold: bool| {
            let mut set = GlobSetBuilder::new();
            // What restricts all in a folder restricts the folder.
            let folder = pattern.strip_suffix("/**").filter(|folder| fold && !folder.is_empty());
            for pattern in [pattern, &format!("{pattern}/**")].into_iter().chain(folder) {
                set.add(GlobBuilder::new(pattern).literal_separator(true).case_insensitive(fold).build()?);
            }
            set.build()
        };
        let wrong = |error: globset::Error| error.kind().to_string();
        Ok(Self { exact: build(false).map_err(wrong)?, folded: build(true).map_err(wrong)? })
    }

    pub(super) fn matches(&self, path: &Path) -> bool {
        self.exact.is_match(path)
    }

    /// The same in any case, as some file systems take names.
    pub(super) fn matches_in_any_case(&self, path: &Path) -> bool {
        self.folded.is_match(path)
    }
}
