//! `grep`: searches files by regular expression with ripgrep's own parts, under the rules of `.gitignore`.

use async_trait::async_trait;
use globset::{GlobBuilder, GlobMatcher};
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use serde_json::{Map, Value, json};
use session_model::ToolKind;

use super::search::{Search, run};
use super::support::{blocking, output, path_of, spec, title};
use super::{Args, CallPlan, Place, Tool, ToolCx, ToolOutput, ToolSpec, Workspace};

/// Context lines on each side at most.
const MAX_CONTEXT: u64 = 20;

/// The tool.
#[derive(Debug)]
pub(crate) struct Grep(ToolSpec);

impl Grep {
    pub(crate) fn new() -> Self {
        Self(spec(
            "grep",
            ToolKind::Search,
            true,
            "Searches a file, or all files below a folder, for a regular expression (Rust syntax: `a|b`, `\\d`, \
             `\\bword\\b`). Shows path, line number and line. Skips binary files, .git and what .gitignore names.",
            json!({
                "type": "object",
                "properties": {
                    "pattern": {"type": "string", "description": "The regular expression."},
                    "path": {"type": "string", "description": "A file or folder; the working directory when absent."},
                    "recursive": {"type": "boolean", "description": "Whether folders below are searched; true when absent."},
                    "glob": {"type": "string", "description": "Only files like this: `*.rs`, `src/**/*.{ts,tsx}`; `!*.md` for all others."},
                    "ignore_case": {"type": "boolean", "description": "Whether capitals and small letters are the same."},
                    "literal": {"type": "boolean", "description": "Whether the pattern is plain text."},
                    "context": {"type": "integer", "minimum": 0, "description": "Lines shown before and after each match."},
                    "include_ignored": {"type": "boolean", "description": "Whether files that .gitignore names are searched too."}
                },
                "required": ["pattern"]
            }),
        ))
    }
}

#[async_trait]
impl Tool for Grep {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    async fn plan(&self, args: &Map<String, Value>, workspace: &Workspace) -> Result<CallPlan, String> {
        let args = Args::new(args);
        let (path, pattern) = (path_of(args, Some("."))?, args.string("pattern")?);
        search(args)?;
        let workspace = workspace.clone();
        blocking(move || {
            let place = Place::resolve(&workspace, &path)?;
            Ok(CallPlan {
                title: title("grep", &format!("{pattern} in {}", place.label(&workspace))),
                locations: vec![place.location(None)],
                approval: place.read_approval(),
                preview: Vec::new(),
            })
        })
        .await
    }

    async fn run(&self, args: Map<String, Value>, cx: ToolCx) -> ToolOutput {
        output(
            blocking(move || {
                let args = Args::new(&args);
                let place = Place::resolve_planned(&cx, &path_of(args, Some("."))?)?;
                run(&search(args)?, &place, &cx).map(ToolOutput::ok)
            })
            .await,
        )
    }
}

fn search(args: Args<'_>) -> Result<Search, String> {
    let context = args.optional_count("context")?.unwrap_or(0).min(MAX_CONTEXT);
    Ok(Search {
        matcher: matcher(args)?,
        glob: args
            .optional_string("glob")?
            .filter(|glob| !glob.is_empty())
            .map(|glob| Glob::of(&glob))
            .transpose()?,
        recursive: args.flag("recursive", true)?,
        include_ignored: args.flag("include_ignored", false)?,
        context: usize::try_from(context).unwrap_or(0),
    })
}

fn matcher(args: Args<'_>) -> Result<RegexMatcher, String> {
    let pattern = args.string("pattern")?;
    if pattern.is_empty() {
        return Err("`pattern` is empty".to_owned());
    }
    let literal = args.flag("literal", false)?;
    let mut builder = RegexMatcherBuilder::new();
    builder.case_insensitive(args.flag("ignore_case", false)?).fixed_strings(literal);
    builder.crlf(true);
    builder.build(&pattern).map_err(|error| {
        if pattern.contains('\n') {
            return "`pattern` contains a line end; the search goes line by line".to_owned();
        }
        format!("`pattern` is no regular expression: {error}\nSet `literal` to search for it as plain text.")
    })
}

/// Which files are meant.
#[derive(Debug)]
pub(crate) struct Glob {
    matcher: GlobMatcher,
    negated: bool,
    whole_path: bool,
}

impl Glob {
    /// A pattern as it is written.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(crate) fn of(text: &str) -> Result<Self, String> {
        let (negated, bare) = match text.strip_prefix('!') {
            Some(bare) => (true, bare),
            None => (false, text),
        };
        let bare = bare.trim_start_matches("./");
        let whole_path = bare.contains('/');
        let glob = GlobBuilder::new(bare.trim_start_matches('/'))
            .literal_separator(true)
            .build()
            .map_err(|error| format!("{text} is no file pattern: {error}"))?;
        Ok(Self { matcher: glob.compile_matcher(), negated, whole_path })
    }

    /// Judges a file by its path below the searched folder, or by its name when the pattern has no slash.
    pub(crate) fn admits(&self, below: &std::path::Path) -> bool {
        let judged = if self.whole_path { Some(below.as_os_str()) } else { below.file_name() };
        judged.is_some_and(|judged| self.matcher.is_match(judged)) != self.negated
    }
}
