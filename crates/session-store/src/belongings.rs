//! A folder for each session, for files that go with it. What puts them there is others' business.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use session_model::SessionId;

/// The folders of all sessions, below one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Belongings {
    folder: PathBuf,
}

impl Belongings {
    /// The folders below `folder` (absolute). Makes nothing.
    #[must_use]
    pub fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// Where all of them are.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Removes what goes with a session. That there was nothing is no failure, and neither is what cannot be
    /// removed: the sweep tries again.
    pub fn forget(&self, session: &SessionId) {
        let own = self.folder.join(session.file_name());
        // A link put in its place is not followed.
        if fs::symlink_metadata(&own).is_ok_and(|found| found.is_dir())
            && let Err(error) = fs::remove_dir_all(&own)
        {
            tracing::warn!(%error, folder = %own.display(), "what went with a session stays behind");
        }
    }

    /// Removes files that nobody has written since `before`, and folders that are empty then. Follows no links and
    /// touches nothing else; returns how many files went.
    ///
    /// # Errors
    /// When the folder cannot be read; one that does not exist is empty.
    pub fn sweep(&self, before: SystemTime) -> io::Result<usize> {
        let mut gone = 0;
        for own in folders_in(&self.folder)? {
            for entry in fs::read_dir(&own)? {
                let path = entry?.path();
                let old = fs::symlink_metadata(&path)
                    .and_then(|found| Ok(found.is_file() && found.modified()? < before))
                    .unwrap_or(false);
                gone += usize::from(old && fs::remove_file(&path).is_ok());
            }
            // Fails while anything is left in it.
            let _not_empty = fs::remove_dir(&own);
        }
        Ok(gone)
    }
}

fn folders_in(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut found = Vec::new();
    for entry in entries {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            found.push(entry.path());
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn put(belongings: &Belongings, session: &str, name: &str) -> PathBuf {
        let folder = belongings.folder().join(SessionId::from(session).file_name());
        fs::create_dir_all(&folder).unwrap();
        let path = folder.join(name);
        fs::write(&path, "x").unwrap();
        path
    }

    #[test]
    fn a_session_takes_its_own_files_along_and_nobody_elses() {
        let dir = tempfile::tempdir().unwrap();
        let belongings = Belongings::new(dir.path().join("outputs"));
        belongings.forget(&"nobody".into());
        let (mine, other) = (put(&belongings, "a/../b", "1.txt"), put(&belongings, "b", "1.txt"));
        belongings.forget(&"a/../b".into());
        assert!(!mine.exists() && other.exists());
        belongings.forget(&"..".into());
        belongings.forget(&"".into());
        assert!(other.exists());
    }

    #[cfg(unix)]
    #[test]
    fn a_link_in_a_folders_place_is_not_followed() {
        let dir = tempfile::tempdir().unwrap();
        let belongings = Belongings::new(dir.path().join("outputs"));
        let other = put(&belongings, "b", "1.txt");
        std::os::unix::fs::symlink(other.parent().unwrap(), belongings.folder().join("a")).unwrap();
        belongings.forget(&"a".into());
        assert!(other.exists());
        // Older than nothing: the file goes, and is counted once.
        assert_eq!(belongings.sweep(written(&other) + Duration::from_hours(1)).unwrap(), 1);
    }

    fn written(path: &Path) -> SystemTime {
        fs::metadata(path).unwrap().modified().unwrap()
    }

    #[test]
    fn what_is_old_is_swept_and_what_is_not_stays() {
        let dir = tempfile::tempdir().unwrap();
        let belongings = Belongings::new(dir.path().join("outputs"));
        assert_eq!(belongings.sweep(SystemTime::UNIX_EPOCH).unwrap(), 0);
        let (old, young) = (put(&belongings, "a", "old.txt"), put(&belongings, "b", "young.txt"));
        let (now, day) = (written(&young), Duration::from_hours(24));
        fs::File::options().write(true).open(&old).unwrap().set_modified(now - 8 * day).unwrap();
        assert_eq!(belongings.sweep(now - 7 * day).unwrap(), 1);
        assert!(!old.parent().unwrap().exists() && young.exists());
    }
}
