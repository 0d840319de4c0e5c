//! Bounds what one call may tell the model: the beginning and the end, and where the whole is. The built-in tools
//! bound themselves and say how to go on; this is for everything else, which may answer with megabytes.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use session_model::ToolCallId;

use crate::tools::ToolOutput;

/// The most that a result may tell, in bytes: a little more than the built-in tools ever do.
pub(super) const MAX_RESULT: usize = 80 * 1024;

/// What is told of a longer one.
const TOLD: usize = 24 * 1024;

/// `output`, with what is too long in it cut. The whole text goes into a file in `spill`, when there is such a folder.
pub(super) async fn bounded(mut output: ToolOutput, call: &ToolCallId, spill: Option<&Path>) -> ToolOutput {
    if let Some(error) = output.error.as_mut().filter(|error| error.len() > MAX_RESULT) {
        *error = cut(error, "");
    }
    if output.output.len() <= MAX_RESULT {
        return output;
    }
    let whole = std::mem::take(&mut output.output);
    let (whole, place) = match spill {
        Some(folder) => spilled(whole, folder.join(file_name(call))).await,
        None => (whole, None),
    };
    let way_on = match place {
        Some(path) => format!("; all of it is in {}, which read_file and grep can read", path.display()),
        None => "; ask for a smaller part".to_owned(),
    };
    output.output = cut(&whole, &way_on);
    output
}

fn cut(text: &str, way_on: &str) -> String {
    let head = text.floor_char_boundary(TOLD / 3 * 2);
    let tail = text.ceil_char_boundary(text.len() - TOLD / 3);
    let left_out = tail - head;
    format!("{}\n[… {left_out} bytes left out{way_on} …]\n{}", &text[..head], &text[tail..])
}

/// Ids are minted by whoever embeds the crate, and a name must not lead elsewhere.
fn file_name(call: &ToolCallId) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    format!("{}.txt", call.as_str().chars().take(80).map(plain).collect::<String>())
}

async fn spilled(whole: String, path: PathBuf) -> (String, Option<PathBuf>) {
    let work = move || {
        let written = write(&path, &whole);
        (whole, written.map(|()| path))
    };
    match tokio::task::spawn_blocking(work).await {
        Ok((whole, Ok(path))) => (whole, Some(path)),
        Ok((whole, Err(error))) => {
            tracing::warn!(%error, "a long result could not be put aside");
            (whole, None)
        }
        // The runtime is going down, and nobody will read it.
        Err(_) => (String::new(), None),
    }
}

/// Results may hold anything: only the user may read them.
fn write(path: &Path, text: &str) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        let mut builder = fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(folder)?;
    }
    fs::write(path, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn long() -> String {
        format!("begin\n{}é\nend", "那".repeat(MAX_RESULT))
    }

    #[tokio::test]
    async fn what_is_not_too_long_stays_as_it_is() {
        let output = ToolOutput { error: Some("e".to_owned()), ..ToolOutput::ok("x".repeat(MAX_RESULT)) };
        assert_eq!(bounded(output.clone(), &ToolCallId::from("c"), None).await, output);
    }

    #[tokio::test]
    async fn a_long_result_keeps_both_ends_and_says_what_is_missing() {
        let output = bounded(ToolOutput::ok(long()), &ToolCallId::from("c"), None).await.output;
        assert!(output.starts_with("begin\n那") && output.ends_with("那é\nend"));
        assert!(output.contains("bytes left out; ask for a smaller part …]"));
        assert!(output.len() < TOLD + 200, "{}", output.len());
        let failed = bounded(ToolOutput::failed(long()), &ToolCallId::from("c"), None).await;
        assert!(failed.error.unwrap().len() < TOLD + 200);
    }

    #[tokio::test]
    async fn the_whole_is_put_aside_where_the_call_alone_decides_the_name() {
        let folder = tempfile::tempdir().unwrap();
        let spill = folder.path().join("outputs");
        let call = ToolCallId::from("../../c 1");
        let output = bounded(ToolOutput::ok(long()), &call, Some(&spill)).await.output;
        let path = spill.join("______c_1.txt");
        assert_eq!(fs::read_to_string(&path).unwrap(), long());
        assert!(output.contains(&format!("all of it is in {}", path.display())), "{output:.300}");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            assert_eq!(fs::metadata(&spill).unwrap().permissions().mode() & 0o777, 0o700);
        }
    }

    #[tokio::test]
    async fn a_folder_that_cannot_be_made_costs_only_the_file() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let output = bounded(ToolOutput::ok(long()), &ToolCallId::from("c"), Some(file.path())).await.output;
        assert!(output.contains("ask for a smaller part"));
    }
}
