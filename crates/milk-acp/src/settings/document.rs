//! One configuration file as it stands: a JSON object whose members we may or may not know.

use std::fmt;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

/// Why a configuration cannot be used at all.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// It is no JSON object, and there is no backup either.
    #[error("{} is not valid: {reason}; correct it, or move it away to start from the defaults", path.display())]
    Invalid {
        /// The file.
        path: PathBuf,
        /// Where and why.
        reason: String,
    },
    /// It exists but cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// It was asked for by name and is not there.
    #[error("{} does not exist; check the path", path.display())]
    Missing {
        /// The file.
        path: PathBuf,
    },
    /// It cannot be written.
    #[error("cannot write {}: {source}", path.display())]
    Unwritable {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
}

/// The raw document. Keeps what it does not know, and the order of members.
#[derive(Clone, PartialEq, Default)]
pub struct ConfigFile {
    root: Map<String, Value>,
}

/// Names the members only: their values may be secrets.
impl fmt::Debug for ConfigFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.root.keys()).finish()
    }
}

impl ConfigFile {
    /// Reads a document from text. A byte order mark is allowed.
    ///
    /// # Errors
    /// The reason, with line and column, when the text is no JSON object.
    pub fn parse(text: &str) -> Result<Self, String> {
        match serde_json::from_str(text.trim_start_matches('\u{feff}')) {
            Ok(Value::Object(root)) => Ok(Self { root }),
            Ok(_) => Err("the file must hold a JSON object".to_owned()),
            Err(error) => Err(error.to_string()),
        }
    }

    /// Reads a file, without looking at its backup.
    ///
    /// # Errors
    /// [`ConfigError::Missing`], [`ConfigError::Unreadable`] or [`ConfigError::Invalid`].
    pub fn read(path: &Path) -> Result<Self, ConfigError> {
        let bytes = fs::read(path).map_err(|source| {
            if matches!(source.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) {
                ConfigError::Missing { path: path.to_owned() }
            } else {
                ConfigError::Unreadable { path: path.to_owned(), source }
            }
        })?;
        let invalid = |reason| ConfigError::Invalid { path: path.to_owned(), reason };
        let text = str::from_utf8(&bytes).map_err(|error| invalid(error.to_string()))?;
        Self::parse(text).map_err(invalid)
    }

    /// The document as text: two spaces a level, a final newline.
    #[must_use]
    pub fn text(&self) -> String {
        format!("{:#}\n", Value::Object(self.root.clone()))
    }

    /// Its members.
    #[must_use]
    pub fn root(&self) -> &Map<String, Value> {
        &self.root
    }

    /// Its members, to change: untouched ones keep value and place.
    pub fn root_mut(&mut self) -> &mut Map<String, Value> {
        &mut self.root
    }

    /// Writes the document whole or not at all, readable by its owner only, and keeps a copy beside it from
    /// which a later damage is repaired.
    ///
    /// # Errors
    /// [`ConfigError::Unwritable`].
    pub fn write(&self, path: &Path) -> Result<(), ConfigError> {
        let text = self.text();
        let unwritable = |source| ConfigError::Unwritable { path: path.to_owned(), source };
        if let Some(folder) = path.parent() {
            create_private_folder(folder).map_err(unwritable)?;
        }
        write_private(path, text.as_bytes()).map_err(unwritable)?;
        write_private(&backup_of(path), text.as_bytes()).map_err(unwritable)
    }
}

/// Where the copy of a file is kept.
pub(super) fn backup_of(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".bak");
    name.into()
}

/// Replaces a file by way of a sibling, so that no reader ever sees half of it.
pub(super) fn write_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    // A link is written through, not replaced: people keep their configuration in a repository of dotfiles.
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let mut name = target.as_os_str().to_owned();
    name.push(format!(".{}.tmp", std::process::id()));
    let sibling = PathBuf::from(name);
    let written = private_file(&sibling).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()
    });
    let replaced = written.and_then(|()| fs::rename(&sibling, &target));
    if replaced.is_err() {
        drop(fs::remove_file(&sibling));
    }
    replaced
}

#[cfg(unix)]
fn private_file(path: &Path) -> io::Result<fs::File> {
    use std::os::unix::fs::OpenOptionsExt as _;
    fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path)
}

#[cfg(not(unix))]
fn private_file(path: &Path) -> io::Result<fs::File> {
    fs::File::create(path)
}

#[cfg(unix)]
fn create_private_folder(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    fs::DirBuilder::new().recursive(true).mode(0o700).create(path)
}

#[cfg(not(unix))]
fn create_private_folder(path: &Path) -> io::Result<()> {
    fs::create_dir_all(path)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn unknown_keys_and_order_survive_a_write() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new/config.json");
        let mut file =
            ConfigFile::parse(r#"{"zeta": {"deep": [1, null]}, "agent": "a", "x-mine": 1.50}"#).unwrap();
        file.root_mut().insert("agent".into(), json!("b"));
        file.write(&path).unwrap();
        let text = fs::read_to_string(&path).unwrap();
        assert_eq!(
            text,
            "{\n  \"zeta\": {\n    \"deep\": [\n      1,\n      null\n    ]\n  },\n  \"agent\": \"b\",\n  \"x-mine\": 1.5\n}\n"
        );
        assert_eq!(fs::read_to_string(folder.path().join("new/config.json.bak")).unwrap(), text);
        assert_eq!(fs::read_dir(folder.path().join("new")).unwrap().count(), 2, "no temporary file stays");
    }

    #[cfg(unix)]
    #[test]
    fn files_and_folder_are_the_owners_alone() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("m/config.json");
        ConfigFile::default().write(&path).unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(path.parent().unwrap()), 0o700);
        assert_eq!(mode(&path), 0o600);
        assert_eq!(mode(&backup_of(&path)), 0o600);
    }

    #[cfg(unix)]
    #[test]
    fn a_linked_file_is_written_through_its_link() {
        let folder = tempfile::tempdir().unwrap();
        let (real, link) = (folder.path().join("real.json"), folder.path().join("config.json"));
        fs::write(&real, "{}").unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        let mut file = ConfigFile::read(&link).unwrap();
        file.root_mut().insert("agent".into(), json!("b"));
        file.write(&link).unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(ConfigFile::read(&real).unwrap(), file);
    }

    #[test]
    fn only_an_object_is_a_configuration() {
        assert!(ConfigFile::parse("\u{feff}{}").is_ok());
        for bad in ["", "[]", "null", "{", "{} x"] {
            assert!(ConfigFile::parse(bad).is_err(), "{bad:?}");
        }
        assert_eq!(ConfigFile::parse("{\"a\": }").unwrap_err(), "expected value at line 1 column 7");
    }
}
