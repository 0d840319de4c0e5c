//! The files that a prompt names, and what is in them before they are changed. Reads the disk; blocks.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use session_model::{FileChange, FileOp};

/// Files that are given to one run.
const MOST: usize = 50;
/// Bytes of a file whose text is remembered.
const MAX_FILE: u64 = 1024 * 1024;

/// Files that a prompt names by a path (a word with a slash), inside the session's folders.
pub(super) fn named(prompt: &str, cwd: &Path, roots: &[PathBuf]) -> Vec<PathBuf> {
    let real = |path: &Path| path.canonicalize().ok();
    let folders: Vec<PathBuf> =
        std::iter::once(cwd).chain(roots.iter().map(PathBuf::as_path)).filter_map(real).collect();
    let mut found: Vec<PathBuf> = Vec::new();
    for word in prompt.split_whitespace().filter(|word| word.contains(['/', std::path::MAIN_SEPARATOR])) {
        if found.len() == MOST {
            break;
        }
        let file = spellings(word).find_map(|word| real(&cwd.join(word)).filter(|path| path.is_file()));
        let file = file.filter(|file| folders.iter().any(|folder| file.starts_with(folder)));
        found.extend(file.filter(|file| !found.contains(file)));
    }
    found
}

/// The word, and what it is without the signs around it.
fn spellings(word: &str) -> impl Iterator<Item = &str> {
    let bare = word.trim_matches(|c: char| "`'\"()[]{}<>,;:!?*".contains(c));
    let ended = bare.trim_end_matches('.');
    let line = ended.rsplit_once(':').filter(|(_, line)| line.chars().all(|c| c.is_ascii_digit()));
    [Some(word), Some(bare), Some(ended), line.map(|(path, _)| path)].into_iter().flatten()
}

/// Whether the folder belongs to a repository; its root.
pub(super) fn repository(cwd: &Path) -> Option<PathBuf> {
    cwd.ancestors().find(|folder| folder.join(".git").exists()).map(Path::to_owned)
}

/// What files hold, as far as that is known: nothing is `None`.
#[derive(Debug)]
pub(super) struct Memory {
    /// Where the program's relative paths begin.
    base: PathBuf,
    /// Where files are looked into.
    folders: Vec<PathBuf>,
    before: HashMap<PathBuf, Option<String>>,
}

impl Memory {
    pub(super) fn new(base: PathBuf, mut folders: Vec<PathBuf>) -> Self {
        folders.push(base.clone());
        Self { base, folders, before: HashMap::new() }
    }

    /// Where the program's path leads. Outside of repositories its paths begin in a folder that it chooses by the files
    /// it was given, so one that leads nowhere is that of a file it was given.
    pub(super) fn place(&self, path: &str) -> PathBuf {
        let place = self.plain(path);
        if place.exists() {
            return place;
        }
        let mut given = self.before.keys().filter(|file| file.ends_with(path));
        match (given.next(), given.next()) {
            (Some(file), None) => file.clone(),
            (Some(_) | None, _) => place,
        }
    }

    /// The path as it is written, from where relative ones begin.
    fn plain(&self, path: &str) -> PathBuf {
        let mut place = PathBuf::new();
        for part in self.base.join(path).components() {
            if part == std::path::Component::ParentDir {
                place.pop();
            } else {
                place.push(part);
            }
        }
        place
    }

    /// Remembers what is in a file, unless that is known.
    pub(super) fn note(&mut self, path: &str) {
        let place = self.place(path);
        if !self.before.contains_key(&place)
            && let Some(text) = self.read(&place)
        {
            self.before.insert(place, Some(text));
        }
    }

    /// Remembers that there is no such file yet.
    pub(super) fn note_new(&mut self, path: &str) {
        self.before.insert(self.place(path), None);
    }

    /// What has changed in a file, where that can be told; what it holds now is remembered.
    pub(super) fn change(&mut self, path: &str) -> Option<FileChange> {
        let place = self.place(path);
        let after = self.read(&place)?;
        let before = self.before.insert(place.clone(), Some(after.clone()))?;
        if before.as_ref() == Some(&after) {
            return None;
        }
        let op = if before.is_some() { FileOp::Modify } else { FileOp::Add };
        Some(FileChange { path: place, op, before, after: Some(after) })
    }

    /// The path as it is shown: from where relative ones begin, if it is there.
    pub(super) fn shown(&self, place: &Path) -> String {
        place.strip_prefix(&self.base).unwrap_or(place).display().to_string()
    }

    fn read(&self, place: &Path) -> Option<String> {
        let real = place.canonicalize().ok()?;
        let is_inside = self.folders.iter().any(|folder| real.starts_with(folder));
        let is_small = fs::metadata(&real).ok()?.len() <= MAX_FILE;
        if is_inside && is_small { fs::read_to_string(&real).ok() } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_with_a_slash_that_are_files_inside_are_found_once() {
        let folder = tempfile::tempdir().unwrap();
        let outside = tempfile::NamedTempFile::new().unwrap();
        let cwd = folder.path().canonicalize().unwrap();
        fs::create_dir_all(cwd.join("src/deep")).unwrap();
        for name in ["src/a.rs", "src/b.rs", "src/deep/c.d", "top.txt"] {
            fs::write(cwd.join(name), "").unwrap();
        }
        let absolute = cwd.join("src/b.rs").display().to_string();
        let prompt = format!(
            "see `src/a.rs`, (src/a.rs:12) and ./src/a.rs; {absolute}. top.txt src/deep src/deep/c.d. ../x/y {} http://h/src/a.rs",
            outside.path().display()
        );
        let found = named(&prompt, &cwd, &[]);
        assert_eq!(found, ["src/a.rs", "src/b.rs", "src/deep/c.d"].map(|name| cwd.join(name)));
        let real = outside.path().canonicalize().unwrap();
        let root = real.parent().unwrap().to_owned();
        assert!(named(&prompt, &cwd, &[root]).contains(&real), "a further folder of the session is inside");
    }

    #[cfg(unix)]
    #[test]
    fn a_link_that_leads_out_is_not_given() {
        let folder = tempfile::tempdir().unwrap();
        let outside = tempfile::NamedTempFile::new().unwrap();
        std::os::unix::fs::symlink(outside.path(), folder.path().join("link")).unwrap();
        assert!(named("see ./link", folder.path(), &[]).is_empty());
    }

    #[test]
    fn a_path_from_a_folder_of_its_own_choice_is_that_of_the_file_it_was_given() {
        let folder = tempfile::tempdir().unwrap();
        let cwd = folder.path().canonicalize().unwrap();
        fs::create_dir(cwd.join("src")).unwrap();
        let file = cwd.join("src/a.py");
        fs::write(&file, "1").unwrap();
        let mut memory = Memory::new(cwd.clone(), Vec::new());
        memory.note(file.to_str().unwrap());
        assert_eq!(memory.place("a.py"), file);
        assert_eq!(memory.shown(&file), "src/a.py");
        assert_eq!(memory.place("b.py"), cwd.join("b.py"));
        fs::write(cwd.join("a.py"), "").unwrap();
        assert_eq!(memory.place("a.py"), cwd.join("a.py"), "what is there is meant");
    }

    #[test]
    fn a_change_is_told_from_what_was_there() {
        let folder = tempfile::tempdir().unwrap();
        let cwd = folder.path().canonicalize().unwrap();
        let mut memory = Memory::new(cwd.clone(), Vec::new());
        fs::write(cwd.join("a"), "1").unwrap();
        memory.note("a");
        memory.note_new("b");
        fs::write(cwd.join("a"), "2").unwrap();
        fs::write(cwd.join("b"), "x").unwrap();
        fs::write(cwd.join("c"), "x").unwrap();
        let change = |op, name: &str, before: Option<&str>, after: &str| FileChange {
            path: cwd.join(name),
            op,
            before: before.map(str::to_owned),
            after: Some(after.to_owned()),
        };
        assert_eq!(memory.change("a"), Some(change(FileOp::Modify, "a", Some("1"), "2")));
        assert_eq!(memory.change("a"), None, "it is the same now");
        assert_eq!(memory.change("b"), Some(change(FileOp::Add, "b", None, "x")));
        assert_eq!(memory.change("c"), None, "nobody knows what it was");
        fs::write(cwd.join("c"), "y").unwrap();
        assert_eq!(memory.change("./c").unwrap().before.as_deref(), Some("x"));
    }
}
