//! Text files for a program: read as they are, written whole.

use std::io::{self, BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Map, json};
use session_model::source::IdKind;
use session_model::{ToolCallId, ToolKind};

use super::{Refusal, Servant};
use crate::external::leave::Wish;
use crate::host::HostError;
use crate::tools::anchored;
use crate::tools::paths::Place;
use crate::tools::read_file::ReadFile;
use crate::tools::support::{blocking, explain};
use crate::tools::write_file::WriteFile;
use crate::tools::{Tool, client_files};

/// Bytes of one answer, so that no file fills a pipe.
const MAX_TEXT: usize = 16 * 1024 * 1024;

/// Which lines of a file are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Excerpt {
    /// The first one, from 1; from the beginning when absent.
    pub first: Option<u32>,
    /// How many at most; all when absent.
    pub count: Option<u32>,
}

impl Servant {
    /// The text of a file, as the client has it or as it is on the disk, line ends included.
    ///
    /// # Errors
    /// When the path is not absolute, or there is no such file, or it may not be read, or is no text.
    pub async fn read_text_file(
        &self,
        path: &str,
        excerpt: Excerpt,
        given: &[Wish],
    ) -> Result<String, Refusal> {
        absolute(path)?;
        let workspace = self.workspace();
        let tool: Arc<dyn Tool> = Arc::new(ReadFile::new());
        let args: Map<_, _> = [("path".to_owned(), json!(path))].into_iter().collect();
        let plan = tool.plan(&args, workspace).await.map_err(Refusal::Invalid)?;
        let given = self.is_given(given, path, is_read).await?;
        let row = self.settle(&tool, &args, (&plan, workspace), given).await?;
        let read = self.read(path, &plan, excerpt).await;
        if let Some(row) = row {
            match &read {
                Ok(text) => {
                    let output = crate::tools::ToolOutput::ok(format!("{} bytes", text.len()));
                    row.ended(&output).await?;
                }
                Err(refusal) => row.failed(&refusal.to_string()).await?,
            }
        }
        read
    }

    /// Whether leave that was given is for the file at `path`, for work of a sort that is enough.
    async fn is_given(
        &self,
        given: &[Wish],
        path: &str,
        enough: fn(ToolKind) -> bool,
    ) -> Result<bool, Refusal> {
        let given: Vec<PathBuf> =
            given.iter().filter(|wish| enough(wish.kind)).flat_map(|wish| wish.paths.clone()).collect();
        if given.is_empty() {
            return Ok(false);
        }
        let (path, workspace) = (path.to_owned(), self.workspace().clone());
        let look = move || {
            let real = |path: &str| Place::resolve(&workspace, path).map(|place| place.real);
            let wanted = real(&path)?;
            Ok(given.iter().any(|path| real(&path.to_string_lossy()).is_ok_and(|path| path == wanted)))
        };
        blocking(look).await.map_err(Refusal::Invalid)
    }

    async fn read(
        &self,
        path: &str,
        plan: &crate::tools::CallPlan,
        excerpt: Excerpt,
    ) -> Result<String, Refusal> {
        let workspace = self.workspace();
        let cancel = self.0.io.cancel_token().child_token();
        let call = ToolCallId::from("");
        let cx = self.context(call, workspace.clone(), cancel).for_plan(plan);
        let place = Place::found_again(&cx, path).await.map_err(Refusal::Failed)?;
        let label = place.label(workspace);
        if workspace.host.features().has_files() {
            let text = self.0.io.or_cancelled(workspace.host.read_file(&place.shown)).await?;
            return match text {
                Ok(text) => lines(io::Cursor::new(text), excerpt, &label),
                Err(error) if client_files::is_missing(&error, &place).await => Err(missing(&label)),
                Err(HostError::Interrupted) => Err(Refusal::Interrupted),
                Err(error) => Err(Refusal::Failed(format!("{label} was not read: the editor says: {error}"))),
            };
        }
        let opened = label.clone();
        let read = move || {
            Ok(match anchored::open_file(&place) {
                Ok(file) => lines(file, excerpt, &opened),
                Err(error) if error.kind() == io::ErrorKind::NotFound => Err(missing(&opened)),
                Err(error) => Err(Refusal::Failed(explain(&opened, &error))),
            })
        };
        self.0.io.or_cancelled(blocking(read)).await?.map_err(Refusal::Failed)?
    }

    /// Writes a whole file, as the client's or on the disk. Asked about like a call of `write_file`, unless `given` has leave
    /// for the file.
    ///
    /// # Errors
    /// When the path is not absolute, or it may not be written, or could not be.
    pub async fn write_text_file(&self, path: &str, text: String, given: &[Wish]) -> Result<(), Refusal> {
        absolute(path)?;
        let workspace = self.workspace();
        let tool: Arc<dyn Tool> = Arc::new(WriteFile::new());
        let args: Map<_, _> =
            [("path".to_owned(), json!(path)), ("content".to_owned(), json!(text))].into_iter().collect();
        let planning = self.0.io.or_cancelled(tool.plan(&args, workspace));
        let plan = planning.await?.map_err(Refusal::Failed)?;
        let given = self.is_given(given, path, is_written).await?;
        let row = self.settle(&tool, &args, (&plan, workspace), given).await?;
        let cancel = self.0.io.cancel_token().child_token();
        let call = row
            .as_ref()
            .map_or_else(|| ToolCallId::from(self.0.ids.fresh(IdKind::ToolCall)), |row| row.id().clone());
        let cx = self.context(call, workspace.clone(), cancel).for_plan(&plan);
        let output = tool.run(args, cx).await;
        if let Some(row) = row {
            row.ended(&output).await?;
        }
        match output.error {
            None => Ok(()),
            Some(_) if self.0.io.cancel_token().is_cancelled() => Err(Refusal::Interrupted),
            Some(error) => Err(Refusal::Failed(error)),
        }
    }
}

/// Whether leave for such work is leave to read the files it names.
fn is_read(kind: ToolKind) -> bool {
    is_written(kind) || matches!(kind, ToolKind::Read | ToolKind::Search)
}

/// Whether it is leave to write them.
fn is_written(kind: ToolKind) -> bool {
    matches!(kind, ToolKind::Edit | ToolKind::Delete | ToolKind::Move)
}

fn missing(label: &str) -> Refusal {
    Refusal::NotFound(format!("{label} does not exist"))
}

/// A path as the protocol wants it.
fn absolute(path: &str) -> Result<(), Refusal> {
    if Path::new(path).is_absolute() {
        return Ok(());
    }
    Err(Refusal::Invalid(format!("`path` must be absolute, and {path:?} is not")))
}

/// The lines that are wanted, as they are.
fn lines(text: impl io::Read, excerpt: Excerpt, label: &str) -> Result<String, Refusal> {
    let failed = |error: io::Error| Refusal::Failed(explain(label, &error));
    let mut reader = BufReader::with_capacity(64 * 1024, text);
    for _ in 1..excerpt.first.unwrap_or(1).max(1) {
        if reader.skip_until(b'\n').map_err(failed)? == 0 {
            return Ok(String::new());
        }
    }
    let mut bytes = Vec::new();
    let mut left = reader.take(MAX_TEXT as u64 + 1);
    match excerpt.count {
        None => {
            left.read_to_end(&mut bytes).map_err(failed)?;
        }
        Some(count) => {
            for _ in 0..count {
                if left.read_until(b'\n', &mut bytes).map_err(failed)? == 0 {
                    break;
                }
            }
        }
    }
    if bytes.len() > MAX_TEXT {
        return Err(Refusal::Failed(format!(
            "{label} has more than {MAX_TEXT} bytes; read it in parts, with `line` and `limit`"
        )));
    }
    String::from_utf8(bytes).map_err(|_| Refusal::Failed(format!("{label} is no text in UTF-8")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lines_asked_for_are_given_as_they_are() {
        let text = "one\r\ntwo\n\nfour";
        let rows = [
            (None, None, text),
            (Some(0), None, text),
            (Some(2), None, "two\n\nfour"),
            (Some(1), Some(1), "one\r\n"),
            (Some(2), Some(2), "two\n\n"),
            (Some(4), Some(9), "four"),
            (Some(5), None, ""),
            (Some(u32::MAX), Some(1), ""),
            (None, Some(0), ""),
        ];
        for (first, count, expected) in rows {
            let got = lines(text.as_bytes(), Excerpt { first, count }, "a");
            assert_eq!(got.as_deref(), Ok(expected), "{first:?} {count:?}");
        }
        assert!(matches!(lines(&b"\xff"[..], Excerpt::default(), "a"), Err(Refusal::Failed(_))));
        let long = vec![b'x'; MAX_TEXT + 1];
        assert!(matches!(lines(&long[..], Excerpt::default(), "a"), Err(Refusal::Failed(_))));
    }
}
