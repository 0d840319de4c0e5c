//! Opens, lists and replaces files without following a link on the way: from a place's anchor down, one folder
//! at a time. A folder swapped for a link after the place was judged makes the operation fail instead of
//! leading it elsewhere. Blocking; knows nothing of tools.

use std::fs::File;
use std::io;

use super::paths::Place;

/// What replacing a file did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Written {
    /// There was no file.
    Created,
    /// There was one.
    Replaced,
}

/// What an entry of a folder is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EntryKind {
    Dir,
    File,
    Link,
    Other,
}

/// One entry of a folder, looked at without following it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) kind: EntryKind,
    pub(crate) size: u64,
    /// Where a link points.
    pub(crate) target: Option<String>,
}

/// Opens a regular file for reading. Anything else is refused, and never waited for.
pub(crate) fn open_file(place: &Place) -> io::Result<File> {
    let file = system::open_file(place)?;
    let kind = file.metadata()?.file_type();
    if kind.is_dir() {
        return Err(io::Error::from(io::ErrorKind::IsADirectory));
    }
    if !kind.is_file() {
        return Err(io::Error::other("not a regular file (a pipe, socket or device)"));
    }
    Ok(file)
}

pub(crate) use system::{Folder, move_entry, remove, remove_entry, rename, replace};

#[cfg(unix)]
mod system {
    use std::ffi::{OsStr, OsString};
    use std::fs::File;
    use std::io::{self, Write as _};
    use std::os::fd::OwnedFd;
    use std::os::unix::ffi::OsStrExt as _;
    use std::path::{Component, Path};
    use std::sync::atomic::{AtomicU64, Ordering};

    use rustix::fs::{
        AtFlags, CWD, Dir, FileType, Gid, Mode, OFlags, Stat, Uid, fchmod, fchown, mkdirat, openat,
        readlinkat, renameat, statat, unlinkat,
    };
    use rustix::io::Errno;

    use super::super::paths::Place;
    use super::{Entry, EntryKind, Written};

    const FOLDER: OFlags = OFlags::DIRECTORY.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
    // A folder that is only passed through need not be readable where the system can say so.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    const PASS: OFlags = FOLDER.union(OFlags::PATH);
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    const PASS: OFlags = FOLDER;

    /// How often another name is tried for a temporary file before giving up.
    const NAME_TRIES: u32 = 16;

    pub(super) fn open_file(place: &Place) -> io::Result<File> {
        let (parent, name) = parent_of(place, false)?;
        // NONBLOCK: a named pipe without a writer would never open.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        Ok(File::from(openat(&parent, &name, flags, Mode::empty())?))
    }

    /// Replaces the file whole, or creates it and its folders: readers see the old text or the new, never a
    /// part. The mode, and where permitted the owner, stay. Not kept: other names of the file (hard links),
    /// access lists and attributes.
    pub(crate) fn replace(place: &Place, bytes: &[u8]) -> io::Result<Written> {
        let (parent, name) = parent_of(place, true)?;
        let old = match statat(&parent, &name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(found) => Some(found),
            Err(Errno::NOENT) => None,
            Err(error) => return Err(error.into()),
        };
        if let Some(found) = &old {
            check_replaceable(found)?;
        }
        let (temporary, file) = create_beside(&parent, old.is_some())?;
        let written = fill(file, bytes, old.as_ref())
            .and_then(|()| renameat(&parent, &temporary, &parent, &name).map_err(io::Error::from));
        if let Err(error) = written {
            // The first error is the one to tell; a leftover that cannot be removed changes nothing.
            let _ = unlinkat(&parent, &temporary, AtFlags::empty());
            return Err(error);
        }
        Ok(if old.is_some() { Written::Replaced } else { Written::Created })
    }

    /// Removes the file.
    pub(crate) fn remove(place: &Place) -> io::Result<()> {
        let (parent, name) = parent_of(place, false)?;
        check_replaceable(&statat(&parent, &name, AtFlags::SYMLINK_NOFOLLOW)?)?;
        Ok(unlinkat(&parent, &name, AtFlags::empty())?)
    }

    /// Removes a file, a link or an empty folder.
    pub(crate) fn remove_entry(place: &Place) -> io::Result<()> {
        let (parent, name) = parent_of(place, false)?;
        let found = statat(&parent, &name, AtFlags::SYMLINK_NOFOLLOW)?;
        let kind = FileType::from_raw_mode(found.st_mode);
        if kind == FileType::Directory {
            return Ok(unlinkat(&parent, &name, AtFlags::REMOVEDIR)?);
        }
        if kind != FileType::Symlink {
            check_replaceable(&found)?;
        }
        Ok(unlinkat(&parent, &name, AtFlags::empty())?)
    }

    /// Moves a file or link to a place where nothing is.
    pub(crate) fn move_entry(from: &Place, to: &Place) -> io::Result<()> {
        let (old_parent, old) = parent_of(from, false)?;
        let found = statat(&old_parent, &old, AtFlags::SYMLINK_NOFOLLOW)?;
        if FileType::from_raw_mode(found.st_mode) != FileType::Symlink {
            return rename(from, to);
        }
        move_to(&old_parent, &old, to)
    }

    /// Moves the file to a place where nothing is.
    pub(crate) fn rename(from: &Place, to: &Place) -> io::Result<()> {
        let (old_parent, old) = parent_of(from, false)?;
        check_replaceable(&statat(&old_parent, &old, AtFlags::SYMLINK_NOFOLLOW)?)?;
        move_to(&old_parent, &old, to)
    }

    fn move_to(old_parent: &OwnedFd, old: &OsStr, to: &Place) -> io::Result<()> {
        let (new_parent, new) = parent_of(to, true)?;
        match statat(&new_parent, &new, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(_) => return Err(io::Error::from(io::ErrorKind::AlreadyExists)),
            Err(Errno::NOENT) => {}
            Err(error) => return Err(error.into()),
        }
        Ok(renameat(old_parent, old, &new_parent, &new)?)
    }

    fn check_replaceable(found: &Stat) -> io::Result<()> {
        let kind = FileType::from_raw_mode(found.st_mode);
        if kind == FileType::Directory {
            return Err(io::Error::from(io::ErrorKind::IsADirectory));
        }
        if kind != FileType::RegularFile {
            return Err(io::Error::other("not a regular file"));
        }
        if !Mode::from_raw_mode(found.st_mode).intersects(Mode::WUSR | Mode::WGRP | Mode::WOTH) {
            return Err(io::Error::other("the file is read-only"));
        }
        Ok(())
    }

    fn create_beside(parent: &OwnedFd, replacing: bool) -> io::Result<(OsString, File)> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        // A new file gets what the user's mask leaves; a replacement is private until it has its mode.
        let mode = Mode::from_raw_mode(if replacing { 0o600 } else { 0o666 });
        for _ in 0..NAME_TRIES {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let name = OsString::from(format!(".milk-{}-{number}.tmp", std::process::id()));
            match openat(parent, &name, flags, mode) {
                Ok(file) => return Ok((name, File::from(file))),
                Err(Errno::EXIST) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(io::Error::other("no free name for a temporary file"))
    }

    fn fill(mut file: File, bytes: &[u8], old: Option<&Stat>) -> io::Result<()> {
        file.write_all(bytes)?;
        if let Some(old) = old {
            // Only the superuser can give a file away; for others the new file is simply theirs.
            let _ = fchown(&file, Some(Uid::from_raw(old.st_uid)), Some(Gid::from_raw(old.st_gid)));
            fchmod(&file, Mode::from_raw_mode(old.st_mode))?;
        }
        file.sync_data()
    }

    /// The folder that holds the place, and the place's name in it.
    fn parent_of(place: &Place, create: bool) -> io::Result<(OwnedFd, OsString)> {
        let below = below(place)?;
        let Some(name) = below.file_name() else {
            return Err(io::Error::from(io::ErrorKind::IsADirectory));
        };
        let parent = below.parent().unwrap_or(Path::new(""));
        Ok((descend(place, parent, PASS, create)?, name.to_owned()))
    }

    fn below(place: &Place) -> io::Result<&Path> {
        place.real.strip_prefix(&place.anchor).map_err(|_| io::Error::from(io::ErrorKind::InvalidInput))
    }

    fn descend(place: &Place, below: &Path, last: OFlags, create: bool) -> io::Result<OwnedFd> {
        let mut parts = below.components().peekable();
        let flags = |is_last| if is_last { last } else { PASS };
        let mut folder = openat(CWD, &place.anchor, flags(parts.peek().is_none()), Mode::empty())?;
        while let Some(part) = parts.next() {
            let Component::Normal(name) = part else {
                return Err(io::Error::from(io::ErrorKind::InvalidInput));
            };
            let flags = flags(parts.peek().is_none());
            folder = match openat(&folder, name, flags, Mode::empty()) {
                Err(Errno::NOENT) if create => match mkdirat(&folder, name, Mode::from_raw_mode(0o777)) {
                    Ok(()) | Err(Errno::EXIST) => openat(&folder, name, flags, Mode::empty())?,
                    Err(error) => return Err(error.into()),
                },
                opened => opened?,
            };
        }
        Ok(folder)
    }

    /// A folder opened for listing.
    #[derive(Debug)]
    pub(crate) struct Folder(OwnedFd);

    impl Folder {
        pub(crate) fn open(place: &Place) -> io::Result<Self> {
            descend(place, below(place)?, FOLDER, false).map(Self)
        }

        /// The entries' names, unsorted.
        pub(crate) fn names(&self) -> io::Result<impl Iterator<Item = io::Result<OsString>>> {
            let entries = Dir::read_from(&self.0)?;
            Ok(entries.filter_map(|entry| match entry {
                Ok(entry) => {
                    let name = entry.file_name().to_bytes();
                    (name != b"." && name != b"..").then(|| Ok(OsStr::from_bytes(name).to_owned()))
                }
                Err(error) => Some(Err(error.into())),
            }))
        }

        /// Looks at one entry without following it.
        pub(crate) fn entry(&self, name: &OsStr) -> io::Result<Entry> {
            let found = statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW)?;
            let file_type = FileType::from_raw_mode(found.st_mode);
            let kind = if file_type == FileType::Directory {
                EntryKind::Dir
            } else if file_type == FileType::RegularFile {
                EntryKind::File
            } else if file_type == FileType::Symlink {
                EntryKind::Link
            } else {
                EntryKind::Other
            };
            let target = match kind {
                EntryKind::Link => readlinkat(&self.0, name, Vec::new()).ok(),
                EntryKind::Dir | EntryKind::File | EntryKind::Other => None,
            };
            let target = target.map(|target| String::from_utf8_lossy(target.to_bytes()).into_owned());
            Ok(Entry { kind, size: u64::try_from(found.st_size).unwrap_or(0), target })
        }
    }
}

#[cfg(not(unix))]
mod system {
    //! Without descriptors to start from, the path is judged once more just before it is used.

    use std::ffi::{OsStr, OsString};
    use std::fs::{self, File};
    use std::io::{self, Write as _};
    use std::path::{Path, PathBuf};

    use super::super::paths::Place;
    use super::{Entry, EntryKind, Written};

    pub(super) fn open_file(place: &Place) -> io::Result<File> {
        check_no_link(place, &place.real)?;
        File::open(&place.real)
    }

    /// Replaces the file whole, or creates it and its folders.
    pub(crate) fn replace(place: &Place, bytes: &[u8]) -> io::Result<Written> {
        let parent = place.real.parent().ok_or(io::ErrorKind::IsADirectory)?;
        fs::create_dir_all(parent)?;
        check_no_link(place, &place.real)?;
        let old = fs::symlink_metadata(&place.real).ok();
        if old.as_ref().is_some_and(|old| old.is_dir()) {
            return Err(io::Error::from(io::ErrorKind::IsADirectory));
        }
        if old.as_ref().is_some_and(|old| old.permissions().readonly()) {
            return Err(io::Error::other("the file is read-only"));
        }
        let mut file = tempfile::Builder::new().prefix(".milk-").tempfile_in(parent)?;
        file.write_all(bytes)?;
        file.as_file().sync_data()?;
        file.persist(&place.real).map_err(|error| error.error)?;
        Ok(if old.is_some() { Written::Replaced } else { Written::Created })
    }

    /// Removes the file.
    pub(crate) fn remove(place: &Place) -> io::Result<()> {
        check_no_link(place, &place.real)?;
        if fs::symlink_metadata(&place.real)?.is_dir() {
            return Err(io::Error::from(io::ErrorKind::IsADirectory));
        }
        fs::remove_file(&place.real)
    }

    /// Removes a file, a link or an empty folder.
    pub(crate) fn remove_entry(place: &Place) -> io::Result<()> {
        check_parent(place)?;
        if fs::symlink_metadata(&place.real)?.is_dir() {
            return fs::remove_dir(&place.real);
        }
        fs::remove_file(&place.real)
    }

    /// Moves a file or link to a place where nothing is.
    pub(crate) fn move_entry(from: &Place, to: &Place) -> io::Result<()> {
        if !fs::symlink_metadata(&from.real)?.file_type().is_symlink() {
            return rename(from, to);
        }
        check_parent(from)?;
        check_no_link(to, &to.real)?;
        if fs::symlink_metadata(&to.real).is_ok() {
            return Err(io::Error::from(io::ErrorKind::AlreadyExists));
        }
        fs::create_dir_all(to.real.parent().ok_or(io::ErrorKind::IsADirectory)?)?;
        fs::rename(&from.real, &to.real)
    }

    fn check_parent(place: &Place) -> io::Result<()> {
        check_no_link(place, place.real.parent().ok_or(io::ErrorKind::IsADirectory)?)
    }

    /// Moves the file to a place where nothing is.
    pub(crate) fn rename(from: &Place, to: &Place) -> io::Result<()> {
        check_no_link(from, &from.real)?;
        check_no_link(to, &to.real)?;
        if fs::symlink_metadata(&to.real).is_ok() {
            return Err(io::Error::from(io::ErrorKind::AlreadyExists));
        }
        fs::create_dir_all(to.real.parent().ok_or(io::ErrorKind::IsADirectory)?)?;
        fs::rename(&from.real, &to.real)
    }

    fn check_no_link(place: &Place, path: &Path) -> io::Result<()> {
        for path in path.ancestors().take_while(|path| *path != place.anchor) {
            if fs::symlink_metadata(path).is_ok_and(|found| found.file_type().is_symlink()) {
                return Err(io::Error::other("a link took the place of a folder or file"));
            }
        }
        Ok(())
    }

    /// A folder to list.
    #[derive(Debug)]
    pub(crate) struct Folder(PathBuf);

    impl Folder {
        pub(crate) fn open(place: &Place) -> io::Result<Self> {
            check_no_link(place, &place.real)?;
            Ok(Self(place.real.clone()))
        }

        /// The entries' names, unsorted.
        pub(crate) fn names(&self) -> io::Result<impl Iterator<Item = io::Result<OsString>>> {
            Ok(fs::read_dir(&self.0)?.map(|entry| entry.map(|entry| entry.file_name())))
        }

        /// Looks at one entry without following it.
        pub(crate) fn entry(&self, name: &OsStr) -> io::Result<Entry> {
            let path = self.0.join(name);
            let found = fs::symlink_metadata(&path)?;
            let kind = if found.file_type().is_symlink() {
                EntryKind::Link
            } else if found.is_dir() {
                EntryKind::Dir
            } else if found.is_file() {
                EntryKind::File
            } else {
                EntryKind::Other
            };
            let target = fs::read_link(&path).ok().map(|target| target.display().to_string());
            Ok(Entry { kind, size: found.len(), target })
        }
    }
}
