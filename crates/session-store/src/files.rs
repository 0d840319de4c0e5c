//! Folders and files that only their owner may read.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::path::Path;

/// Makes a folder and its parents; what is new is its owner's alone. One that exists stays as it is.
pub(crate) fn make_folder(folder: &Path) -> io::Result<()> {
    if folder.as_os_str().is_empty() || folder.is_dir() {
        return Ok(());
    }
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// New files are their owner's alone.
pub(crate) fn private(options: &mut OpenOptions) {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    #[cfg(not(unix))]
    let _the_profile_folder_protects_it = options;
}

/// Makes the file where it is missing, and its owner's alone in any case.
pub(crate) fn make_file(path: &Path) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false);
    private(&mut options);
    let file = options.open(path)?;
    #[cfg(unix)]
    narrow(&file)?;
    drop(file);
    Ok(())
}

#[cfg(unix)]
fn narrow(file: &File) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;

    let mut permissions = file.metadata()?.permissions();
    if permissions.mode() & 0o077 != 0 {
        permissions.set_mode(permissions.mode() & !0o077);
        file.set_permissions(permissions)?;
    }
    Ok(())
}

/// What tells a file from another that later takes its name. Always equal where the system has no such thing.
#[cfg(unix)]
pub(crate) fn identity(metadata: &fs::Metadata) -> (u64, u64) {
    use std::os::unix::fs::MetadataExt;

    (metadata.dev(), metadata.ino())
}

/// What tells a file from another that later takes its name. Always equal where the system has no such thing.
#[cfg(not(unix))]
pub(crate) fn identity(_metadata: &fs::Metadata) -> (u64, u64) {
    (0, 0)
}

/// Whether `path` still names the open `file`.
pub(crate) fn same_file(file: &File, path: &Path) -> bool {
    match (file.metadata(), fs::metadata(path)) {
        (Ok(open), Ok(named)) => identity(&open) == identity(&named),
        (Err(_), _) | (_, Err(_)) => false,
    }
}
