//! diff

use super::content::MediaType;
use super::session::AbsolutePath;
use crate::macros::{object, strings, tagged};

object! {
    /// Diff.
    pub struct Diff {
        /// Changes.
        req_items changes: DiffChange,
        /// Patch.
        soft patch: DiffPatch,
        meta
    }
}

object! {
    /// Diff patch.
    pub struct DiffPatch {
        /// Format.
        req format: DiffPatchFormat,
        /// Text.
        req text: String,
        meta
    }
}

strings! {
    /// Diff patch format.
    pub enum DiffPatchFormat {
        /// Git patch.
        GitPatch = "git_patch",
        ; else Other
    }
}

strings! {
    /// Diff file type.
    pub enum DiffFileType {
        /// Text.
        Text = "text",
        /// Binary.
        Binary = "binary",
        /// Directory.
        Directory = "directory",
        /// Symlink.
        Symlink = "symlink",
        ; else Other
    }
}

object! {
    /// Diff change.
    pub struct DiffChange {
        /// File type.
        soft file_type: DiffFileType,
        /// Mime type.
        soft mime_type: MediaType,
        /// Operation.
        flat operation: DiffChangeOperation,
        meta
    }
}

tagged! {
    /// Diff change operation.
    pub enum DiffChangeOperation: "operation" {
        /// Add.
        Add(DiffPathChange) = "add",
        /// Delete.
        Delete(DiffPathChange) = "delete",
        /// Modify.
        Modify(DiffPathChange) = "modify",
        /// Move.
        Move(DiffPathPairChange) = "move",
        /// Copy.
        Copy(DiffPathPairChange) = "copy",
        ; else Other
    }
}

object! {
    /// Diff path change.
    pub struct DiffPathChange {
        /// Path.
        req path: AbsolutePath,
    }
}

object! {
    /// Diff path pair change.
    pub struct DiffPathPairChange {
        /// Old path.
        req old_path: AbsolutePath,
        /// Path.
        req path: AbsolutePath,
    }
}
