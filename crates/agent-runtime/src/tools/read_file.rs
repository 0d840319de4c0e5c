//! `read_file`: a part of a text file, with line numbers. Reads only as much as it shows.

use std::fmt::Write as _;
use std::io::{self, BufRead, BufReader, Read};

use async_trait::async_trait;
use serde_json::{Map, Value, json};
use session_model::ToolKind;
use tokio_util::sync::CancellationToken;

use super::support::{blocking, explain, output, path_of, spec, title};
use super::{Args, CallPlan, Place, Tool, ToolCx, ToolOutput, ToolSpec, Workspace, anchored, client_files};
use crate::host::FileUse;

/// Lines shown when no limit is given.
const DEFAULT_LINES: u64 = 500;
/// Bytes shown in one answer, so that no file fills a model's window.
pub(super) const MAX_SHOWN_BYTES: usize = 64 * 1024;
/// Bytes shown of one line (minified code, data).
const MAX_LINE_BYTES: usize = 4096;
/// Bytes at the beginning that decide whether this is text.
const SNIFFED_BYTES: usize = 8192;

/// The tool.
#[derive(Debug)]
pub(crate) struct ReadFile(ToolSpec);

impl ReadFile {
    pub(crate) fn new() -> Self {
        Self(spec(
            "read_file",
            ToolKind::Read,
            true,
            "Reads a text file. Every line comes as its number, a tab and its text. Shows at most 500 lines \
             unless `limit` says otherwise, and says how to go on.",
            json!({
                "type": "object",
                "properties": {
                    "path": {"type": "string", "description": "The file, absolute or relative to the working directory."},
                    "offset": {"type": "integer", "minimum": 0, "description": "How many lines to skip."},
                    "limit": {"type": "integer", "minimum": 1, "description": "How many lines to show."}
                },
                "required": ["path"]
            }),
        ))
    }
}

#[async_trait]
impl Tool for ReadFile {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    async fn plan(&self, args: &Map<String, Value>, workspace: &Workspace) -> Result<CallPlan, String> {
        let args = Args::new(args);
        let (path, window) = (path_of(args, None)?, Window::of(args)?);
        let workspace = workspace.clone();
        blocking(move || {
            let place = Place::resolve(&workspace, &path)?;
            let line = (window.offset > 0).then(|| u32::try_from(window.offset + 1).unwrap_or(u32::MAX));
            Ok(CallPlan {
                title: title("read_file", &(place.label(&workspace) + &window.label())),
                locations: vec![place.location(line)],
                approval: place.read_approval(),
                preview: Vec::new(),
            })
        })
        .await
    }

    async fn run(&self, args: Map<String, Value>, cx: ToolCx) -> ToolOutput {
        output(read(&args, cx).await)
    }

    fn files(&self) -> FileUse {
        FileUse::Reads
    }
}

async fn read(args: &Map<String, Value>, cx: ToolCx) -> Result<ToolOutput, String> {
    let args = Args::new(args);
    let (path, window) = (path_of(args, None)?, Window::of(args)?);
    let place = Place::found_again(&cx, &path).await?;
    show_place(&cx, place, window, MAX_SHOWN_BYTES).await.map(ToolOutput::ok)
}

/// The lines of the file at `place` that `window` names, as the client has it or as it is on the disk.
pub(super) async fn show_place(
    cx: &ToolCx,
    place: Place,
    window: Window,
    most: usize,
) -> Result<String, String> {
    let label = place.label(&cx.workspace);
    if cx.workspace.host.has_file(&place.shown) {
        let text = client_files::read_in(cx, &place, &label).await?;
        let size = text.len() as u64;
        return show((io::Cursor::new(text), size), &window, &label, most, &cx.cancel);
    }
    let cancel = cx.cancel.clone();
    blocking(move || {
        let failed = |error: io::Error| explain(&label, &error);
        let file = anchored::open_file(&place).map_err(failed)?;
        let size = file.metadata().map_err(failed)?.len();
        show((file, size), &window, &label, most, &cancel)
    })
    .await
}

/// Which lines.
#[derive(Debug, Clone, Copy)]
pub(super) struct Window {
    offset: u64,
    limit: Option<u64>,
}

impl Window {
    pub(super) fn of(args: Args<'_>) -> Result<Self, String> {
        let offset = args.optional_count("offset")?.unwrap_or(0).min(u64::MAX / 2);
        // 0 lines can only mean "no limit of mine".
        let limit = args.optional_count("limit")?.filter(|limit| *limit > 0);
        Ok(Self { offset, limit: limit.map(|limit| limit.min(u64::MAX / 2)) })
    }

    fn label(self) -> String {
        let first = self.offset + 1;
        match self.limit {
            Some(limit) => format!(" (lines {first}-{})", self.offset + limit),
            None if self.offset > 0 => format!(" (from line {first})"),
            None => String::new(),
        }
    }
}

/// What was seen on the way that the model should know.
#[derive(Debug, Default)]
struct Seen {
    invalid: bool,
    long: bool,
    crlf: bool,
}

/// The lines of a text of `size` bytes that `window` names, in about `most` bytes.
fn show<R: Read>(
    (text, size): (R, u64),
    window: &Window,
    label: &str,
    most: usize,
    cancel: &CancellationToken,
) -> Result<String, String> {
    let failed = |error: io::Error| explain(label, &error);
    let mut lines = Lines::open(text, label, size, cancel)?;
    for skipped in 0..window.offset {
        if lines.next(false).map_err(failed)?.is_none() {
            return Ok(format!("[{label} has {skipped} lines; offset {} is past its end]", window.offset));
        }
    }
    let limit = window.limit.unwrap_or(DEFAULT_LINES);
    let (mut shown, mut number, mut seen) = (String::new(), window.offset, Seen::default());
    while number - window.offset < limit && shown.len() < most {
        let Some(line) = lines.next(true).map_err(failed)? else { break };
        number += 1;
        push_line(&mut shown, number, &line, &mut seen);
    }
    let more = lines.more().map_err(failed)?;
    if number == window.offset {
        shown.push_str(if size == 0 { "[the file is empty]\n" } else { "[the file ends here]\n" });
    } else if more {
        let first = window.offset + 1;
        let note = format!(
            "[lines {first}-{number} of a file of {size} bytes; it goes on: continue with offset {number}]\n"
        );
        shown.push_str(&note);
    }
    seen.note(&mut shown);
    shown.truncate(shown.trim_end_matches('\n').len());
    Ok(shown)
}

fn push_line(shown: &mut String, number: u64, line: &Line, seen: &mut Seen) {
    let text = String::from_utf8_lossy(&line.kept);
    // A cut line may end inside a character: that is the cut's doing, not the file's.
    let cut = line.length > line.kept.len();
    seen.invalid |= std::str::from_utf8(&line.kept).is_err_and(|error| !cut || error.error_len().is_some());
    seen.crlf |= line.crlf;
    seen.long |= cut;
    // Writing to a string cannot fail.
    let _ = write!(shown, "{number}\t{}", if cut { text.trim_end_matches('\u{fffd}') } else { &text });
    if cut {
        let _ = write!(shown, "[… {} more bytes in this line]", line.length - line.kept.len());
    }
    shown.push('\n');
}

impl Seen {
    fn note(&self, shown: &mut String) {
        if self.crlf {
            shown.push_str("[lines end in CRLF; edit_file keeps that by itself]\n");
        }
        if self.invalid {
            shown.push_str("[some bytes are no UTF-8 and are shown as \u{fffd}]\n");
        }
        if self.long {
            shown.push_str("[long lines are cut; bash can show their rest]\n");
        }
    }
}

/// The lines of a text file, one at a time, each kept only up to a bound.
struct Lines<'a, R> {
    reader: BufReader<io::Chain<io::Cursor<Vec<u8>>, R>>,
    end: u8,
    cancel: &'a CancellationToken,
}

struct Line {
    kept: Vec<u8>,
    length: usize,
    crlf: bool,
}

impl<'a, R: Read> Lines<'a, R> {
    fn open(mut file: R, label: &str, size: u64, cancel: &'a CancellationToken) -> Result<Self, String> {
        let mut start = Vec::new();
        file.by_ref()
            .take(SNIFFED_BYTES as u64)
            .read_to_end(&mut start)
            .map_err(|error| explain(label, &error))?;
        if start.contains(&0) {
            return Err(refusal(label, size, &start));
        }
        if start.starts_with(b"\xEF\xBB\xBF") {
            start.drain(..3);
        }
        // Only a file that never uses a line feed ends its lines with a carriage return.
        let end = if start.contains(&b'\r') && !start.contains(&b'\n') { b'\r' } else { b'\n' };
        let reader = BufReader::with_capacity(64 * 1024, io::Cursor::new(start).chain(file));
        Ok(Self { reader, end, cancel })
    }

    fn more(&mut self) -> io::Result<bool> {
        self.reader.fill_buf().map(|rest| !rest.is_empty())
    }

    fn next(&mut self, keep: bool) -> io::Result<Option<Line>> {
        let mut line = Line { kept: Vec::new(), length: 0, crlf: false };
        let (mut any, mut last) = (false, 0);
        loop {
            if self.cancel.is_cancelled() {
                return Err(io::Error::other("cancelled"));
            }
            let rest = self.reader.fill_buf()?;
            if rest.is_empty() {
                return Ok(any.then_some(line));
            }
            any = true;
            let end = rest.iter().position(|byte| *byte == self.end);
            let part = &rest[..end.unwrap_or(rest.len())];
            if keep {
                let room = MAX_LINE_BYTES.saturating_sub(line.kept.len()).min(part.len());
                line.kept.extend_from_slice(&part[..room]);
            }
            line.length += part.len();
            last = part.last().copied().unwrap_or(last);
            let used = part.len() + usize::from(end.is_some());
            self.reader.consume(used);
            if end.is_some() {
                if self.end == b'\n' && last == b'\r' {
                    line.crlf = true;
                    line.length -= 1;
                    line.kept.truncate(line.length);
                }
                return Ok(Some(line));
            }
        }
    }
}

fn refusal(label: &str, size: u64, start: &[u8]) -> String {
    if start.starts_with(b"\xFF\xFE") || start.starts_with(b"\xFE\xFF") {
        return format!("{label} is UTF-16 text ({size} bytes); `iconv -f UTF-16 -t UTF-8` in bash shows it");
    }
    format!("{label} is a binary file ({size} bytes); `file`, `strings` or `xxd` in bash show what it holds")
}
