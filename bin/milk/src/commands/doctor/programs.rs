//! The doctor's look at agents that are programs of their own: whether they are there.

use std::path::{Path, PathBuf};

use super::report::{Level, Report};
use crate::places::variable;

/// Says whether the program of the agent `name` is found.
pub(super) fn tell(name: &str, bin: &str, trouble: Level, report: &mut Report) {
    let subject = format!("{name} is installed");
    match find(bin) {
        Some(path) => report.find(Level::Good, &subject, &path.display().to_string()),
        None => report.find(
            trouble,
            &subject,
            &format!("there is no program `{bin}`; install it or set the agent's `bin`"),
        ),
    }
}

/// The program as the system would find it.
fn find(bin: &str) -> Option<PathBuf> {
    let named = Path::new(bin);
    if named.components().count() > 1 {
        return named.is_file().then(|| named.to_owned());
    }
    let folders = variable("PATH")?;
    std::env::split_paths(&folders).map(|folder| folder.join(bin)).find(|path| path.is_file())
}
