//! `milk config`: where the configuration is, what holds, and a first file.

use std::fmt::Write as _;
use std::path::Path;

use milk_acp::settings::{ConfigFile, FileState, Layer, Loaded, Loader};
use serde_json::{Value, json};

use crate::args::ConfigCommand;
use crate::error::CliError;
use crate::output;
use crate::places::Places;

/// Runs the subcommand.
pub(crate) fn run(command: &ConfigCommand, places: &Places) -> Result<(), CliError> {
    match command {
        ConfigCommand::Path { cwd } => path(places, cwd.as_deref()),
        ConfigCommand::Show { cwd, sources } => show(places, cwd.as_deref(), *sources),
        ConfigCommand::Init { local, cwd } => init(places, *local, cwd.as_deref()),
    }
}

fn path(places: &Places, cwd: Option<&Path>) -> Result<(), CliError> {
    let local = Loader::local_path(&places.folder(cwd)?);
    let mut text = String::new();
    for (layer, path) in [(Layer::Global, places.config()), (Layer::Local, Some(&*local))] {
        let Some(path) = path else { continue };
        let absent = if path.exists() { "" } else { " (not there)" };
        let _ = writeln!(text, "{}: {}{absent}", layer.name(), path.display());
    }
    Ok(output::print(text)?)
}

fn show(places: &Places, cwd: Option<&Path>, sources: bool) -> Result<(), CliError> {
    let loaded = places.loader().load(&places.folder(cwd)?)?;
    for warning in &loaded.warnings {
        output::remark(warning);
    }
    let text = if sources { with_sources(&loaded) } else { format!("{:#}\n", loaded.shown()) };
    Ok(output::print(text)?)
}

/// One value a line: `key = value  [layer]`, preceded by the files that were looked for.
fn with_sources(loaded: &Loaded) -> String {
    let mut text = String::new();
    for file in &loaded.files {
        let state = match file.state {
            FileState::Absent => "not there",
            FileState::Read => "read",
            FileState::Repaired => "damaged; its last good state is used",
            FileState::LeftOut => "damaged; left out",
        };
        let _ = writeln!(text, "# {}: {} ({state})", file.layer.name(), file.path.display());
    }
    list(&loaded.shown(), "", loaded, &mut text);
    text
}

fn list(value: &Value, key: &str, loaded: &Loaded, text: &mut String) {
    match value {
        Value::Object(map) if !map.is_empty() => {
            for (name, member) in map {
                let path = if key.is_empty() { name.clone() } else { format!("{key}.{name}") };
                list(member, &path, loaded, text);
            }
        }
        Value::Array(items) if items.iter().any(Value::is_object) => {
            for (index, item) in items.iter().enumerate() {
                list(item, &format!("{key}[{index}]"), loaded, text);
            }
        }
        Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::String(_)
        | Value::Array(_)
        | Value::Object(_) => {
            let layer = loaded.sources.of(key).unwrap_or(Layer::Default);
            let _ = writeln!(text, "{key} = {value}  [{}]", layer.name());
        }
    }
}

/// A first file to fill in. One that exists is left alone.
fn init(places: &Places, local: bool, cwd: Option<&Path>) -> Result<(), CliError> {
    let path = if local {
        Loader::local_path(&places.folder(cwd)?)
    } else {
        places.config().ok_or(CliError::NoHome("the configuration"))?.to_owned()
    };
    if path.exists() {
        output::remark(format_args!("{} exists already and is left as it is", path.display()));
        return Ok(());
    }
    let mut file = ConfigFile::default();
    if !local {
        file.root_mut().insert("agents".into(), json!([]));
    }
    file.write(&path)?;
    Ok(output::print(format_args!("{}\n", path.display()))?)
}
