//! Between rows and values.

use std::path::Path;

use rusqlite::Row;
use rusqlite::types::ValueRef;
use serde::Serialize;
use serde::de::DeserializeOwned;
use session_model::{Entry, Item, TurnId};
use time::{OffsetDateTime, UtcOffset};

use super::fault::Fault;
use super::schema::ITEM_VERSION;
use crate::error::StoreError;
use crate::memory::stored_json;
use crate::meta::SessionMeta;

/// The columns [`session`] reads, in its order.
pub(super) const SESSION: &str = "id, cwd, roots, name, title, created_at, updated_at, grants, options, used";
/// The columns [`entry`] reads, in its order.
pub(super) const ENTRY: &str = "version, turn, at, json";

/// A session's row; `None` when it cannot be read. What is damaged only in its grants, options or counts loses those:
/// a question asked again is better than a conversation lost.
pub(super) fn session(row: &Row<'_>) -> Option<SessionMeta> {
    Some(SessionMeta {
        id: text(row, 0)?.into(),
        cwd: text(row, 1)?.into(),
        additional_roots: json_or_default(row, 2),
        name: text(row, 3).map(str::to_owned),
        title: text(row, 4).map(str::to_owned),
        created_at: moment(row, 5)?,
        updated_at: moment(row, 6)?,
        grants: json_or_default(row, 7),
        options: json_or_default(row, 8),
        usage: json_or_default(row, 9),
    })
}

/// An item's row; `None` when it is damaged or of a later version.
pub(super) fn entry(row: &Row<'_>) -> Option<Entry> {
    if row.get::<_, i64>(0).ok()? > ITEM_VERSION {
        return None;
    }
    let item = serde_json::from_str(text(row, 3)?).ok()?;
    Some(Entry { turn: TurnId::from(text(row, 1)?), at: moment(row, 2)?, item })
}

/// The turn an item's row belongs to; `None` when that cannot be read.
pub(super) fn turn(row: &Row<'_>) -> Option<TurnId> {
    text(row, 1).map(TurnId::from)
}

/// How many bytes an item's row has of JSON.
pub(super) fn size(row: &Row<'_>) -> usize {
    text(row, 3).map_or(0, str::len)
}

/// The word in the `kind` column.
pub(super) fn kind(item: &Item) -> &'static str {
    match item {
        Item::User { .. } => "user",
        Item::Agent { .. } => "agent",
        Item::Thought { .. } => "thought",
        Item::Tool { .. } => "tool",
        Item::Remark { .. } => "remark",
        Item::Compaction { .. } => "compaction",
        Item::TurnEnd { .. } => "turn_end",
    }
}

/// Nanoseconds since 1970; the column's range ends in 2262.
pub(super) fn nanos(at: OffsetDateTime) -> i64 {
    i64::try_from(at.unix_timestamp_nanos()).unwrap_or(if at.year() < 1970 { i64::MIN } else { i64::MAX })
}

/// As it stands in a text column.
pub(super) fn json<T: Serialize + ?Sized>(value: &T) -> Result<String, Fault> {
    Ok(stored_json(value)?)
}

/// A path as it stands in a text column.
pub(super) fn path(path: &Path) -> Result<String, Fault> {
    path.to_str().map(str::to_owned).ok_or_else(|| {
        let reason = format!("the folder's name is not valid Unicode: {}", path.display());
        Fault::Store(StoreError::Failed(reason))
    })
}

/// A number of rows.
pub(super) fn count(n: usize) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

/// A text column, where it is text.
pub(super) fn text<'a>(row: &'a Row<'_>, column: usize) -> Option<&'a str> {
    match row.get_ref(column).ok()? {
        ValueRef::Text(bytes) => std::str::from_utf8(bytes).ok(),
        ValueRef::Null | ValueRef::Integer(_) | ValueRef::Real(_) | ValueRef::Blob(_) => None,
    }
}

fn moment(row: &Row<'_>, column: usize) -> Option<OffsetDateTime> {
    let nanos: i64 = row.get(column).ok()?;
    OffsetDateTime::from_unix_timestamp_nanos(nanos.into()).ok().map(|at| at.to_offset(UtcOffset::UTC))
}

fn json_or_default<T: DeserializeOwned + Default>(row: &Row<'_>, column: usize) -> T {
    text(row, column).and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default()
}
