//! How a session comes to be shown: made, adopted from the folder's last one, or loaded by id.
//!
//! Answers nothing and tells nothing; it only finds out what there is.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Map, Value};
use session_model::source::IdKind;
use session_model::{Entry, Grant, MessageId, SessionId, SessionUsage};
use session_store::{Lease, ListQuery, SessionMeta, Span, StoreError, StoredWindow};
use tokio_util::sync::CancellationToken;

use crate::command::{OpenSession, Replay};
use crate::drivers::SessionDrivers;
use crate::error::ServerError;
use crate::session::{Opening, Shared, replay};
use crate::views::{Claim, Seat, ViewId};

/// A session that may be shown.
#[derive(Debug)]
pub(crate) struct Opened {
    /// The view's right to show it; names the session.
    pub(crate) claim: Claim,
    /// `None` when the session could not be stored; it lives in memory then.
    pub(crate) lease: Option<Lease>,
    pub(crate) cwd: PathBuf,
    pub(crate) additional_roots: Vec<PathBuf>,
    /// Its name, or its title.
    pub(crate) title: Option<String>,
    pub(crate) grants: Vec<Grant>,
    pub(crate) options: Map<String, Value>,
    /// What it consumed.
    pub(crate) usage: SessionUsage,
    pub(crate) past: Past,
    /// Whether `session/new` took an earlier conversation up again.
    pub(crate) adopted: bool,
    /// Why it could not be stored.
    pub(crate) unstored: Option<StoreError>,
}

/// What is at hand of a session's history.
#[derive(Debug, Default)]
pub(crate) struct Past {
    pub(crate) head: Vec<Entry>,
    pub(crate) tail: Vec<Entry>,
    /// How many turns are between the two.
    pub(crate) left_out: usize,
    /// How many messages of the user there are in all.
    pub(crate) turns: usize,
    /// How many items could not be read.
    pub(crate) damaged: usize,
    /// Every idempotency key with the message inserted under it.
    pub(crate) keys: Vec<(String, MessageId)>,
}

/// Where a fresh session begins.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    pub(crate) cwd: PathBuf,
    pub(crate) additional_roots: Vec<PathBuf>,
    pub(crate) name: Option<String>,
    pub(crate) options: Map<String, Value>,
}

impl Opened {
    fn stored(claim: Claim, lease: Lease, stored: StoredWindow) -> Self {
        let (meta, past) = Past::of(stored);
        Self {
            claim,
            lease: Some(lease),
            cwd: meta.cwd,
            additional_roots: meta.additional_roots,
            title: meta.name.or(meta.title),
            grants: meta.grants,
            options: meta.options,
            usage: meta.usage,
            past,
            adopted: false,
            unstored: None,
        }
    }
}

impl Past {
    /// A history apart from whose it is.
    pub(crate) fn of(stored: StoredWindow) -> (SessionMeta, Self) {
        let StoredWindow { meta, head, tail, left_out, turns, damaged, keys } = stored;
        (meta, Self { head, tail, left_out, turns, damaged, keys })
    }
}

/// Opens a session, and whoever answers in its folder.
pub(crate) async fn open(
    shared: &Shared,
    seat: &Seat,
    opening: Opening,
) -> Result<(Opened, Arc<dyn SessionDrivers>), ServerError> {
    match opening {
        Opening::New { request, adopt } => {
            let cwd = directory(shared, "cwd", &request.cwd).await?;
            let roots = directories(shared, &request.additional_directories).await?;
            let alone = seat.settle(&cwd);
            let place = Place { cwd, additional_roots: roots, name: None, options: Map::new() };
            let drivers = shared.drivers.open(&place.cwd);
            let adopt = adopt && alone && drivers.settings().resume;
            let earlier = if adopt { adopted(shared, seat, &place).await } else { None };
            let opened = match earlier {
                Some(opened) => opened,
                None => fresh(shared, seat.view(), place).await,
            };
            seat.answer_to(opened.claim.session());
            Ok((opened, drivers))
        }
        Opening::Stored { request, claim, after } => {
            let opened = stored(shared, &request, claim, after).await?;
            seat.settle(&opened.cwd);
            let drivers = shared.drivers.open(&opened.cwd);
            Ok((opened, drivers))
        }
    }
}

/// An existing folder by its identity, links resolved.
///
/// Relative is against the protocol, but clients in use send `.`; it starts at the process's folder.
pub(crate) async fn directory(shared: &Shared, field: &str, spelled: &str) -> Result<PathBuf, ServerError> {
    if spelled.is_empty() {
        return Err(ServerError::InvalidParams(format!(
            "{field}: is empty; send the folder's absolute path"
        )));
    }
    let path = PathBuf::from(spelled);
    if path.is_relative() {
        tracing::warn!(path = spelled, "{field} is relative; taken from the folder milk was started in");
    }
    let path = shared.base.join(path);
    // A folder on a dead network mount must not stop the other sessions.
    let found = tokio::task::spawn_blocking(move || {
        let path = path.canonicalize()?;
        Ok::<_, std::io::Error>((path.is_dir(), path))
    })
    .await;
    match found {
        Ok(Ok((true, path))) => Ok(path),
        Ok(Ok((false, _))) => {
            Err(ServerError::InvalidParams(format!("{field}: `{spelled}` is not a folder")))
        }
        Ok(Err(error)) => {
            Err(ServerError::InvalidParams(format!("{field}: cannot use the folder `{spelled}`: {error}")))
        }
        Err(error) => {
            Err(ServerError::InvalidParams(format!("{field}: cannot look at `{spelled}`: {error}")))
        }
    }
}

pub(crate) async fn directories(shared: &Shared, spelled: &[String]) -> Result<Vec<PathBuf>, ServerError> {
    let mut roots = Vec::with_capacity(spelled.len());
    for path in spelled {
        if Path::new(path).is_relative() {
            let text = format!("additionalDirectories: `{path}` is relative; send absolute paths");
            return Err(ServerError::InvalidParams(text));
        }
        roots.push(directory(shared, "additionalDirectories", path).await?);
    }
    Ok(roots)
}

/// How many sessions that were begun and never spoken in may hide the folder's last conversation.
const PASSED_OVER: usize = 50;

/// The folder's last conversation, unless it was closed earlier, is open elsewhere or cannot be read. Sessions that
/// nobody ever said anything in are passed over; where there is nothing else the last of them is used again.
async fn adopted(shared: &Shared, seat: &Seat, place: &Place) -> Option<Opened> {
    let query = ListQuery { cwd: Some(place.cwd.clone()), offset: 0, limit: PASSED_OVER };
    let mut sessions = shared.store.list(query).await.ok()?.sessions;
    let spoken = sessions.iter().position(|meta| meta.title.is_some() || meta.name.is_some());
    let latest = (!sessions.is_empty()).then(|| sessions.swap_remove(spoken.unwrap_or(0)))?;
    if shared.views.is_closed(&latest.id) {
        return None;
    }
    let (claim, after) = shared.views.claim(seat.view(), &latest.id).ok()?;
    let opened = reopen(shared, claim, after, Replay::Window).await.ok()?;
    Some(Opened { additional_roots: place.additional_roots.clone(), adopted: true, ..opened })
}

/// A new session. When it cannot be stored it is opened all the same, and the user is told.
pub(crate) async fn fresh(shared: &Shared, view: ViewId, place: Place) -> Opened {
    let now = shared.clock.now();
    let id = SessionId::from(shared.ids.fresh(IdKind::Session));
    let Place { cwd, additional_roots, name, options } = place;
    let meta = SessionMeta {
        id: id.clone(),
        cwd,
        additional_roots,
        name,
        title: None,
        created_at: now,
        updated_at: now,
        grants: Vec::new(),
        options,
        usage: SessionUsage::default(),
    };
    let (lease, unstored) = match kept(shared, &meta).await {
        Ok(lease) => (Some(lease), None),
        Err(error) => (None, Some(error)),
    };
    Opened {
        claim: shared.views.claim_new(view, &id),
        lease,
        cwd: meta.cwd,
        additional_roots: meta.additional_roots,
        title: meta.name,
        grants: Vec::new(),
        options: meta.options,
        usage: meta.usage,
        past: Past::default(),
        adopted: false,
        unstored,
    }
}

/// Stores a new session. It is leased first: once it can be found, another process may take it for the folder's last.
async fn kept(shared: &Shared, meta: &SessionMeta) -> Result<Lease, StoreError> {
    let lease = shared.store.lease(&meta.id).await?;
    shared.store.create(meta.clone()).await?;
    Ok(lease)
}

/// A stored session that was claimed, with what is shown of it.
pub(crate) async fn reopen(
    shared: &Shared,
    claim: Claim,
    after: Option<CancellationToken>,
    how: Replay,
) -> Result<Opened, StoreError> {
    if let Some(after) = after {
        after.cancelled().await;
    }
    let lease = shared.store.lease(claim.session()).await?;
    let stored = shared.store.window(claim.session(), span(how)).await?;
    Ok(Opened::stored(claim, lease, stored))
}

/// How much of a history has to be at hand.
pub(crate) fn span(how: Replay) -> Span {
    replay::window(how).map_or(Span { first_turns: 0, last_turns: 0 }, |window| window.span())
}

async fn stored(
    shared: &Shared,
    request: &OpenSession,
    claim: Claim,
    after: Option<CancellationToken>,
) -> Result<Opened, ServerError> {
    // A session that is still being closed may be there only once that is done.
    if let Some(after) = after {
        after.cancelled().await;
    }
    let meta = shared.store.meta(&request.session).await?;
    same_directory(shared, &meta.cwd, &meta.id, &request.cwd).await?;
    let additional_roots = directories(shared, &request.additional_directories).await?;
    let opened = reopen(shared, claim, None, request.replay).await?;
    Ok(Opened { additional_roots, ..opened })
}

/// Whether the client means the session's own folder. A session whose folder is gone can still be opened under
/// the path it had.
pub(crate) async fn same_directory(
    shared: &Shared,
    own: &Path,
    session: &SessionId,
    spelled: &str,
) -> Result<(), ServerError> {
    if Path::new(spelled) == own {
        return Ok(());
    }
    let path = directory(shared, "cwd", spelled).await?;
    if path == own {
        return Ok(());
    }
    let own = own.display();
    Err(ServerError::InvalidParams(format!("cwd: session {session} belongs to `{own}`, not to `{spelled}`")))
}
