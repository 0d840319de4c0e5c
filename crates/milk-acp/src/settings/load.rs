//! Reads the layers, repairs a damaged file from its copy, and remembers the result until a file changes.

use std::collections::HashMap;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use agent_runtime::rules::Rules;
use serde_json::{Map, Value};

use super::document::{ConfigError, ConfigFile, backup_of, write_private};
use super::merge::{Layer, Sources, overlay};
use super::redact::redact;
use super::view::Settings;
use super::warning::Warning;
use super::{check, defaults, rules, trust, validate};

/// How many folders' results are remembered; more than anyone works in at once, and a few KiB each.
const REMEMBERED: usize = 64;

/// Reads configurations. Cheap to ask again: an unchanged pair of files costs two looks at their metadata.
#[derive(Debug)]
pub struct Loader {
    global: Option<PathBuf>,
    required: bool,
    home: Option<PathBuf>,
    memory: Mutex<Memory>,
}

#[derive(Debug, Default)]
struct Memory {
    folders: HashMap<PathBuf, Remembered>,
    last_good: HashMap<PathBuf, ConfigFile>,
}

#[derive(Debug)]
struct Remembered {
    stamps: [Option<Stamp>; 2],
    loaded: Arc<Loaded>,
}

/// Tells one state of a file from the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp {
    modified: Option<SystemTime>,
    len: u64,
    node: u64,
}

/// A configuration as it holds for one folder.
#[derive(Clone)]
pub struct Loaded {
    /// The typed view.
    pub settings: Settings,
    /// The rules about calls.
    pub rules: Rules,
    /// What is wrong with it.
    pub warnings: Vec<Warning>,
    /// Where each value comes from.
    pub sources: Sources,
    /// The files that were looked for, widest first.
    pub files: Vec<FileReport>,
    document: Map<String, Value>,
}

/// What became of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileReport {
    /// Its layer.
    pub layer: Layer,
    /// Where it is or would be.
    pub path: PathBuf,
    /// Whether it was read, or its copy.
    pub state: FileState,
}

/// What became of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileState {
    /// There is none.
    Absent,
    /// It was read.
    Read,
    /// It is damaged; an earlier state of it was used.
    Repaired,
    /// It is damaged and was left out.
    LeftOut,
}

impl Loaded {
    /// The merged document, defaults included, without its secrets.
    #[must_use]
    pub fn shown(&self) -> Value {
        let mut shown = Value::Object(self.document.clone());
        redact(&mut shown);
        shown
    }
}

impl fmt::Debug for Loaded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Loaded")
            .field("settings", &self.settings)
            .field("warnings", &self.warnings)
            .field("files", &self.files)
            .finish_non_exhaustive()
    }
}

impl Loader {
    /// A loader for the user's file at `global`; without one only folders' files are read. A missing file is no
    /// error, unless it is `required`.
    #[must_use]
    pub fn new(global: Option<PathBuf>, required: bool, home: Option<PathBuf>) -> Self {
        Self { global, required, home, memory: Mutex::default() }
    }

    /// Where the user's file is or would be.
    #[must_use]
    pub fn global(&self) -> Option<&Path> {
        self.global.as_deref()
    }

    /// Where a folder's file is or would be.
    #[must_use]
    pub fn local_path(cwd: &Path) -> PathBuf {
        cwd.join(".milk").join("config.json")
    }

    /// What holds in a folder now.
    ///
    /// # Errors
    /// When the user's file cannot be used and neither can a copy or an earlier state of it.
    pub fn load(&self, cwd: &Path) -> Result<Arc<Loaded>, ConfigError> {
        let local = Self::local_path(cwd);
        let stamps = [self.global.as_deref().and_then(stamp), stamp(&local)];
        let mut memory = self.memory.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = memory.folders.get(cwd)
            && known.stamps == stamps
            && !(self.required && stamps[0].is_none())
        {
            return Ok(Arc::clone(&known.loaded));
        }
        let loaded = Arc::new(self.read(cwd, &local, &mut memory.last_good)?);
        if memory.folders.len() >= REMEMBERED {
            memory.folders.clear();
        }
        memory.folders.insert(cwd.to_owned(), Remembered { stamps, loaded: Arc::clone(&loaded) });
        Ok(loaded)
    }

    fn read(
        &self,
        cwd: &Path,
        local: &Path,
        last_good: &mut HashMap<PathBuf, ConfigFile>,
    ) -> Result<Loaded, ConfigError> {
        let mut reading = Reading::default();
        if let Some(global) = &self.global {
            let root = self.read_global(global, last_good, &mut reading)?;
            reading.lay(root, global, Layer::Global, self.home.as_deref());
        }
        if !self.global.as_deref().is_some_and(|global| is_same_file(global, local)) {
            let mut root = read_local(local, last_good, &mut reading);
            if !trust::is_trusted(cwd, &reading.trusted_folders(), self.home.as_deref()) {
                reading.warnings.extend(trust::sift(&mut root, local));
            }
            reading.lay(root, local, Layer::Local, self.home.as_deref());
        }
        reading.finish(self.global.as_deref(), local, self.home.as_deref())
    }

    fn read_global(
        &self,
        path: &Path,
        last_good: &mut HashMap<PathBuf, ConfigFile>,
        reading: &mut Reading,
    ) -> Result<Map<String, Value>, ConfigError> {
        let (file, state) = match ConfigFile::read(path) {
            Ok(file) => {
                keep_copy(path, &file);
                last_good.insert(path.to_owned(), file.clone());
                (file, FileState::Read)
            }
            Err(ConfigError::Missing { .. }) if !self.required => (ConfigFile::default(), FileState::Absent),
            Err(error) => {
                let earlier = match &error {
                    ConfigError::Invalid { .. } => ConfigFile::read(&backup_of(path)).ok(),
                    ConfigError::Missing { .. }
                    | ConfigError::Unreadable { .. }
                    | ConfigError::Unwritable { .. } => None,
                };
                let Some(file) = earlier.or_else(|| last_good.get(path).cloned()) else { return Err(error) };
                reading.remark(path, &format!("{}; its last good state is used", reason_of(&error)));
                (file, FileState::Repaired)
            }
        };
        reading.report(path, Layer::Global, state);
        Ok(file.root().clone())
    }
}

fn read_local(
    path: &Path,
    last_good: &mut HashMap<PathBuf, ConfigFile>,
    reading: &mut Reading,
) -> Map<String, Value> {
    let (file, state) = match ConfigFile::read(path) {
        Ok(file) => {
            last_good.insert(path.to_owned(), file.clone());
            (file, FileState::Read)
        }
        Err(ConfigError::Missing { .. }) => (ConfigFile::default(), FileState::Absent),
        Err(error) => {
            let earlier = last_good.get(path).cloned();
            let (done, state) = if earlier.is_some() {
                ("its last good state is used", FileState::Repaired)
            } else {
                ("it is left out", FileState::LeftOut)
            };
            reading.remark(path, &format!("{}; {done}", reason_of(&error)));
            (earlier.unwrap_or_default(), state)
        }
    };
    reading.report(path, Layer::Local, state);
    file.root().clone()
}

fn reason_of(error: &ConfigError) -> String {
    match error {
        ConfigError::Invalid { reason, .. } => format!("is not valid ({reason})"),
        ConfigError::Unreadable { source, .. } => format!("cannot be read ({source})"),
        ConfigError::Missing { .. } => "has disappeared".to_owned(),
        ConfigError::Unwritable { source, .. } => format!("cannot be written ({source})"),
    }
}

/// The layers as they are laid over each other.
#[derive(Default)]
struct Reading {
    document: Map<String, Value>,
    sources: Sources,
    warnings: Vec<Warning>,
    files: Vec<FileReport>,
}

impl Reading {
    fn lay(&mut self, mut root: Map<String, Value>, path: &Path, layer: Layer, home: Option<&Path>) {
        self.warnings.extend(check::check(&mut root, path));
        make_paths_absolute(&mut root, path, home);
        overlay(&mut self.document, &root, layer, &mut self.sources);
    }

    fn trusted_folders(&self) -> Vec<String> {
        let listed = self.document.get("trusted_folders").and_then(Value::as_array);
        listed.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
    }

    fn remark(&mut self, path: &Path, message: &str) {
        self.warnings.push(Warning {
            file: Some(path.to_owned()),
            key: String::new(),
            message: message.to_owned(),
        });
    }

    fn report(&mut self, path: &Path, layer: Layer, state: FileState) {
        self.files.push(FileReport { layer, path: path.to_owned(), state });
    }

    fn finish(
        mut self,
        global: Option<&Path>,
        local: &Path,
        home: Option<&Path>,
    ) -> Result<Loaded, ConfigError> {
        let settings = Settings::from_document(self.document.clone()).map_err(|error| {
            ConfigError::Invalid { path: global.unwrap_or(local).to_owned(), reason: error.to_string() }
        })?;
        let (rules, mistakes) = rules::rules(&settings.permissions, home);
        for mut warning in validate::validate(&settings).into_iter().chain(mistakes) {
            warning.file = match self.sources.of(&warning.key) {
                Some(Layer::Local) => Some(local.to_owned()),
                Some(Layer::Global) => global.map(Path::to_owned),
                Some(Layer::Default) | None => None,
            };
            self.warnings.push(warning);
        }
        let (mut document, mut sources) = (Map::new(), Sources::default());
        overlay(&mut document, &defaults::document(), Layer::Default, &mut sources);
        overlay(&mut document, &self.document, Layer::Global, &mut sources);
        sources.refine(&self.sources);
        Ok(Loaded { settings, rules, warnings: self.warnings, sources, files: self.files, document })
    }
}

/// Paths in a file are meant from where the file is, so that they mean the same wherever milk was started.
fn make_paths_absolute(root: &mut Map<String, Value>, file: &Path, home: Option<&Path>) {
    let Some(Value::Array(agents)) = root.get_mut("agents") else { return };
    for agent in agents {
        for member in ["prompt_file", "tls_ca_cert"] {
            let Some(Value::String(text)) = agent.get_mut(member) else { continue };
            if text.trim().is_empty() {
                continue;
            }
            let path = match (text.trim().strip_prefix("~/"), home) {
                (Some(rest), Some(home)) => home.join(rest),
                (Some(_) | None, _) => file.parent().unwrap_or(Path::new("")).join(text.trim()),
            };
            *text = path.to_string_lossy().into_owned();
        }
    }
}

/// Keeps the copy beside the file up to date. Failing is no reason to fail: the file itself is good.
fn keep_copy(path: &Path, file: &ConfigFile) {
    let copy = backup_of(path);
    if ConfigFile::read(&copy).is_ok_and(|kept| kept == *file) {
        return;
    }
    if let Err(error) = write_private(&copy, file.text().as_bytes()) {
        tracing::debug!(path = %copy.display(), %error, "cannot keep a copy of the configuration");
    }
}

fn is_same_file(a: &Path, b: &Path) -> bool {
    a == b || matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b)
}

fn stamp(path: &Path) -> Option<Stamp> {
    let metadata = fs::metadata(path).ok()?;
    Some(Stamp { modified: metadata.modified().ok(), len: metadata.len(), node: node_of(&metadata) })
}

/// Replaced files have another node, even within one tick of the file system's clock.
#[cfg(unix)]
fn node_of(metadata: &fs::Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::ino(metadata)
}

#[cfg(not(unix))]
fn node_of(_: &fs::Metadata) -> u64 {
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Home {
        folder: tempfile::TempDir,
        loader: Loader,
    }

    impl Home {
        fn new(global: &str, local: &str) -> Self {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("config.json");
            let loader = Loader::new(Some(path), false, Some(folder.path().to_owned()));
            let home = Self { folder, loader };
            home.write("config.json", global);
            home.write("work/.milk/config.json", local);
            home
        }

        fn write(&self, name: &str, text: &str) {
            let path = self.folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            if !text.is_empty() {
                fs::write(path, text).unwrap();
            }
        }

        fn load(&self) -> Result<Arc<Loaded>, ConfigError> {
            self.loader.load(&self.folder.path().join("work"))
        }

        /// Warnings without the temporary folder's name.
        fn warnings(&self) -> Vec<String> {
            let root = format!("{}/", self.folder.path().display());
            self.load().unwrap().warnings.iter().map(|w| w.to_string().replace(&root, "")).collect()
        }
    }

    #[test]
    fn without_files_the_defaults_hold_and_nothing_is_written() {
        let home = Home::new("", "");
        let loaded = home.load().unwrap();
        assert_eq!(loaded.settings, Settings::default());
        assert_eq!(loaded.warnings, []);
        assert_eq!(loaded.files.iter().map(|f| f.state).collect::<Vec<_>>(), [FileState::Absent; 2]);
        assert!(!home.folder.path().join("config.json").exists());
    }

    #[test]
    fn the_folders_file_overrides_the_users() {
        let home = Home::new(
            r#"{"agent": "a", "agents": [{"name": "a", "url": "http://g"}], "acp_resume": true}"#,
            r#"{"agents": [{"name": "b", "url": "http://l"}], "agent": "b", "acp_resume": false}"#,
        );
        let loaded = home.load().unwrap();
        assert_eq!(loaded.settings.primary().unwrap().url, "http://l");
        assert!(!loaded.settings.acp_resume);
        assert_eq!(loaded.sources.of("agent"), Some(Layer::Local));
        assert_eq!(loaded.sources.of("local_max_tool_iterations"), Some(Layer::Default));
        assert_eq!(loaded.shown()["local_max_tool_iterations"], 20);
    }

    #[test]
    fn a_strange_folder_cannot_grant_and_a_trusted_one_can() {
        let local = r#"{"dangerously_skip_permissions": true}"#;
        let home = Home::new("{}", local);
        assert!(!home.load().unwrap().settings.skip_permissions());
        assert_eq!(
            home.warnings(),
            ["work/.milk/config.json: `dangerously_skip_permissions` is ignored: this folder is not listed \
              under `trusted_folders` in your own configuration"]
        );
        let home = Home::new(r#"{"trusted_folders": ["~/work"]}"#, local);
        assert!(home.load().unwrap().settings.skip_permissions());
        assert_eq!(home.warnings(), [""; 0]);
    }

    #[test]
    fn a_folder_cannot_trust_itself() {
        let home = Home::new("{}", r#"{"trusted_folders": ["*"], "bash_allowed_patterns": ["rm"]}"#);
        assert_eq!(home.load().unwrap().settings.bash_allowed_patterns, [""; 0]);
    }

    #[test]
    fn a_change_is_seen_and_an_unchanged_file_is_not_read_again() {
        let home = Home::new(r#"{"agent": "a"}"#, "");
        let first = home.load().unwrap();
        assert!(Arc::ptr_eq(&first, &home.load().unwrap()));
        home.write("config.json", r#"{"agent": "bb"}"#);
        assert_eq!(home.load().unwrap().settings.agent, "bb");
    }

    #[test]
    fn a_damaged_file_is_repaired_from_its_copy() {
        let home = Home::new(r#"{"agent": "a", "agents": [{"name": "a", "url": "u"}]}"#, "");
        home.load().unwrap();
        home.write("config.json", r#"{"agent": "#);
        let fresh = Loader::new(home.loader.global.clone(), false, None);
        let loaded = fresh.load(home.folder.path()).unwrap();
        assert_eq!(loaded.settings.agent, "a");
        assert_eq!(loaded.files[0].state, FileState::Repaired);
        let warning = loaded.warnings[0].message.clone();
        assert_eq!(
            warning,
            "is not valid (EOF while parsing a value at line 1 column 10); its last good state is used"
        );
    }

    #[test]
    fn a_damaged_file_without_a_copy_is_an_error_with_the_place() {
        let home = Home::new("{\n  \"agent\": x\n}", "");
        let error = home.load().unwrap_err().to_string();
        assert!(error.ends_with(
            "config.json is not valid: expected value at line 2 column 12; correct it, or move it away to start \
             from the defaults"
        ));
    }

    #[test]
    fn a_damaged_folders_file_is_left_out_or_keeps_its_last_good_state() {
        let home = Home::new(r#"{"agent": "g", "agents": [{"name": "g", "url": "u"}]}"#, "[]");
        assert_eq!(home.load().unwrap().settings.agent, "g");
        assert_eq!(
            home.warnings(),
            ["work/.milk/config.json: is not valid (the file must hold a JSON object); it is left out"]
        );
        home.write("work/.milk/config.json", r#"{"acp_resume": false}"#);
        assert!(!home.load().unwrap().settings.acp_resume);
        home.write("work/.milk/config.json", "{");
        assert!(!home.load().unwrap().settings.acp_resume);
        assert!(!home.folder.path().join("work/.milk/config.json.bak").exists());
    }

    #[test]
    fn a_file_asked_for_by_name_must_exist() {
        let loader = Loader::new(Some("/no/such/config.json".into()), true, None);
        let error = loader.load(Path::new("/")).unwrap_err().to_string();
        assert_eq!(error, "/no/such/config.json does not exist; check the path");
    }

    #[test]
    fn paths_are_meant_from_the_file_and_a_tilde_from_home() {
        let home = Home::new(
            r#"{"agents": [{"name": "a", "url": "u", "prompt_file": "p/a.md", "tls_ca_cert": "~/ca.pem"}]}"#,
            "",
        );
        let loaded = home.load().unwrap();
        let agent = &loaded.settings.agents[0];
        assert_eq!(Path::new(&agent.prompt_file), home.folder.path().join("p/a.md"));
        assert_eq!(Path::new(&agent.tls_ca_cert), home.folder.path().join("ca.pem"));
    }

    #[test]
    fn the_home_folders_own_file_is_not_laid_over_itself() {
        let folder = tempfile::tempdir().unwrap();
        let path = Loader::local_path(folder.path());
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, r#"{"bash_allowed_patterns": ["ls"]}"#).unwrap();
        let loaded =
            Loader::new(Some(path), false, Some(folder.path().to_owned())).load(folder.path()).unwrap();
        assert_eq!(loaded.settings.bash_allowed_patterns, ["ls"]);
        assert_eq!(loaded.warnings, []);
    }

    #[test]
    fn neither_debug_nor_show_tells_a_secret() {
        let home = Home::new(r#"{"agents": [{"name": "a", "url": "u", "api_key": "sk-secret"}]}"#, "");
        let loaded = home.load().unwrap();
        assert!(!format!("{loaded:?} {:?}", home.loader).contains("sk-secret"));
        assert_eq!(loaded.shown()["agents"][0]["api_key"], "***");
    }
}
