//! `apply_patch`: changes of several files in one call, in the form that some model families are trained on. Everything
//! is prepared before the first file is touched; the files themselves are then written one by one.

use std::io;

use async_trait::async_trait;
use serde_json::{Map, Value, json};
use session_model::{FileChange, FileOp, ToolKind};

use super::edit_file::{BOM, read};
use super::patch::{self, Deed, Hunk, Section};
use super::support::{blocking, explain, output, show_change, spec, title};
use super::{
    Approval, ApprovalAsk, Args, CallPlan, Place, Tool, ToolCx, ToolOutput, ToolSpec, Workspace, anchored,
};
use crate::host::FileUse;

/// The tool.
#[derive(Debug)]
pub(crate) struct ApplyPatch(ToolSpec);

impl ApplyPatch {
    pub(crate) fn new() -> Self {
        Self(spec(
            "apply_patch",
            ToolKind::Edit,
            false,
            "Adds, changes, moves and deletes files by one patch:\n\
             *** Begin Patch\n*** Update File: <path>\n*** Move to: <new path>\n@@ <a line above the change>\n \
             <unchanged line>\n-<old line>\n+<new line>\n*** Add File: <path>\n+<line>\n*** Delete File: <path>\n\
             *** End Patch\n\
             Hunks are found by their lines, not by numbers: give three unchanged lines around each change. Either \
             the whole patch fits or nothing is changed.",
            json!({
                "type": "object",
                "properties": {"patch": {"type": "string", "description": "The patch."}},
                "required": ["patch"]
            }),
        ))
    }
}

/// `patch`, or `input`, as other agents call it.
fn sections(args: &Map<String, Value>) -> Result<Vec<Section>, String> {
    let args = Args::new(args);
    let patch = match args.optional_string("patch")? {
        Some(patch) => patch,
        None => args.optional_string("input")?.ok_or("`patch` is missing: a string is expected")?,
    };
    patch::parse(&patch)
}

#[async_trait]
impl Tool for ApplyPatch {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    async fn plan(&self, args: &Map<String, Value>, workspace: &Workspace) -> Result<CallPlan, String> {
        let (sections, workspace) = (sections(args)?, workspace.clone());
        blocking(move || {
            let targets = Target::all(&sections, |path| Place::resolve(&workspace, path))?;
            let mut preview = Vec::new();
            for target in &targets {
                match target.prepare(&workspace) {
                    Ok(ready) => preview.push(show_change(ready.change)),
                    Err(reason) if target.inside() => return Err(reason),
                    // What is outside may not be told before the user allowed it; the run will say what is wrong.
                    Err(_) => {}
                }
            }
            let labels: Vec<_> = targets.iter().map(|target| target.place.label(&workspace)).collect();
            let places = targets.iter().flat_map(Target::places);
            Ok(CallPlan {
                title: title("apply_patch", &labels.join(", ")),
                locations: places.map(|place| place.location(None)).collect(),
                approval: approval(&targets),
                preview,
            })
        })
        .await
    }

    fn files(&self) -> FileUse {
        FileUse::Manages
    }

    async fn run(&self, args: Map<String, Value>, cx: ToolCx) -> ToolOutput {
        output(
            blocking(move || {
                let sections = sections(&args)?;
                let targets = Target::all(&sections, |path| Place::resolve_planned(&cx, path))?;
                // The files may have changed since the plan was shown, so everything is prepared anew.
                let ready: Result<Vec<_>, _> =
                    targets.iter().map(|target| target.prepare(&cx.workspace)).collect();
                let ready = ready.map_err(|reason| format!("nothing was changed: {reason}"))?;
                if cx.cancel.is_cancelled() {
                    return Err("cancelled before anything was changed".to_owned());
                }
                write(&targets, ready, &cx.workspace)
            })
            .await,
        )
    }
}

/// Writes file by file; what was done before a failure is told with it.
fn write(targets: &[Target<'_>], ready: Vec<Ready>, workspace: &Workspace) -> Result<ToolOutput, String> {
    let mut done = Vec::new();
    let mut output = ToolOutput::default();
    for (target, ready) in targets.iter().zip(ready) {
        let label = target.place.label(workspace);
        let written = target.write(&ready).map_err(|error| explain(&label, &error));
        if let Err(reason) = written {
            let before = if done.is_empty() { "nothing was changed".to_owned() } else { done.join(", ") };
            return Err(format!("{reason}; {before}"));
        }
        done.push(format!("{} {label}", ready.done));
        output.locations.push(target.result().location(ready.line));
        output.content.push(show_change(ready.change));
    }
    output.output = done.join(", ");
    Ok(output)
}

/// One section with the places it is about.
struct Target<'a> {
    section: &'a Section,
    place: Place,
    to: Option<Place>,
}

/// What is to be written.
struct Ready {
    change: FileChange,
    done: &'static str,
    line: Option<u32>,
}

impl<'a> Target<'a> {
    fn all(
        sections: &'a [Section],
        resolve: impl Fn(&str) -> Result<Place, String>,
    ) -> Result<Vec<Self>, String> {
        let target = |section: &'a Section| {
            let to = match &section.deed {
                Deed::Update { to: Some(to), .. } => Some(resolve(to)?),
                Deed::Update { to: None, .. } | Deed::Add(_) | Deed::Delete => None,
            };
            Ok(Self { section, place: resolve(&section.path)?, to })
        };
        let targets: Vec<Self> = sections.iter().map(target).collect::<Result<_, String>>()?;
        let mut seen: Vec<&Place> = Vec::new();
        for place in targets.iter().flat_map(Self::places) {
            if seen.iter().any(|other| other.real == place.real) {
                return Err(format!("{} is touched twice by one patch", place.shown.display()));
            }
            seen.push(place);
        }
        Ok(targets)
    }

    fn places(&self) -> impl Iterator<Item = &Place> {
        std::iter::once(&self.place).chain(&self.to)
    }

    fn inside(&self) -> bool {
        self.places().all(|place| place.inside)
    }

    /// Where the result is.
    fn result(&self) -> &Place {
        self.to.as_ref().unwrap_or(&self.place)
    }

    fn prepare(&self, workspace: &Workspace) -> Result<Ready, String> {
        let label = self.place.label(workspace);
        match &self.section.deed {
            Deed::Add(text) => {
                free(&self.place, &label)?;
                Ok(self.ready(FileOp::Add, None, Some(text.clone()), "created"))
            }
            Deed::Delete => {
                let before = read(&self.place, &label)?;
                Ok(self.ready(FileOp::Delete, Some(before), None, "deleted"))
            }
            Deed::Update { hunks, to: _ } => {
                let before = read(&self.place, &label)?;
                let (after, line) = patched(&before, hunks, &label)?;
                let (op, done) = match &self.to {
                    None => (FileOp::Modify, "updated"),
                    Some(to) => {
                        free(to, &to.label(workspace))?;
                        (FileOp::Move { from: self.place.shown.clone() }, "moved")
                    }
                };
                Ok(Ready { line, ..self.ready(op, Some(before), Some(after), done) })
            }
        }
    }

    fn ready(&self, op: FileOp, before: Option<String>, after: Option<String>, done: &'static str) -> Ready {
        let change = FileChange { path: self.result().shown.clone(), op, before, after };
        Ready { change, done, line: None }
    }

    fn write(&self, ready: &Ready) -> io::Result<()> {
        let FileChange { before, after, .. } = &ready.change;
        match (after, &self.to) {
            (None, _) => anchored::remove(&self.place),
            (Some(text), None) => anchored::replace(&self.place, text.as_bytes()).map(drop),
            (Some(text), Some(to)) => {
                // Changed where it is and then moved, a file keeps its mode.
                if before.as_ref() != Some(text) {
                    anchored::replace(&self.place, text.as_bytes())?;
                }
                match anchored::rename(&self.place, to) {
                    Err(error) if error.kind() == io::ErrorKind::CrossesDevices => {
                        anchored::replace(to, text.as_bytes())?;
                        anchored::remove(&self.place)
                    }
                    moved => moved,
                }
            }
        }
    }
}

fn patched(before: &str, hunks: &[Hunk], label: &str) -> Result<(String, Option<u32>), String> {
    if hunks.is_empty() {
        return Ok((before.to_owned(), None));
    }
    let (bom, text) = before.strip_prefix(BOM).map_or(("", before), |text| (BOM, text));
    let patched = patch::apply(text, hunks).map_err(|reason| format!("{label} is unchanged: {reason}"))?;
    Ok((format!("{bom}{}", patched.text), Some(patched.line)))
}

/// Whether a new file can be there.
fn free(place: &Place, label: &str) -> Result<(), String> {
    if place.real.symlink_metadata().is_ok() {
        return Err(format!("{label} exists already; use `*** Update File` to change it"));
    }
    if place.as_folder { Err(format!("{label} is a folder; name a file in it")) } else { Ok(()) }
}

/// The leave for everything together; what must be asked each time makes all of it so.
fn approval(targets: &[Target<'_>]) -> Approval {
    let mut all = ApprovalAsk { description: String::new(), scopes: Vec::new() };
    let mut once = false;
    for target in targets {
        let what = match (&target.section.deed, &target.to) {
            (Deed::Add(_), _) => "Create",
            (Deed::Delete, _) => "Delete",
            (Deed::Update { .. }, Some(_)) => "Move",
            (Deed::Update { .. }, None) => "Change",
        };
        let verbs = std::iter::once(what).chain(std::iter::repeat("To"));
        for (place, verb) in target.places().zip(verbs) {
            let Approval::Ask(ask) = place.write_approval(verb) else { continue };
            if !all.description.is_empty() {
                all.description.push('\n');
            }
            all.description.push_str(&ask.description);
            once |= ask.scopes.is_empty();
            for scope in ask.scopes {
                if !all.scopes.contains(&scope) {
                    all.scopes.push(scope);
                }
            }
        }
    }
    if once {
        all.scopes.clear();
    }
    Approval::Ask(all)
}
