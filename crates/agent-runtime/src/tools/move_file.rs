//! `move_file`: gives a file or link another name or folder.

use std::io;

use async_trait::async_trait;
use serde_json::{Map, Value, json};
use session_model::ToolKind;

use super::support::{blocking, explain, output, spec, title};
use super::{
    Approval, ApprovalAsk, Args, CallPlan, Place, Tool, ToolCx, ToolOutput, ToolSpec, Workspace, anchored,
};

/// The tool.
#[derive(Debug)]
pub(crate) struct MoveFile(ToolSpec);

impl MoveFile {
    pub(crate) fn new() -> Self {
        Self(spec(
            "move_file",
            ToolKind::Move,
            false,
            "Moves or renames one file. Missing folders are created; what exists is never replaced.",
            json!({
                "type": "object",
                "properties": {
                    "source": {"type": "string", "description": "The file, absolute or relative to the working directory."},
                    "destination": {"type": "string", "description": "Its new path, or an existing folder to move it into."}
                },
                "required": ["source", "destination"]
            }),
        ))
    }
}

struct Ends {
    from: Place,
    to: Place,
}

impl Ends {
    fn find(
        args: &Map<String, Value>,
        resolve: impl Fn(&str) -> Result<Place, String>,
    ) -> Result<Self, String> {
        let args = Args::new(args);
        let (source, destination) = (args.string("source")?, args.string("destination")?);
        let from = resolve(&source)?;
        let into = resolve(&destination);
        let to = match into {
            Ok(to) if !to.real.is_dir() && !to.as_folder => to,
            Ok(_) | Err(_) => {
                let name = from.real.file_name().map(|name| name.to_string_lossy().into_owned());
                let name = name.ok_or_else(|| format!("{source}: the path has to end in a name"))?;
                resolve(&format!("{}/{name}", destination.trim_end_matches('/')))?
            }
        };
        Ok(Self { from, to })
    }

    /// The leave for both ends. In a folder that steers programs, neither is for always.
    fn approval(&self) -> Approval {
        let (mut description, mut scopes) = (String::new(), Vec::new());
        let mut each_time = false;
        for (what, place) in [("Move", &self.from), ("to", &self.to)] {
            let Approval::Ask(ask) = place.write_approval(what) else { continue };
            description.push_str(if description.is_empty() { "" } else { "\n" });
            description.push_str(&ask.description);
            each_time |= ask.scopes.is_empty();
            for scope in ask.scopes {
                if !scopes.contains(&scope) {
                    scopes.push(scope);
                }
            }
        }
        if each_time {
            scopes.clear();
        }
        Approval::Ask(ApprovalAsk { description, scopes })
    }
}

#[async_trait]
impl Tool for MoveFile {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    async fn plan(&self, args: &Map<String, Value>, workspace: &Workspace) -> Result<CallPlan, String> {
        let (args, workspace) = (args.clone(), workspace.clone());
        blocking(move || {
            let ends = Ends::find(&args, |text| Place::resolve_entry(&workspace, text))?;
            let (from, to) = (ends.from.label(&workspace), ends.to.label(&workspace));
            if ends.from.inside {
                let found = ends.from.real.symlink_metadata().map_err(|error| explain(&from, &error))?;
                if found.is_dir() {
                    return Err(format!("{from} is a folder; `mv` moves folders"));
                }
            }
            Ok(CallPlan {
                title: title("move_file", &format!("{from} to {to}")),
                locations: vec![ends.from.location(None), ends.to.location(None)],
                approval: ends.approval(),
                preview: Vec::new(),
            })
        })
        .await
    }

    async fn run(&self, args: Map<String, Value>, cx: ToolCx) -> ToolOutput {
        output(
            blocking(move || {
                let Ends { from, to } = Ends::find(&args, |text| Place::resolve_planned_entry(&cx, text))?;
                let (source, target) = (from.label(&cx.workspace), to.label(&cx.workspace));
                if cx.cancel.is_cancelled() {
                    return Err("cancelled before anything was moved".to_owned());
                }
                anchored::move_entry(&from, &to).map_err(|error| {
                    let kind = error.kind();
                    let why = if kind == io::ErrorKind::AlreadyExists {
                        format!("{target} exists already")
                    } else if kind == io::ErrorKind::CrossesDevices {
                        "the two places are on different file systems; `mv` with bash copies".to_owned()
                    } else {
                        explain(&source, &error)
                    };
                    format!("nothing was moved: {why}")
                })?;
                let locations = vec![to.location(None)];
                Ok(ToolOutput { locations, ..ToolOutput::ok(format!("moved {source} to {target}")) })
            })
            .await,
        )
    }
}
