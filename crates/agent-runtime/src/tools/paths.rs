//! Turns a path a model gave into the file it really means, and says whether that lies inside the session's
//! folders. Links are followed here, component by component as the system would, so that everything after this
//! works on a path without links: what was judged is what is touched. Knows nothing of permissions' answers.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::io;
use std::path::{Component, Path, PathBuf};

use session_model::{GrantScope, Location};

use super::support::blocking;
use super::{Approval, ApprovalAsk, ToolCx, Workspace};

/// Links followed in one path before it is taken for a loop; the systems stop at 32 or 40.
const MAX_LINKS: usize = 40;

/// Folders inside the roots whose files steer programs (hooks, what may run unasked): changing one is always
/// asked.
pub(crate) const STEERING: [&str; 2] = [".git", OWN];

/// The folder with milk's configuration: also looking into it is always asked.
const OWN: &str = ".milk";

/// Where a path leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    /// The path for people and clients: absolute, without links below the root, the root spelled as given.
    pub(crate) shown: PathBuf,
    /// The same without any link.
    pub(crate) real: PathBuf,
    /// An existing folder above (or equal to) `real`, without links, from which it is reached.
    pub(crate) anchor: PathBuf,
    /// Whether it lies inside the session's folders.
    pub(crate) inside: bool,
    /// Whether the path was written as a folder's (`src/`).
    pub(crate) as_folder: bool,
}

impl Place {
    /// Finds out where `text` leads.
    pub(crate) fn resolve(workspace: &Workspace, text: &str) -> Result<Self, String> {
        check_text(text)?;
        let real = follow(&workspace.cwd.join(text)).map_err(|error| format!("{text}: {error}"))?;
        let as_folder = text.ends_with(['/', std::path::MAIN_SEPARATOR]) || text.ends_with("/.");
        for root in std::iter::once(&workspace.cwd).chain(&workspace.additional_roots) {
            let Ok(anchor) = follow(root) else { continue };
            if let Ok(below) = real.strip_prefix(&anchor) {
                let shown = if below.as_os_str().is_empty() { root.clone() } else { root.join(below) };
                return Ok(Self { shown, real, anchor, inside: true, as_folder });
            }
        }
        let anchor = real.ancestors().find(|path| path.is_dir()).unwrap_or(&real).to_path_buf();
        Ok(Self { shown: real.clone(), real, anchor, inside: false, as_folder })
    }

    /// Finds out where `text` leads, and stops at its last name: if that is a link, the link is meant and not its
    /// target.
    pub(crate) fn resolve_entry(workspace: &Workspace, text: &str) -> Result<Self, String> {
        check_text(text)?;
        let path = workspace.cwd.join(text);
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(format!("{text}: the path has to end in a name"));
        };
        let is_dots = text == "." || text.ends_with("/.") || text.ends_with("/..");
        if is_dots {
            return Err(format!("{text}: the path has to end in a name"));
        }
        let folder = Self::resolve(workspace, &parent.to_string_lossy())?;
        let (shown, real) = (folder.shown.join(name), folder.real.join(name));
        Ok(Self { shown, real, as_folder: text.ends_with('/'), ..folder })
    }

    /// A file found below this folder. `real` comes from a walk that follows no links.
    pub(crate) fn below(&self, real: &Path) -> Self {
        let shown = match real.strip_prefix(&self.real) {
            Ok(rest) if !rest.as_os_str().is_empty() => self.shown.join(rest),
            Ok(_) | Err(_) => self.shown.clone(),
        };
        Self { shown, real: real.to_path_buf(), as_folder: false, ..self.clone() }
    }

    /// The path in a title or in output: relative to the session's folder where it lies inside.
    pub(crate) fn label(&self, workspace: &Workspace) -> String {
        match self.shown.strip_prefix(&workspace.cwd) {
            Ok(below) if below.as_os_str().is_empty() => ".".to_owned(),
            Ok(below) => below.display().to_string(),
            Err(_) => self.shown.display().to_string(),
        }
    }

    /// The place a client may jump to.
    pub(crate) fn location(&self, line: Option<u32>) -> Location {
        Location { path: self.shown.clone(), line }
    }

    /// The leave that reading this needs.
    pub(crate) fn read_approval(&self) -> Approval {
        if self.steering_folder() == Some(OWN) {
            let description =
                format!("{} is among milk's own files, which may hold keys", self.shown.display());
            return Approval::Ask(ApprovalAsk { description, scopes: Vec::new() });
        }
        if self.inside {
            return Approval::Free;
        }
        let description = format!("{} is outside the session's folders", self.shown.display());
        Approval::Ask(ApprovalAsk { description, scopes: vec![self.outside_scope()] })
    }

    /// The leave that changing this needs; `what` says what will happen.
    pub(crate) fn write_approval(&self, what: &str) -> Approval {
        let shown = self.shown.display();
        let mut description = format!("{what} {shown}");
        let mut scopes = vec![GrantScope::Tool];
        if !self.inside {
            description.push_str(", which is outside the session's folders");
            scopes.push(self.outside_scope());
        }
        if let Some(folder) = self.steering_folder() {
            // Writing to a string cannot fail.
            let _ = write!(description, "; files in {folder} decide what other programs do");
            scopes.clear();
        }
        Approval::Ask(ApprovalAsk { description, scopes })
    }

    /// Looks again, when a call runs, at where its path leads, and refuses when that is not what was judged.
    pub(crate) fn resolve_planned(cx: &ToolCx, text: &str) -> Result<Self, String> {
        Self::planned(cx, text, Self::resolve(&cx.workspace, text)?)
    }

    /// The same for [`Self::resolve_entry`].
    pub(crate) fn resolve_planned_entry(cx: &ToolCx, text: &str) -> Result<Self, String> {
        Self::planned(cx, text, Self::resolve_entry(&cx.workspace, text)?)
    }

    fn planned(cx: &ToolCx, text: &str, place: Self) -> Result<Self, String> {
        if cx.may_touch(&place.shown, place.inside) {
            return Ok(place);
        }
        Err(format!(
            "{text} leads to {}, which is not the place that was allowed; nothing was done",
            place.shown.display()
        ))
    }

    /// The same beside the asynchronous tasks.
    pub(crate) async fn found_again(cx: &ToolCx, text: &str) -> Result<Self, String> {
        let (cx, text) = (cx.clone(), text.to_owned());
        blocking(move || Self::resolve_planned(&cx, &text)).await
    }

    /// The leave for this place and its neighbours in its folder.
    pub(crate) fn outside_scope(&self) -> GrantScope {
        let is_folder = self.real.is_dir();
        let folder = if is_folder { Some(self.real.as_path()) } else { self.real.parent() };
        // The whole file system is no folder to grant: then it is the file alone.
        let folder = folder.filter(|folder| is_folder || folder.parent().is_some());
        GrantScope::Outside(folder.unwrap_or(&self.real).to_path_buf())
    }

    fn steering_folder(&self) -> Option<&'static str> {
        let judged = if self.inside { self.real.strip_prefix(&self.anchor).ok()? } else { &self.real };
        steering_in(judged)
    }
}

/// Whether a path leads into a folder whose files steer programs.
pub(crate) fn steers(path: &Path) -> bool {
    steering_in(path).is_some()
}

fn steering_in(path: &Path) -> Option<&'static str> {
    path.components().find_map(|part| {
        let part = part.as_os_str().to_string_lossy();
        // Some file systems ignore case, and some ignore dots or spaces at the end.
        let part = part.trim_end_matches(['.', ' ']);
        STEERING.into_iter().find(|name| name.eq_ignore_ascii_case(part))
    })
}

fn check_text(text: &str) -> Result<(), String> {
    if text.trim().is_empty() {
        return Err("the path is empty".to_owned());
    }
    if text.contains('\0') {
        return Err("the path contains a NUL character".to_owned());
    }
    if text == "~" || text.starts_with("~/") {
        return Err(format!(
            "{text}: `~` is not expanded; give an absolute path or one below the session's folder"
        ));
    }
    Ok(())
}

/// Where an absolute path leads once every link is followed, where that can be told.
pub(crate) fn real_path(path: &Path) -> Option<PathBuf> {
    follow(path).ok()
}

/// Where an absolute path leads once every link is followed. What does not exist yet is kept as it is written.
fn follow(path: &Path) -> io::Result<PathBuf> {
    let mut todo: VecDeque<Step> = path.components().map(Step::from).collect();
    let mut real = PathBuf::new();
    let mut links = 0;
    while let Some(step) = todo.pop_front() {
        match step {
            Step::Root(root) => real.push(root),
            Step::Up => {
                // At the root this does nothing, as on the system. `real` has no links, so the parent is right.
                real.pop();
            }
            Step::Down(name) => {
                let next = real.join(&name);
                match target_of(&next)? {
                    None => real = next,
                    Some(target) => {
                        links += 1;
                        if links > MAX_LINKS {
                            return Err(io::Error::other("too many links, or links in a circle"));
                        }
                        for part in target.components().rev() {
                            todo.push_front(Step::from(part));
                        }
                    }
                }
            }
            Step::Stay => {}
        }
    }
    Ok(real)
}

enum Step {
    Root(OsString),
    Up,
    Stay,
    Down(OsString),
}

impl From<Component<'_>> for Step {
    fn from(part: Component<'_>) -> Self {
        match part {
            Component::Prefix(_) | Component::RootDir => Self::Root(part.as_os_str().to_owned()),
            Component::CurDir => Self::Stay,
            Component::ParentDir => Self::Up,
            Component::Normal(name) => Self::Down(name.to_owned()),
        }
    }
}

/// The link's target, if this is a link. What is missing, or below something that is no folder, is none; any
/// other doubt is an error, so that nothing is taken for inside that could not be looked at.
fn target_of(path: &Path) -> io::Result<Option<PathBuf>> {
    match std::fs::symlink_metadata(path) {
        Ok(found) if found.file_type().is_symlink() => std::fs::read_link(path).map(Some),
        Ok(_) => Ok(None),
        Err(error)
            if error.kind() == io::ErrorKind::NotFound || error.kind() == io::ErrorKind::NotADirectory =>
        {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}
