//! Reads what an agent of version 1 has its client do, and words what came of it. Version 2 has neither files nor
//! terminals of the client.

use std::path::PathBuf;

use acp_wire::v1;
use agent_runtime::external::served::{Excerpt, NewCommand, Output};
use agent_runtime::host::HostFeatures;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use session_model::{TerminalExit, TerminalId};

/// One thing that an agent wants done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Wanted {
    ReadFile { path: String, excerpt: Excerpt },
    WriteFile { path: String, text: String },
    CreateTerminal(NewCommand),
    Output(TerminalId),
    WaitForExit(TerminalId),
    Kill(TerminalId),
    Release(TerminalId),
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Given {
    Text(String),
    Terminal(TerminalId),
    Output(Output),
    Exit(TerminalExit),
    Done,
}

impl Wanted {
    /// Whether it was offered.
    pub(crate) fn is_among(&self, offered: HostFeatures) -> bool {
        match self {
            Self::ReadFile { .. } => offered.read_file,
            Self::WriteFile { .. } => offered.write_file,
            Self::CreateTerminal(_)
            | Self::Output(_)
            | Self::WaitForExit(_)
            | Self::Kill(_)
            | Self::Release(_) => offered.terminal,
        }
    }
}

/// Whether the method is one of these at all.
pub(crate) fn is_host(method: &str) -> bool {
    method.starts_with("fs/") || method.starts_with("terminal/")
}

/// Whether it is about a terminal there is already, and then whether all it wants is that it is gone.
pub(crate) fn of_the_past(method: &str) -> Option<bool> {
    match method {
        "terminal/kill" | "terminal/release" => Some(true),
        "terminal/output" | "terminal/wait_for_exit" => Some(false),
        _ => None,
    }
}

/// What a request wants, and in which session of the agent's; `None` for a method there is not.
///
/// # Errors
/// What is wrong with its parameters.
pub(crate) fn wanted(method: &str, params: &Value) -> Option<Result<(String, Wanted), String>> {
    Some(match method {
        "fs/read_text_file" => read(params, |asked: v1::ReadTextFileRequest| {
            let excerpt = Excerpt { first: asked.line, count: asked.limit };
            (asked.session_id, Wanted::ReadFile { path: asked.path, excerpt })
        }),
        "fs/write_text_file" => read(params, |asked: v1::WriteTextFileRequest| {
            (asked.session_id, Wanted::WriteFile { path: asked.path, text: asked.content })
        }),
        "terminal/create" => read(params, |asked: v1::CreateTerminalRequest| {
            let variable = |variable: v1::EnvVariable| (variable.name, variable.value);
            let command = NewCommand {
                command: asked.command,
                args: asked.args,
                env: asked.env.into_iter().map(variable).collect(),
                cwd: asked.cwd.map(PathBuf::from),
                output_bytes: asked.output_byte_limit,
            };
            (asked.session_id, Wanted::CreateTerminal(command))
        }),
        "terminal/output" => read(params, |asked: v1::TerminalOutputRequest| {
            (asked.session_id, Wanted::Output(id(&asked.terminal_id)))
        }),
        "terminal/wait_for_exit" => read(params, |asked: v1::WaitForTerminalExitRequest| {
            (asked.session_id, Wanted::WaitForExit(id(&asked.terminal_id)))
        }),
        "terminal/kill" => read(params, |asked: v1::KillTerminalRequest| {
            (asked.session_id, Wanted::Kill(id(&asked.terminal_id)))
        }),
        "terminal/release" => read(params, |asked: v1::ReleaseTerminalRequest| {
            (asked.session_id, Wanted::Release(id(&asked.terminal_id)))
        }),
        _ => return None,
    })
}

/// The result of a request.
pub(crate) fn given(given: Given) -> Value {
    match given {
        Given::Text(text) => word(&v1::ReadTextFileResponse::new(text)),
        Given::Terminal(id) => word(&v1::CreateTerminalResponse::new(v1::TerminalId::from(id.as_str()))),
        Given::Output(output) => word(
            &v1::TerminalOutputResponse::new(output.text, output.truncated)
                .exit_status(output.exit.as_ref().map(status)),
        ),
        Given::Exit(exit) => {
            let v1::TerminalExitStatus { exit_code, signal, .. } = status(&exit);
            word(&v1::WaitForTerminalExitResponse::new().exit_code(exit_code).signal(signal))
        }
        Given::Done => json!({}),
    }
}

fn status(exit: &TerminalExit) -> v1::TerminalExitStatus {
    // Where exit codes have 32 bits, the upper half are the negative ones.
    let code = exit.code.map(i32::cast_unsigned);
    v1::TerminalExitStatus::new().exit_code(code).signal(exit.signal.clone())
}

fn read<T: DeserializeOwned>(
    params: &Value,
    of: impl FnOnce(T) -> (v1::SessionId, Wanted),
) -> Result<(String, Wanted), String> {
    let asked = T::deserialize(params).map_err(|error| error.to_string())?;
    let (session, wanted) = of(asked);
    Ok((session.as_str().to_owned(), wanted))
}

fn id(theirs: &v1::TerminalId) -> TerminalId {
    TerminalId::from(theirs.as_str())
}

fn word(result: &impl Serialize) -> Value {
    serde_json::to_value(result).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_read_as_the_version_has_them() {
        let rows = [
            (
                "fs/read_text_file",
                json!({"sessionId": "s", "path": "/a", "line": 2, "limit": 3}),
                Wanted::ReadFile {
                    path: "/a".to_owned(),
                    excerpt: Excerpt { first: Some(2), count: Some(3) },
                },
            ),
            (
                "fs/write_text_file",
                json!({"sessionId": "s", "path": "/a", "content": "x"}),
                Wanted::WriteFile { path: "/a".to_owned(), text: "x".to_owned() },
            ),
            (
                "terminal/create",
                json!({"sessionId": "s", "command": "ls", "args": ["-l"], "env": [{"name": "A", "value": "b"}],
                    "cwd": "/w", "outputByteLimit": 9}),
                Wanted::CreateTerminal(NewCommand {
                    command: "ls".to_owned(),
                    args: vec!["-l".to_owned()],
                    env: vec![("A".to_owned(), "b".to_owned())],
                    cwd: Some(PathBuf::from("/w")),
                    output_bytes: Some(9),
                }),
            ),
            ("terminal/output", json!({"sessionId": "s", "terminalId": "t"}), Wanted::Output("t".into())),
            (
                "terminal/wait_for_exit",
                json!({"sessionId": "s", "terminalId": "t"}),
                Wanted::WaitForExit("t".into()),
            ),
            ("terminal/kill", json!({"sessionId": "s", "terminalId": "t"}), Wanted::Kill("t".into())),
            ("terminal/release", json!({"sessionId": "s", "terminalId": "t"}), Wanted::Release("t".into())),
        ];
        for (method, params, expected) in rows {
            assert_eq!(wanted(method, &params), Some(Ok(("s".to_owned(), expected))), "{method}");
            assert!(is_host(method));
            assert!(matches!(wanted(method, &json!({"sessionId": "s"})), Some(Err(_))), "{method}");
        }
        assert_eq!(wanted("fs/delete", &json!({})), None);
    }

    #[test]
    fn results_are_worded_as_the_version_has_them() {
        let exit = TerminalExit { code: Some(-1), signal: None };
        let output = Output { text: "x".to_owned(), truncated: true, exit: Some(exit.clone()) };
        let rows = [
            (Given::Text("t".to_owned()), json!({"content": "t"})),
            (Given::Terminal("1".into()), json!({"terminalId": "1"})),
            (
                Given::Output(output),
                json!({"output": "x", "truncated": true, "exitStatus": {"exitCode": 4_294_967_295_u32}}),
            ),
            (Given::Exit(exit), json!({"exitCode": 4_294_967_295_u32})),
            (Given::Exit(TerminalExit { code: None, signal: Some("9".to_owned()) }), json!({"signal": "9"})),
            (Given::Done, json!({})),
        ];
        for (what, expected) in rows {
            assert_eq!(given(what.clone()), expected, "{what:?}");
        }
    }
}
