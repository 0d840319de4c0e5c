//! The doctor's look at files: the configuration, the data folder, the sessions.

use std::fs;
use std::io;
use std::path::Path;

use milk_acp::settings::{FileState, Settings};
use session_store::{ListQuery, SessionStore as _};

use super::report::{Level, Report};
use crate::places::Places;
use crate::store::open;

/// Reads the configuration; nothing when it cannot be used.
pub(super) fn configuration(places: &Places, cwd: &Path, report: &mut Report) -> Option<Settings> {
    report.section("configuration");
    let loaded = match places.loader().load(cwd) {
        Ok(loaded) => loaded,
        Err(error) => {
            report.find(Level::Bad, "file", &error.to_string());
            return None;
        }
    };
    for file in &loaded.files {
        let (level, state) = match file.state {
            FileState::Absent => (Level::Note, "not there, which is fine"),
            FileState::Read => (Level::Good, "read"),
            FileState::Repaired => (Level::Warn, "damaged; its last good state is used"),
            FileState::LeftOut => (Level::Warn, "damaged; left out"),
        };
        report.find(level, file.layer.name(), &format!("{} ({state})", file.path.display()));
    }
    for warning in &loaded.warnings {
        report.find(Level::Warn, "remark", &warning.to_string());
    }
    Some(loaded.settings.clone())
}

/// Tries the data folder and the sessions in it.
pub(super) async fn data(places: &Places, report: &mut Report) {
    report.section("data");
    match places.data() {
        None => report.find(
            Level::Warn,
            "folder",
            "there is no home folder, so sessions are kept in memory only; set HOME or MILK_HOME",
        ),
        Some(folder) => match try_writing(folder) {
            Ok(()) => report.find(Level::Good, "folder", &format!("{} can be written", folder.display())),
            Err(error) => report.find(
                Level::Bad,
                "folder",
                &format!(
                    "{} cannot be written ({error}); correct its owner or set MILK_HOME",
                    folder.display()
                ),
            ),
        },
    }
    let Some(path) = places.session_db() else { return };
    if !path.exists() {
        report.find(
            Level::Note,
            "sessions",
            &format!("{} will be made by the first session", path.display()),
        );
        return;
    }
    let opened = match open(places) {
        Ok(store) => {
            store.list(ListQuery { cwd: None, offset: 0, limit: 1 }).await.map_err(|e| e.to_string())
        }
        Err(error) => Err(error.to_string()),
    };
    match opened {
        Ok(_) => report.find(Level::Good, "sessions", &format!("{} opens", path.display())),
        Err(reason) => report.find(Level::Bad, "sessions", &reason),
    }
}

/// Leaves the folder as it was.
fn try_writing(folder: &Path) -> io::Result<()> {
    let made = !folder.exists();
    fs::create_dir_all(folder)?;
    let trial = folder.join(format!(".doctor-{}", std::process::id()));
    let written = fs::write(&trial, b"").and_then(|()| fs::remove_file(&trial));
    if made {
        fs::remove_dir(folder)?;
    }
    written
}
