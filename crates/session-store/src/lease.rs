//! Leases between processes: one locked file per session in use.
//!
//! The lock is the operating system's, so the end of the process gives it back, however it ends. The holder's
//! process id is written inside for the message others get; where locked files cannot be read (Windows), the
//! message goes without. Knows nothing of the database.

use std::fmt::Write as _;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};

use session_model::SessionId;

use crate::error::StoreError;
use crate::files;

/// How often a lock file may be replaced under our hands before that counts as a fault.
const REPLACED_MAX: usize = 100;
/// Ids of this many plain characters name their file; others do by their hash.
const PLAIN_MAX: usize = 64;

/// A held lock; dropping it gives it back.
#[derive(Debug)]
pub(crate) struct FileLease {
    file: File,
    path: PathBuf,
}

impl Drop for FileLease {
    fn drop(&mut self) {
        // Removed while still locked: who waits for it finds at the check below that the file is another.
        #[cfg(unix)]
        if let Err(error) = std::fs::remove_file(&self.path) {
            tracing::debug!(path = %self.path.display(), %error, "a lease's file could not be removed");
        }
        // Unlocked by hand, for a child process between fork and exec may have the descriptor a little longer.
        if let Err(error) = self.file.unlock() {
            tracing::debug!(path = %self.path.display(), %error, "a lease could not be unlocked");
        }
    }
}

/// Takes the lock of `id` in `folder`, which is made where it is missing.
pub(crate) fn acquire(folder: &Path, id: &SessionId) -> Result<FileLease, StoreError> {
    let path = folder.join(file_name(id));
    let unavailable = |error: &io::Error| StoreError::Unavailable {
        path: path.display().to_string(),
        reason: format!("the session cannot be locked: {error}"),
    };
    files::make_folder(folder).map_err(|error| unavailable(&error))?;
    for _ in 0..REPLACED_MAX {
        let mut file = open(&path).map_err(|error| unavailable(&error))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(StoreError::Leased { id: id.clone(), pid: holder(&mut file) });
            }
            Err(TryLockError::Error(error)) => return Err(unavailable(&error)),
        }
        if files::same_file(&file, &path) {
            sign(&mut file).map_err(|error| unavailable(&error))?;
            return Ok(FileLease { file, path });
        }
    }
    Err(unavailable(&io::Error::other("its lock file keeps changing")))
}

fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    files::private(&mut options);
    options.open(path)
}

fn holder(file: &mut File) -> Option<u32> {
    let mut text = String::new();
    file.read_to_string(&mut text).ok()?;
    text.trim().parse().ok()
}

fn sign(file: &mut File) -> io::Result<()> {
    let text = format!("{}\n", std::process::id());
    file.rewind()?;
    file.write_all(text.as_bytes())?;
    // Cut afterwards, and only where there was more: a file that is emptied and written is taken to the disk when it
    // is closed (ext4's `auto_da_alloc`), which takes milliseconds for each session at the process's end.
    let length = u64::try_from(text.len()).map_err(io::Error::other)?;
    if file.metadata()?.len() > length {
        file.set_len(length)?;
    }
    Ok(())
}

/// A name inside the folder for any id at all, the same in every version of milk.
fn file_name(id: &SessionId) -> String {
    let id = id.as_str();
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if !id.is_empty() && id.len() <= PLAIN_MAX && id.chars().all(plain) {
        return format!("{id}.lock");
    }
    let mut name = String::from("_");
    for seed in [0xcbf2_9ce4_8422_2325_u64, 0x9ae1_6a3b_2f90_404f] {
        // FNV-1a from two beginnings: names must differ, they need not resist an attacker who has this account.
        let hash = id.bytes().fold(seed, |h, b| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3));
        let _infallible = write!(name, "{hash:016x}");
    }
    name + ".lock"
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{acquire, file_name};
    use crate::StoreError;

    #[test]
    fn the_pid_of_an_earlier_holder_is_overwritten_whole() {
        let folder = tempfile::tempdir().unwrap();
        let (id, path) = ("s-1".into(), folder.path().join("s-1.lock"));
        for left in ["", "1", "99999999999999999999\nand more\n"] {
            fs::write(&path, left).unwrap();
            let _held = acquire(folder.path(), &id).unwrap();
            if cfg!(unix) {
                assert_eq!(fs::read_to_string(&path).unwrap(), format!("{}\n", std::process::id()));
            }
        }
    }

    #[test]
    fn any_id_names_a_file_inside_the_folder() {
        assert_eq!(file_name(&"3f2a-1".into()), "3f2a-1.lock");
        let strange = ["", "../../etc/passwd", "a/b", "A", "a", "con:", "nul\0", &"x".repeat(10_000)];
        let names: Vec<_> = strange.iter().map(|id| file_name(&(*id).into())).collect();
        for (id, name) in strange.iter().zip(&names) {
            assert!(name.len() <= 70 && !name.contains(['/', '\\', '\0', ':']), "{id:?}: {name}");
            assert_eq!(names.iter().filter(|n| n.eq_ignore_ascii_case(name)).count(), 1, "{id:?}: {name}");
        }
    }

    #[test]
    fn a_second_lease_is_refused_with_the_holders_pid_until_the_first_is_dropped() {
        let folder = tempfile::tempdir().unwrap();
        let id = "s-1".into();
        let held = acquire(folder.path(), &id).unwrap();
        let pid = cfg!(unix).then(std::process::id);
        assert_eq!(acquire(folder.path(), &id).unwrap_err(), StoreError::Leased { id: id.clone(), pid });
        drop(held);
        let _again = acquire(folder.path(), &id).unwrap();
        let _other = acquire(folder.path(), &"s-2".into()).unwrap();
    }

    #[test]
    fn files_left_by_a_crash_are_taken_over_whatever_they_say() {
        let folder = tempfile::tempdir().unwrap();
        let own = std::process::id().to_string();
        for (id, left) in [("dead", "999999999"), ("alive", own.as_str()), ("empty", ""), ("odd", "\u{1}x")] {
            fs::write(folder.path().join(format!("{id}.lock")), left).unwrap();
            let _held = acquire(folder.path(), &id.into()).unwrap();
        }
    }
}
