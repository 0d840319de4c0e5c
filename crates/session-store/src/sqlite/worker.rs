//! The thread that owns the connection, and the queue in front of it.
//!
//! Writes that wait together are committed together: under load the cost of a commit is shared, and nobody is
//! answered before it. Knows nothing of what the jobs do.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::thread;

use rusqlite::{Connection, TransactionBehavior};
use tokio::sync::{mpsc, oneshot};

use super::connect;
use super::fault::Fault;
use super::index::{self, Step};
use crate::error::StoreError;

/// How many jobs may wait. Each session has at most one write under way, so this is more sessions than one
/// process has busy; beyond it callers wait, which slows their models and nothing else.
const QUEUE: usize = 256;
/// How many writes share a commit at most, so that the first of them is not kept waiting for long.
const GROUP: usize = 64;

/// After how many writes messages are indexed, when nothing waits: together they cost less than each alone.
const INDEX_EVERY: usize = 64;

type Reply<T> = oneshot::Sender<Result<T, StoreError>>;
type Write = Box<dyn FnOnce(&Connection) -> Result<(), Fault> + Send>;
type Read = Box<dyn FnOnce(Result<&Connection, Fault>) -> Option<Fault> + Send>;

enum Job {
    /// Nobody waits for it.
    Open,
    /// Answers by itself.
    Read(Read),
    /// Answered after the commit.
    Write(Write, Reply<()>),
}

/// The database of one path, opened by the first job.
pub(super) struct Database {
    path: PathBuf,
    queue: Mutex<Option<mpsc::Sender<Job>>>,
}

impl fmt::Debug for Database {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Database").field("path", &self.path).finish_non_exhaustive()
    }
}

impl Database {
    /// Touches nothing yet.
    pub(super) fn new(path: PathBuf) -> Self {
        Self { path, queue: Mutex::new(None) }
    }

    /// Where it is.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Begins to make the database ready for writing, without waiting. Trouble shows with the next job, which
    /// tries again.
    pub(super) fn open(&self) {
        if let Ok(queue) = self.queue() {
            // Where the queue is full the database is open.
            let _needless = queue.try_send(Job::Open);
        }
    }

    /// Changes the database; returns when the change is committed. Dropping the future does not undo it.
    pub(super) async fn write(
        &self,
        work: impl FnOnce(&Connection) -> Result<(), Fault> + Send + 'static,
    ) -> Result<(), StoreError> {
        let (reply, answer) = oneshot::channel();
        self.submit(Job::Write(Box::new(work), reply), answer).await
    }

    /// Looks into the database.
    pub(super) async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (reply, answer) = oneshot::channel();
        let path = self.path.clone();
        let job = move |conn: Result<&Connection, Fault>| {
            let (result, fault) = match conn.and_then(work) {
                Ok(value) => (Ok(value), None),
                Err(fault) => (Err(fault.tell(&path)), Some(fault)),
            };
            // Who asked may be gone.
            let _unclaimed = reply.send(result);
            fault
        };
        self.submit(Job::Read(Box::new(job)), answer).await
    }

    /// Takes a long look with a connection and a thread of its own, so that other jobs need not wait for it.
    pub(super) async fn aside<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, StoreError> {
        // So that the file exists and has all its tables.
        self.read(|_| Ok(())).await?;
        let (reply, answer) = oneshot::channel();
        let path = self.path.clone();
        let look = move || {
            let found = connect::aside(&path).and_then(|conn| work(&conn));
            // Who asked may be gone.
            let _unclaimed = reply.send(found.map_err(|fault| fault.tell(&path)));
        };
        let started = thread::Builder::new().name("session-search".to_owned()).spawn(look);
        started.map_err(|error: io::Error| Fault::Io(error).tell(&self.path))?;
        answer.await.map_err(|_| StoreError::Failed("the thread of a search has ended".to_owned()))?
    }

    async fn submit<T>(
        &self,
        job: Job,
        answer: oneshot::Receiver<Result<T, StoreError>>,
    ) -> Result<T, StoreError> {
        let ended = || StoreError::Failed("the thread of the session store has ended".to_owned());
        self.queue()?.send(job).await.map_err(|_| ended())?;
        answer.await.map_err(|_| ended())?
    }

    fn queue(&self) -> Result<mpsc::Sender<Job>, StoreError> {
        let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(open) = queue.as_ref().filter(|queue| !queue.is_closed()) {
            return Ok(open.clone());
        }
        let (tx, rx) = mpsc::channel(QUEUE);
        let path = self.path.clone();
        let started = thread::Builder::new().name("session-store".to_owned()).spawn(move || work(path, rx));
        started.map_err(|error: io::Error| Fault::Io(error).tell(&self.path))?;
        *queue = Some(tx.clone());
        Ok(tx)
    }
}

/// The thread: takes jobs in order until nobody can send any, then closes the database.
fn work(path: PathBuf, mut queue: mpsc::Receiver<Job>) {
    let mut file = OpenFile { path, open: None };
    let mut warming = false;
    // What an earlier process left is indexed after the first write.
    let mut writes = INDEX_EVERY;
    while let Some(first) = queue.blocking_recv() {
        let mut next = Some(first);
        let mut group = Vec::new();
        while let Some(job) = next.take() {
            match job {
                Job::Write(write, reply) => {
                    group.push((write, reply));
                    next = if group.len() < GROUP { queue.try_recv().ok() } else { None };
                }
                Job::Open => warming = file.opened_ahead(|_, _| Ok(())),
                Job::Read(read) => {
                    // Arrival order holds: what was asked for earlier is committed first.
                    file.commit(std::mem::take(&mut group));
                    file.look(read);
                }
            }
        }
        writes += group.len();
        let wrote = !group.is_empty();
        file.commit(group);
        // Whoever has asked for something meanwhile comes first.
        if warming && queue.is_empty() {
            file.opened_ahead(connect::begin_log);
            warming = false;
        }
        if wrote && writes > INDEX_EVERY {
            while queue.is_empty() && !queue.is_closed() {
                if !file.index() {
                    writes = 0;
                    break;
                }
            }
        }
    }
}

struct OpenFile {
    path: PathBuf,
    open: Option<(Connection, (u64, u64))>,
}

impl OpenFile {
    /// Opens the database where it is not open, and does `more` with it; whether that worked. Trouble shows again
    /// to the next who needs the database.
    fn opened_ahead(&mut self, more: fn(&mut Connection, &Path) -> Result<(), Fault>) -> bool {
        let path = self.path.clone();
        let opened = self.connection().and_then(|conn| more(conn, &path));
        if let Err(fault) = &opened {
            tracing::debug!(path = %path.display(), ?fault, "cannot be opened ahead of its first use");
            self.open = None;
        }
        opened.is_ok()
    }

    /// Indexes some messages; false when there are none left, or it cannot be done.
    fn index(&mut self) -> bool {
        let step = |conn: &mut Connection| {
            if !index::is_behind(conn)? {
                return Ok(false);
            }
            let tx = conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
            index::step(&tx, Step::SHORT)?;
            tx.commit()?;
            Ok(true)
        };
        self.connection().and_then(step).unwrap_or_else(|fault| {
            // A search tries again, and says more.
            tracing::debug!(path = %self.path.display(), ?fault, "messages cannot be indexed now");
            false
        })
    }

    fn look(&mut self, read: Read) {
        let fault = match self.connection() {
            Ok(conn) => read(Ok(conn)),
            Err(fault) => read(Err(fault)),
        };
        if fault.is_some_and(|fault| fault.spoils_connection()) {
            self.open = None;
        }
    }

    fn commit(&mut self, group: Vec<(Write, Reply<()>)>) {
        if group.is_empty() {
            return;
        }
        let (works, replies): (Vec<_>, Vec<_>) = group.into_iter().unzip();
        let results = match self.connection().and_then(|conn| together(conn, works)) {
            Ok(results) => results.into_iter().map(|r| r.map_err(|fault| fault.tell(&self.path))).collect(),
            Err(fault) => {
                if fault.spoils_connection() {
                    self.open = None;
                }
                vec![Err(fault.tell(&self.path)); replies.len()]
            }
        };
        for (reply, result) in replies.into_iter().zip(results) {
            // Who asked may be gone; the change stays.
            let _unclaimed = reply.send(result);
        }
    }

    /// The connection; opened, or opened again after a failure or when the file is another one now: what is
    /// written into a removed file would be lost.
    fn connection(&mut self) -> Result<&mut Connection, Fault> {
        let current = match self.open.take() {
            Some((conn, file)) if connect::identity(&self.path).is_ok_and(|now| now == file) => (conn, file),
            Some(_) | None => {
                let conn = connect::connect(&self.path)?;
                (conn, connect::identity(&self.path)?)
            }
        };
        Ok(&mut self.open.insert(current).0)
    }
}

/// Does all the writes in one transaction. One that fails is undone alone, unless the database gave up the whole.
fn together(conn: &mut Connection, works: Vec<Write>) -> Result<Vec<Result<(), Fault>>, Fault> {
    let mut tx = conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let mut results = Vec::with_capacity(works.len());
    for work in works {
        let savepoint = tx.savepoint()?;
        let result = work(&savepoint);
        match result {
            Ok(()) => savepoint.commit()?,
            Err(fault) if fault.spoils_connection() => return Err(fault),
            Err(_) => savepoint.finish()?,
        }
        results.push(result);
    }
    tx.commit()?;
    Ok(results)
}

#[cfg(test)]
mod tests {
    use super::{Database, Fault, OpenFile, Write, connect};
    use crate::error::StoreError;

    fn blob(bytes: usize) -> Write {
        Box::new(move |conn| {
            conn.execute("CREATE TABLE IF NOT EXISTS filler (b BLOB)", [])?;
            conn.execute("INSERT INTO filler VALUES (zeroblob(?1))", [i64::try_from(bytes).unwrap()])?;
            Ok(())
        })
    }

    fn commit(file: &mut OpenFile, writes: Vec<Write>) -> Vec<Result<(), StoreError>> {
        let (replies, mut answers): (Vec<_>, Vec<_>) =
            writes.iter().map(|_| tokio::sync::oneshot::channel()).unzip();
        file.commit(writes.into_iter().zip(replies).collect());
        answers.iter_mut().map(|answer| answer.try_recv().unwrap()).collect()
    }

    #[test]
    fn a_full_disk_refuses_the_whole_group_clearly_and_the_next_one_works() {
        let folder = tempfile::tempdir().unwrap();
        let mut file = OpenFile { path: folder.path().join("s.db"), open: None };
        assert_eq!(commit(&mut file, vec![blob(10)]), [Ok(())]);
        // The page limit is SQLite's own way to run full; it is the connection's, so the reopened one has none.
        let conn = file.connection().unwrap();
        let pages: i64 = conn.query_row("PRAGMA page_count", [], |row| row.get(0)).unwrap();
        conn.query_row(&format!("PRAGMA max_page_count = {}", pages + 1), [], |_| Ok(())).unwrap();
        for refused in commit(&mut file, vec![blob(10), blob(1 << 20), blob(10)]) {
            let told = refused.unwrap_err().to_string();
            assert!(told.contains("the disk is full; free some space"), "{told}");
        }
        assert_eq!(commit(&mut file, vec![blob(1 << 20)]), [Ok(())]);
        let conn = connect::connect(&file.path).unwrap();
        let rows: i64 = conn.query_row("SELECT count(*) FROM filler", [], |row| row.get(0)).unwrap();
        assert_eq!(rows, 2);
    }

    #[test]
    fn a_refused_write_does_not_harm_those_committed_with_it() {
        let folder = tempfile::tempdir().unwrap();
        let mut file = OpenFile { path: folder.path().join("s.db"), open: None };
        let refused: Write = Box::new(|conn| {
            conn.execute("INSERT INTO filler VALUES ('undone')", [])?;
            Err(Fault::Store(StoreError::Failed("no".to_owned())))
        });
        let results = commit(&mut file, vec![blob(1), refused, blob(1)]);
        assert_eq!(results, [Ok(()), Err(StoreError::Failed("no".to_owned())), Ok(())]);
        let count = "SELECT count(*) FROM filler";
        let rows: i64 = file.connection().unwrap().query_row(count, [], |row| row.get(0)).unwrap();
        assert_eq!(rows, 2);
    }

    #[tokio::test]
    async fn a_job_that_panics_fails_alone_and_the_next_one_starts_a_new_thread() {
        let folder = tempfile::tempdir().unwrap();
        let database = Database::new(folder.path().join("s.db"));
        let lost = database.read(|_| -> Result<(), Fault> { panic!("a bug in a job") }).await;
        assert!(matches!(lost, Err(StoreError::Failed(_))), "{lost:?}");
        // Until the dead thread's queue is seen closed a job may still be refused.
        while database.read(|_| Ok(())).await.is_err() {}
        assert_eq!(database.read(|_| Ok(7)).await, Ok(7));
    }
}
