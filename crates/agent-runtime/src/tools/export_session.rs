//! `export_session`: this conversation as a new file, in words or as JSON.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use serde_json::{Map, Value, json};
use session_model::{SessionId, ToolKind};

use super::support::{blocking, explain, output, spec, title};
use super::{Args, CallPlan, Place, Tool, ToolCx, ToolOutput, ToolSpec, Workspace, anchored};

const NAME: &str = "export_session";

/// How a conversation is written down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// For people.
    Text,
    /// For programs.
    Json,
}

/// Where conversations are kept.
#[async_trait]
pub trait Transcripts: fmt::Debug + Send + Sync + 'static {
    /// All that is kept of a conversation, in this form.
    ///
    /// # Errors
    /// A sentence for the model.
    async fn document(&self, session: &SessionId, form: Form) -> Result<String, String>;
}

/// The tool.
#[derive(Debug)]
pub struct ExportSession {
    spec: ToolSpec,
    transcripts: Arc<dyn Transcripts>,
}

impl ExportSession {
    /// Writes out what `transcripts` keep.
    #[must_use]
    pub fn new(transcripts: Arc<dyn Transcripts>) -> Self {
        let description = "Writes this whole conversation, as far as it is finished, into a new file. Only when the \
                           user wants one.";
        let parameters = json!({
            "type": "object",
            "properties": {
                "format": {"type": "string", "enum": ["text", "json"], "description": "Default: text."},
                "output_path": {"type": "string", "description": "The new file. Default: milk-session.txt or .json in the working directory."}
            },
            "required": []
        });
        Self { spec: spec(NAME, ToolKind::Edit, false, description, parameters), transcripts }
    }
}

/// What a call asks for.
struct Wanted {
    form: Form,
    path: String,
}

fn wanted(args: &Map<String, Value>) -> Result<Wanted, String> {
    let args = Args::new(args);
    let (form, usual) = match args.optional_string("format")?.as_deref().map(str::trim) {
        None | Some("" | "text") => (Form::Text, "milk-session.txt"),
        Some("json") => (Form::Json, "milk-session.json"),
        Some(other) => return Err(format!("`format` is `text` or `json`, not `{other}`")),
    };
    let path = args.optional_string("output_path")?.filter(|path| !path.trim().is_empty());
    Ok(Wanted { form, path: path.unwrap_or_else(|| usual.to_owned()) })
}

/// A file that is there may be anything, and what is written is long: it is never replaced.
fn check_is_new(place: &Place, label: &str) -> Result<(), String> {
    if place.as_folder || place.real.symlink_metadata().is_ok() {
        return Err(format!("{label} exists already; give another name"));
    }
    Ok(())
}

#[async_trait]
impl Tool for ExportSession {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn plan(&self, args: &Map<String, Value>, workspace: &Workspace) -> Result<CallPlan, String> {
        let (Wanted { path, .. }, workspace) = (wanted(args)?, workspace.clone());
        blocking(move || {
            let place = Place::resolve(&workspace, &path)?;
            let label = place.label(&workspace);
            if place.inside {
                check_is_new(&place, &label)?;
            }
            Ok(CallPlan {
                title: title(NAME, &label),
                locations: vec![place.location(None)],
                approval: place.write_approval("Write this conversation to"),
                preview: Vec::new(),
            })
        })
        .await
    }

    async fn run(&self, args: Map<String, Value>, cx: ToolCx) -> ToolOutput {
        output(self.export(&args, cx).await)
    }
}

impl ExportSession {
    async fn export(&self, args: &Map<String, Value>, cx: ToolCx) -> Result<ToolOutput, String> {
        let Wanted { form, path } = wanted(args)?;
        let Some((session, _)) = &cx.turn else {
            return Err("there is no conversation here that could be written out".to_owned());
        };
        let document = self.transcripts.document(session, form).await?;
        let place = Place::found_again(&cx, &path).await?;
        blocking(move || {
            let label = place.label(&cx.workspace);
            check_is_new(&place, &label)?;
            if cx.cancel.is_cancelled() {
                return Err("cancelled before anything was written".to_owned());
            }
            anchored::replace(&place, document.as_bytes())
                .map_err(|error| format!("nothing was written: {}", explain(&label, &error)))?;
            Ok(ToolOutput::ok(format!("wrote {} bytes to {label}", document.len())))
        })
        .await
    }
}
