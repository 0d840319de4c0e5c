//! How a session comes to be open: made, adopted from the folder's last one, or loaded by id.
//!
//! Answers nothing and tells nothing; it only finds out what there is.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use session_model::source::IdKind;
use session_model::{Entry, SessionId};
use session_store::{Lease, SessionMeta, StoreError, StoredSession};

use crate::command::OpenSession;
use crate::error::ServerError;
use crate::session::{Opening, Shared};

/// A session that may be shown.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) meta: SessionMeta,
    pub(crate) entries: Vec<Entry>,
    pub(crate) damaged: usize,
    /// Whether `session/new` took an earlier conversation up again.
    pub(crate) adopted: bool,
    /// `None` when the session could not be stored; it lives in memory then.
    pub(crate) lease: Option<Lease>,
    /// Why it could not.
    pub(crate) unstored: Option<StoreError>,
}

/// Opens a session.
pub(crate) async fn open(shared: &Shared, opening: &Opening) -> Result<Opened, ServerError> {
    match opening {
        Opening::New { request, adopt } => {
            let cwd = directory(shared, "cwd", &request.cwd).await?;
            let roots = directories(shared, &request.additional_directories).await?;
            if let Some(closed) = adopt.as_ref()
                && let Some(opened) = adopted(shared, &cwd, closed, &roots).await
            {
                return Ok(opened);
            }
            create(shared, cwd, roots).await
        }
        Opening::Stored(request) => stored(shared, request).await,
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

async fn directories(shared: &Shared, spelled: &[String]) -> Result<Vec<PathBuf>, ServerError> {
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

/// The folder's last session, unless it was closed earlier, is open elsewhere or cannot be read.
async fn adopted(
    shared: &Shared,
    cwd: &Path,
    closed: &HashSet<SessionId>,
    roots: &[PathBuf],
) -> Option<Opened> {
    let latest = shared.store.latest(cwd).await.ok()??;
    if closed.contains(&latest.id) {
        return None;
    }
    let lease = shared.store.lease(&latest.id).await.ok()?;
    let StoredSession { mut meta, entries, damaged } = shared.store.load(&latest.id).await.ok()?;
    roots.clone_into(&mut meta.additional_roots);
    Some(Opened { meta, entries, damaged, adopted: true, lease: Some(lease), unstored: None })
}

/// A new session. When it cannot be stored it is opened all the same, and the user is told.
async fn create(
    shared: &Shared,
    cwd: PathBuf,
    additional_roots: Vec<PathBuf>,
) -> Result<Opened, ServerError> {
    let now = shared.clock.now();
    let meta = SessionMeta {
        id: SessionId::from(shared.ids.fresh(IdKind::Session)),
        cwd,
        additional_roots,
        name: None,
        title: None,
        created_at: now,
        updated_at: now,
        grants: Vec::new(),
        options: serde_json::Map::new(),
    };
    let (lease, unstored) = match kept(shared, &meta).await {
        Ok(lease) => (Some(lease), None),
        Err(error) => (None, Some(error)),
    };
    Ok(Opened { meta, entries: Vec::new(), damaged: 0, adopted: false, lease, unstored })
}

/// Stores a new session. It is leased first: once it can be found, another process may take it for the folder's last.
async fn kept(shared: &Shared, meta: &SessionMeta) -> Result<Lease, StoreError> {
    let lease = shared.store.lease(&meta.id).await?;
    shared.store.create(meta.clone()).await?;
    Ok(lease)
}

async fn stored(shared: &Shared, request: &OpenSession) -> Result<Opened, ServerError> {
    let meta = shared.store.meta(&request.session).await?;
    same_directory(shared, &meta, &request.cwd).await?;
    let roots = directories(shared, &request.additional_directories).await?;
    let lease = shared.store.lease(&meta.id).await?;
    let StoredSession { mut meta, entries, damaged } = shared.store.load(&meta.id).await?;
    meta.additional_roots = roots;
    Ok(Opened { meta, entries, damaged, adopted: false, lease: Some(lease), unstored: None })
}

/// Whether the client means the session's own folder. A session whose folder is gone can still be opened under
/// the path it had.
pub(crate) async fn same_directory(
    shared: &Shared,
    meta: &SessionMeta,
    spelled: &str,
) -> Result<(), ServerError> {
    if Path::new(spelled) == meta.cwd {
        return Ok(());
    }
    let path = directory(shared, "cwd", spelled).await?;
    if path == meta.cwd {
        return Ok(());
    }
    let own = meta.cwd.display();
    Err(ServerError::InvalidParams(format!(
        "cwd: session {} belongs to `{own}`, not to `{spelled}`",
        meta.id
    )))
}
