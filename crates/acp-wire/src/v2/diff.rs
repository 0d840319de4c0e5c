//! Changed files as the output of a tool.

use super::content::MediaType;
use super::session::AbsolutePath;
use crate::macros::{object, strings, tagged};

object! {
    /// Changed files, and maybe the text of the changes. Protocol: Tool Calls.
    pub struct Diff {
        /// The changed files.
        req_items changes: DiffChange,
        /// The text of the changes.
        soft patch: DiffPatch,
        meta
    }
}

object! {
    /// The text of a diff. Protocol: Tool Calls.
    pub struct DiffPatch {
        /// The notation.
        req format: DiffPatchFormat,
        /// The text.
        req text: String,
        meta
    }
}

strings! {
    /// The notation of a diff's text.
    pub enum DiffPatchFormat {
        /// As `git diff` writes it, with absolute paths and no `a/` and `b/`.
        GitPatch = "git_patch",
        ; else Other
    }
}

strings! {
    /// What kind of file a change is about.
    pub enum DiffFileType {
        /// Text.
        Text = "text",
        /// Bytes.
        Binary = "binary",
        /// A directory.
        Directory = "directory",
        /// A symbolic link.
        Symlink = "symlink",
        ; else Other
    }
}

object! {
    /// One changed file of a diff. Protocol: Tool Calls.
    pub struct DiffChange {
        /// What happened to the file.
        flat operation: DiffChangeOperation,
        /// What kind of file it is.
        soft file_type: DiffFileType,
        /// The file's media type.
        soft mime_type: MediaType,
        meta
    }
}

tagged! {
    /// What happened to a file. Protocol: Tool Calls.
    pub enum DiffChangeOperation: "operation" {
        /// It is new.
        Add(DiffPathChange) = "add",
        /// It is gone.
        Delete(DiffPathChange) = "delete",
        /// Its contents changed.
        Modify(DiffPathChange) = "modify",
        /// It has another path.
        Move(DiffPathPairChange) = "move",
        /// It is a copy of another.
        Copy(DiffPathPairChange) = "copy",
        ; else Other
    }
}

object! {
    /// A change of one path.
    pub struct DiffPathChange {
        /// The file, absolute.
        req path: AbsolutePath,
    }
}

object! {
    /// A change that leads from one path to another.
    pub struct DiffPathPairChange {
        /// Where the file was, absolute.
        req old_path: AbsolutePath,
        /// The file, absolute.
        req path: AbsolutePath,
    }
}
