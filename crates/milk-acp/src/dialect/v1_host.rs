//! Words what a client of version 1 is to do in our place, and reads what came of it: text files as its editor has
//! them, and commands in its terminals. Version 2 has neither.

use acp_rpc::{RequestError, RpcError};
use acp_wire::v1;
use agent_runtime::host::{HostCall, HostError, NewTerminal, TerminalOutput};
use serde::Deserialize;
use serde_json::value::RawValue;
use session_model::{SessionId, TerminalExit, TerminalId};

use super::{HostAnswer, Outgoing};
use crate::error::NOT_FOUND;

/// The most of a client's error that is passed on, in bytes.
const MAX_MESSAGE: usize = 1024;

pub(super) fn word(session: &SessionId, call: &HostCall) -> Option<Outgoing> {
    let session = session.as_str();
    let terminal = |id: &TerminalId| v1::TerminalId::from(id.as_str());
    match call {
        HostCall::ReadFile { path } => {
            Outgoing::new("fs/read_text_file", &v1::ReadTextFileRequest::new(session, path.to_string_lossy()))
        }
        HostCall::WriteFile { path, text } => Outgoing::new(
            "fs/write_text_file",
            &v1::WriteTextFileRequest::new(session, path.to_string_lossy(), text.as_str()),
        ),
        HostCall::CreateTerminal(NewTerminal { program, args, env, cwd, output_bytes }) => Outgoing::new(
            "terminal/create",
            &v1::CreateTerminalRequest::new(session, program.as_str())
                .args(args.clone())
                .env(
                    env.iter()
                        .map(|(name, value)| v1::EnvVariable::new(name.as_str(), value.as_str()))
                        .collect::<Vec<_>>(),
                )
                .cwd(cwd.to_string_lossy().into_owned())
                .output_byte_limit(*output_bytes),
        ),
        HostCall::WaitForExit(id) => Outgoing::new(
            "terminal/wait_for_exit",
            &v1::WaitForTerminalExitRequest::new(session, terminal(id)),
        ),
        HostCall::TerminalOutput(id) => {
            Outgoing::new("terminal/output", &v1::TerminalOutputRequest::new(session, terminal(id)))
        }
        HostCall::KillTerminal(id) => {
            Outgoing::new("terminal/kill", &v1::KillTerminalRequest::new(session, terminal(id)))
        }
        HostCall::ReleaseTerminal(id) => {
            Outgoing::new("terminal/release", &v1::ReleaseTerminalRequest::new(session, terminal(id)))
        }
    }
}

/// Reads what came back. A write, a kill and a release are done whatever their result holds.
pub(super) fn read(
    call: &HostCall,
    outcome: Result<&RawValue, &RequestError>,
) -> Result<HostAnswer, HostError> {
    let result = outcome.map_err(failure)?;
    Ok(match call {
        HostCall::ReadFile { .. } => HostAnswer::Text(parse::<v1::ReadTextFileResponse>(result)?.content),
        HostCall::WriteFile { .. } | HostCall::KillTerminal(_) | HostCall::ReleaseTerminal(_) => {
            HostAnswer::Done
        }
        HostCall::CreateTerminal(_) => {
            let created = parse::<v1::CreateTerminalResponse>(result)?;
            HostAnswer::Terminal(TerminalId::from(created.terminal_id.as_str()))
        }
        HostCall::WaitForExit(_) => {
            let exited = parse::<v1::WaitForTerminalExitResponse>(result)?;
            HostAnswer::Exited(exit(exited.exit_code, exited.signal))
        }
        HostCall::TerminalOutput(_) => {
            let output = parse::<v1::TerminalOutputResponse>(result)?;
            let exit = output.exit_status.map(|status| exit(status.exit_code, status.signal));
            HostAnswer::Output(TerminalOutput { text: output.output, truncated: output.truncated, exit })
        }
    })
}

fn exit(code: Option<u32>, signal: Option<String>) -> TerminalExit {
    // Where exit codes have 32 bits, the upper half are the negative ones.
    TerminalExit { code: code.map(u32::cast_signed), signal }
}

fn parse<'a, T: Deserialize<'a>>(result: &'a RawValue) -> Result<T, HostError> {
    serde_json::from_str(result.get())
        .map_err(|error| HostError::Unanswered(format!("the client's answer was not understood: {error}")))
}

fn failure(error: &RequestError) -> HostError {
    let RequestError::Rpc(error) = error else { return HostError::Unanswered(error.to_string()) };
    let message = super::limit::head(&error.message, MAX_MESSAGE).to_owned();
    match error.code {
        NOT_FOUND => HostError::NotFound(message),
        RpcError::INVALID_REQUEST | RpcError::METHOD_NOT_FOUND | RpcError::INVALID_PARAMS => {
            HostError::Refused(message)
        }
        _ => HostError::Failed(message),
    }
}
