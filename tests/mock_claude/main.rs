//! A stand-in for Claude Code: speaks its stream-json form and control protocol as published, says what a script has
//! it say, and does what its tools would do. For tests.
//!
//! `MOCK_CLAUDE` names a folder. There, `script.json` holds a list of runs, each a list of steps; `runs.jsonl` gets a
//! line for each run with what it was started with and told. The last run of the script is repeated.

mod steps;
mod wire;

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde_json::{Value, json};

use steps::Player;
use wire::Wire;

/// Variables by which the true program would refuse to start.
const NESTING: [&str; 2] = ["CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT"];

fn main() -> ExitCode {
    match run() {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            // Nobody is left to tell when this fails too.
            drop(writeln!(io::stderr(), "mock: {error}"));
            ExitCode::from(70)
        }
    }
}

fn run() -> io::Result<u8> {
    let folder =
        PathBuf::from(variable("MOCK_CLAUDE").ok_or_else(|| io::Error::other("MOCK_CLAUDE is not set"))?);
    if let Some(name) = NESTING.iter().find(|name| variable(name).is_some()) {
        writeln!(io::stderr(), "Error: nested session ({name} is set)")?;
        return Ok(1);
    }
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let script: Value = serde_json::from_str(&fs::read_to_string(folder.join("script.json"))?)?;
    let runs = script.as_array().cloned().unwrap_or_default();
    let before = fs::read_to_string(folder.join("runs.jsonl")).unwrap_or_default().lines().count();
    let Some(steps) = runs.get(before).or_else(|| runs.last()) else { return Ok(0) };
    let (id, known) = conversation(&arguments, &folder)?;
    let mut record =
        json!({"argv": arguments, "id": id, "pid": std::process::id(), "descriptors": descriptors()});
    record["context"] = option(&arguments, "--append-system-prompt-file")
        .and_then(|path| fs::read_to_string(path).ok())
        .into();
    if let Some(error) = known {
        note(&folder, &record)?;
        return refuse(&arguments, &id, &error);
    }
    let mut wire = Wire::start(&id)?;
    record["prompt"] = wire.greet()?;
    note(&folder, &record)?;
    Player::new(&mut wire).play(steps)
}

/// The conversation's id; and what is wrong with it.
fn conversation(arguments: &[String], folder: &Path) -> io::Result<(String, Option<String>)> {
    let known = folder.join("conversations");
    fs::create_dir_all(&known)?;
    if let Some(id) = option(arguments, "--resume") {
        let there = known.join(&id).exists();
        return Ok((id.clone(), (!there).then(|| format!("No conversation found with session ID: {id}"))));
    }
    let id = option(arguments, "--session-id").unwrap_or_else(|| "unnamed".to_owned());
    if known.join(&id).exists() {
        return Ok((id.clone(), Some(format!("Error: Session ID {id} is already in use."))));
    }
    fs::write(known.join(&id), "")?;
    Ok((id, None))
}

/// Says why there is no such conversation, as the true program does for each case.
fn refuse(arguments: &[String], id: &str, error: &str) -> io::Result<u8> {
    writeln!(io::stderr(), "{error}")?;
    if option(arguments, "--resume").is_some() {
        let result = json!({"type": "result", "subtype": "error_during_execution", "is_error": true, "session_id": id,
            "num_turns": 0, "total_cost_usd": 0, "errors": [error]});
        writeln!(io::stdout(), "{result}")?;
    }
    Ok(1)
}

fn note(folder: &Path, record: &Value) -> io::Result<()> {
    let mut file = fs::OpenOptions::new().create(true).append(true).open(folder.join("runs.jsonl"))?;
    writeln!(file, "{record}")
}

fn option(arguments: &[String], name: &str) -> Option<String> {
    let at = arguments.iter().position(|argument| argument == name)?;
    arguments.get(at + 1).cloned()
}

/// The descriptors this process inherited beside its three pipes; none where that cannot be told.
fn descriptors() -> Vec<String> {
    let Ok(entries) = fs::read_dir("/proc/self/fd") else { return Vec::new() };
    let link = |entry: io::Result<fs::DirEntry>| {
        let path = entry.ok()?.path();
        let number: u32 = path.file_name()?.to_str()?.parse().ok()?;
        let target = fs::read_link(&path).ok()?.display().to_string();
        (number > 2 && !target.contains("/proc/")).then_some(target)
    };
    entries.filter_map(link).collect()
}

#[expect(
    clippy::disallowed_methods,
    reason = "a program of its own, which is told by its environment what to do"
)]
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}
