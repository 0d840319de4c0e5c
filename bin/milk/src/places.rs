//! Where things are, and what the environment says. The one module that reads the environment.

use std::env;
use std::ffi::OsString;
use std::fs::OpenOptions;
use std::path::{Path, PathBuf};

use milk_acp::settings::Loader;
use session_store::Belongings;

use crate::error::CliError;

/// Where this process works and keeps things.
#[derive(Debug, Clone)]
pub(crate) struct Places {
    /// The folder the process was started in.
    pub(crate) cwd: PathBuf,
    home: Option<PathBuf>,
    data: Option<PathBuf>,
    config: Option<PathBuf>,
    config_given: bool,
    session_db: Option<PathBuf>,
}

impl Places {
    /// Reads the environment; `config` and `session_db` are the command line's, which wins.
    pub(crate) fn of_this_process(
        config: Option<PathBuf>,
        session_db: Option<PathBuf>,
    ) -> Result<Self, CliError> {
        let cwd = working_folder().map_err(CliError::NoCwd)?;
        Ok(Self::new(cwd, home(), &|name| env::var_os(name), (config, session_db)))
    }

    fn new(
        cwd: PathBuf,
        home: Option<PathBuf>,
        variable: &dyn Fn(&str) -> Option<OsString>,
        (config, session_db): (Option<PathBuf>, Option<PathBuf>),
    ) -> Self {
        let path = |name| variable(name).filter(|value| !value.is_empty()).map(|value| cwd.join(value));
        let home = home.filter(|home| home.is_absolute());
        let data = path("MILK_HOME").or_else(|| home.as_ref().map(|home| home.join(".milk")));
        let config_given = config.is_some();
        let config = config
            .map(|given| cwd.join(given))
            .or_else(|| path("MILK_CONFIG"))
            .or_else(|| data.as_ref().map(|data| data.join("config.json")));
        let session_db = session_db.map(|given| cwd.join(given));
        Self { cwd, home, data, config, config_given, session_db }
    }

    /// The configuration as it is found from here.
    pub(crate) fn loader(&self) -> Loader {
        Loader::new(self.config.clone(), self.config_given, self.home.clone())
    }

    /// The user's configuration file.
    pub(crate) fn config(&self) -> Option<&Path> {
        self.config.as_deref()
    }

    /// The data folder.
    pub(crate) fn data(&self) -> Option<&Path> {
        self.data.as_deref()
    }

    /// The files that go with sessions: results too long for a model.
    pub(crate) fn belongings(&self) -> Option<Belongings> {
        Some(Belongings::new(self.data.as_ref()?.join("outputs")))
    }

    /// The file that keeps the sessions.
    pub(crate) fn session_db(&self) -> Option<PathBuf> {
        self.session_db.clone().or_else(|| self.data.as_ref().map(|data| data.join("sessions.db")))
    }

    /// The folder a command is about: the one given, else the current one. It must exist.
    pub(crate) fn folder(&self, given: Option<&Path>) -> Result<PathBuf, CliError> {
        let folder = given.map_or_else(|| self.cwd.clone(), |given| self.cwd.join(given));
        if !folder.is_dir() {
            return Err(CliError::NotAFolder(folder));
        }
        // Stored sessions name folders by their real path.
        Ok(folder.canonicalize().unwrap_or(folder))
    }
}

/// A variable of the environment, when it is text.
pub(crate) fn variable(name: &str) -> Option<String> {
    env::var_os(name)?.into_string().ok()
}

/// The home folder, as the environment names it. The user database is not asked: whoever takes HOME away (a
/// sandbox, a test) does not want the real home used behind its back.
#[cfg(unix)]
fn home() -> Option<PathBuf> {
    env::var_os("HOME").map(PathBuf::from)
}

#[cfg(not(unix))]
fn home() -> Option<PathBuf> {
    env::home_dir()
}

#[expect(clippy::disallowed_methods, reason = "this is the place that reads the environment")]
fn working_folder() -> std::io::Result<PathBuf> {
    env::current_dir()
}

/// For a file that may hold what was said: made for its owner alone.
pub(crate) fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    options
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(home: Option<&str>, variables: &[(&str, &str)], config: Option<&str>) -> Places {
        let variable =
            |name: &str| variables.iter().find(|(n, _)| *n == name).map(|(_, v)| OsString::from(v));
        Places::new("/here".into(), home.map(Into::into), &variable, (config.map(Into::into), None))
    }

    #[test]
    fn the_narrowest_word_wins() {
        let config = |places: &Places| places.config().map(|p| p.display().to_string());
        let db = |places: &Places| places.session_db().map(|p| p.display().to_string());
        let usual = places(Some("/h"), &[], None);
        assert_eq!(config(&usual).as_deref(), Some("/h/.milk/config.json"));
        assert_eq!(db(&usual).as_deref(), Some("/h/.milk/sessions.db"));
        assert_eq!(usual.belongings(), Some(Belongings::new("/h/.milk/outputs".into())));
        let moved = places(Some("/h"), &[("MILK_HOME", "m")], None);
        assert_eq!(config(&moved).as_deref(), Some("/here/m/config.json"));
        assert_eq!(db(&moved).as_deref(), Some("/here/m/sessions.db"));
        let apart = places(Some("/h"), &[("MILK_HOME", ""), ("MILK_CONFIG", "/c.json")], None);
        assert_eq!(config(&apart).as_deref(), Some("/c.json"));
        assert_eq!(db(&apart).as_deref(), Some("/h/.milk/sessions.db"));
        let given = places(Some("/h"), &[("MILK_CONFIG", "/c.json")], Some("x.json"));
        assert_eq!(config(&given).as_deref(), Some("/here/x.json"));
    }

    #[test]
    fn without_a_home_there_is_no_place() {
        let bare = places(None, &[], None);
        assert_eq!((bare.config(), bare.data(), bare.session_db()), (None, None, None));
        assert_eq!(places(Some(""), &[], None).data(), None);
    }
}
