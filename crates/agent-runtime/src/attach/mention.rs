//! `@path` in a prompt's text: files and folders of the session that exist become links, so that no agent has to guess
//! what is meant. Their text is not read here.

use std::collections::BTreeSet;
use std::path::PathBuf;

use reqwest::Url;
use session_model::{Content, ResourceLink, text_of};

use super::path_of;
use crate::tools::paths::Place;
use crate::tools::support::blocking;
use crate::tools::{Approval, Workspace};

/// The most mentions that are looked up: a pasted log may be full of them.
const MAX_MENTIONS: usize = 64;

/// Links to what the text mentions and the prompt does not link to already.
pub(super) async fn links(prompt: &[Content], workspace: &Workspace) -> Vec<ResourceLink> {
    let words = mentions(&text_of(prompt));
    if words.is_empty() {
        return Vec::new();
    }
    let known: Vec<PathBuf> = prompt
        .iter()
        .filter_map(|piece| match piece {
            Content::Link(link) => path_of(&link.uri),
            Content::Resource(resource) => path_of(&resource.uri),
            Content::Text { .. } | Content::Image { .. } | Content::Audio { .. } => None,
        })
        .collect();
    let workspace = workspace.clone();
    // A folder on a dead network mount must hold up nothing but this turn.
    let found = blocking(move || Ok(found(&words, &known, &workspace)));
    found.await.unwrap_or_default()
}

/// What follows an `@` that begins a word, in order.
fn mentions(text: &str) -> Vec<String> {
    let begins = |at: usize| {
        let before = text[..at].chars().next_back();
        before.is_none_or(|c| c.is_whitespace() || "([{<\"'`,;".contains(c))
    };
    let starts = text.match_indices('@').filter(|(at, _)| begins(*at));
    let words = starts.map(|(at, _)| {
        let rest = &text[at + 1..];
        match rest.strip_prefix('"').and_then(|quoted| quoted.split_once('"')) {
            Some((quoted, _)) => quoted,
            None => rest.split(char::is_whitespace).next().unwrap_or_default(),
        }
    });
    words.filter(|word| !word.is_empty()).take(MAX_MENTIONS).map(str::to_owned).collect()
}

fn found(words: &[String], known: &[PathBuf], workspace: &Workspace) -> Vec<ResourceLink> {
    let mut seen: BTreeSet<PathBuf> = known.iter().map(|path| workspace.cwd.join(path)).collect();
    let links = words.iter().filter_map(|word| {
        let bare = word.trim_end_matches(|c: char| ".,;:!?)]}>\"'`".contains(c));
        let (name, place) = [word.as_str(), bare].into_iter().find_map(|name| {
            let place = Place::resolve(workspace, name).ok()?;
            let open = place.inside && matches!(place.read_approval(), Approval::Free);
            (open && place.real.exists()).then_some((name, place))
        })?;
        let url = Url::from_file_path(&place.shown).ok()?;
        let description = place.real.is_dir().then(|| "a folder".to_owned());
        let is_new = seen.insert(place.shown);
        is_new.then(|| ResourceLink {
            uri: url.into(),
            name: name.to_owned(),
            description,
            ..ResourceLink::default()
        })
    });
    links.collect()
}
