//! Milk's own script around smolagents, put where Python can run it.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

const TEXT: &str = include_str!("milk-smolagent");
const NAME: &str = "milk-smolagent";

/// The script on disk; a temporary one goes when dropped.
#[derive(Debug)]
pub(super) enum Script {
    Kept(PathBuf),
    Passing(NamedTempFile),
}

impl Script {
    pub(super) fn path(&self) -> &Path {
        match self {
            Self::Kept(path) => path,
            Self::Passing(file) => file.path(),
        }
    }
}

/// Whether this program runs scripts of ours.
pub(super) fn is_python(bin: &str) -> bool {
    let name = Path::new(bin).file_name().and_then(|name| name.to_str()).unwrap_or_default();
    name.to_lowercase().starts_with("python")
}

/// Puts the script into `folder`, unless it is there, or where none is given into a file of its own. Blocks.
pub(super) fn put(folder: Option<&Path>) -> io::Result<Script> {
    let Some(folder) = folder else {
        let mut file = tempfile::Builder::new().prefix("milk-").suffix(".py").tempfile()?;
        file.write_all(TEXT.as_bytes())?;
        return Ok(Script::Passing(file));
    };
    let path = folder.join(NAME);
    if fs::read(&path).is_ok_and(|there| there == TEXT.as_bytes()) {
        return Ok(Script::Kept(path));
    }
    fs::create_dir_all(folder)?;
    // Replaced whole: another milk may be about to run it.
    let mut file = tempfile::Builder::new().prefix(".milk-").tempfile_in(folder)?;
    file.write_all(TEXT.as_bytes())?;
    file.persist(&path).map_err(|error| error.error)?;
    Ok(Script::Kept(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_script_is_put_once_and_replaced_where_it_differs() {
        let folder = tempfile::tempdir().unwrap();
        let scripts = folder.path().join("scripts");
        let path = put(Some(&scripts)).unwrap().path().to_owned();
        assert_eq!(fs::read_to_string(&path).unwrap(), TEXT);
        fs::write(&path, "old").unwrap();
        put(Some(&scripts)).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), TEXT);
        assert_eq!(fs::read_dir(&scripts).unwrap().count(), 1);
        assert_eq!(fs::read_to_string(put(None).unwrap().path()).unwrap(), TEXT);
    }

    #[test]
    fn only_python_is_given_it() {
        assert!(["python3", "/v/bin/python", "python.exe", "Python"].into_iter().all(is_python));
        assert!(!["milk-smolagent", "/python/agent", ""].into_iter().any(is_python));
    }
}
