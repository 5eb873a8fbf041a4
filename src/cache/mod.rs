//! Derived values across runs, in `.kb/cache.sqlite`.
//!
//! Two kinds of rows. The **last state** of every file (stamp, fingerprint, what was derived) in a
//! fixed number of buckets, so that a run reads it in one sweep and rewrites only the buckets that
//! moved. And **traces** keyed by content, which outlive the last state: a checkout back, a copied
//! or moved tree hits them. Keys hold no time and no absolute path.
//!
//! The cache changes no result, only time: whatever is wrong with it, the answer is to do without
//! and say so once. It is not a source of truth, and nothing here decides a verdict.

pub mod entries;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, OptionalExtension, TransactionBehavior, params};
use serde::{Serialize, de::DeserializeOwned};

use kbc_queries::system::Fingerprint;

/// Version of the tables and of everything stored in them. A cache of another version is rebuilt.
const SCHEMA: i64 = 4;

/// Buckets of the last state. More buckets make a small change cheaper to record, and a full
/// read dearer.
pub const BUCKETS: u32 = 64;

/// Traces kept before the oldest are dropped, as a multiple of the files in the project.
const TRACES_PER_FILE: u64 = 6;

/// What became of opening the cache.
pub enum Opened {
    /// It was there, or was made.
    Ready(Cache),
    /// It was damaged or of another version; an empty one is in its place.
    Rebuilt(Cache, String),
    /// There can be none (a read-only directory, say): the run goes on without.
    Unavailable(String),
}

/// The cache of one project.
pub struct Cache {
    connection: Connection,
}

/// Where a bucket's rows belong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Table {
    /// Sources.
    Sources,
    /// Cards.
    Cards,
    /// Other tracked files.
    Others,
}

impl Table {
    fn number(self) -> u32 {
        match self {
            Table::Sources => 0,
            Table::Cards => 1,
            Table::Others => 2,
        }
    }
}

/// The bucket of a path.
pub fn bucket_of(path: &str) -> u32 {
    // FNV-1a: small, stable, and only a spread.
    let mut hash: u32 = 0x811c_9dc5;
    for byte in path.bytes() {
        hash ^= u32::from(byte);
        hash = hash.wrapping_mul(0x0100_0193);
    }
    hash % BUCKETS
}

/// A trace to be recorded.
pub enum Trace {
    /// As bytes.
    Bytes(Vec<u8>),
    /// Variants of a card's verdict, which become bytes only when they are written: a cold run of
    /// a large deck would hold them all twice.
    Cards(Vec<Arc<entries::CardEntry>>),
}

/// Everything a run wants recorded, written in one transaction.
#[derive(Default)]
pub struct Changes {
    /// New contents of buckets.
    pub buckets: Vec<(Table, u32, Vec<u8>)>,
    /// New traces.
    pub traces: Vec<(Fingerprint, Trace)>,
    /// Named values.
    pub values: Vec<(&'static str, Vec<u8>)>,
    /// Files in the project, for the bound on traces.
    pub files: u64,
}

impl Changes {
    /// Whether there is nothing to record.
    pub fn is_empty(&self) -> bool {
        self.buckets.is_empty() && self.traces.is_empty() && self.values.is_empty()
    }
}

/// The directory of derived state below a project's root.
pub fn directory(root: &Path) -> PathBuf {
    root.join(".kb")
}

/// The cache file below a project's root.
pub fn file(root: &Path) -> PathBuf {
    directory(root).join("cache.sqlite")
}

/// Makes `.kb/` with a `.gitignore` of its own, so that it is never committed.
pub fn prepare_directory(root: &Path) -> std::io::Result<()> {
    let directory = directory(root);
    if !directory.is_dir() {
        fs::create_dir_all(&directory)?;
    }
    for (name, text) in [
        (".gitignore", "*\n"),
        (
            "CACHEDIR.TAG",
            "Signature: 8a477f597d28d172789f06886806bc55\n# Derived state of kb. Safe to delete.\n",
        ),
    ] {
        let path = directory.join(name);
        if !path.exists() {
            fs::write(path, text)?;
        }
    }
    Ok(())
}

impl Cache {
    /// Opens the cache of the project at `root`, making or rebuilding it as needed.
    pub fn open(root: &Path) -> Opened {
        if let Err(error) = prepare_directory(root) {
            return Opened::Unavailable(format!("cannot write .kb/: {error}"));
        }
        let path = file(root);
        match Self::connect(&path) {
            Ok(cache) => Opened::Ready(cache),
            Err(Trouble::Busy(reason)) => Opened::Unavailable(reason),
            Err(Trouble::Damaged(reason)) => Self::make_anew(root, reason),
        }
    }

    /// Puts an empty cache in the place of one that cannot be used.
    fn make_anew(root: &Path, reason: String) -> Opened {
        let path = file(root);
        remove(&path);
        match Self::connect(&path) {
            Ok(cache) => Opened::Rebuilt(cache, reason),
            Err(Trouble::Busy(reason) | Trouble::Damaged(reason)) => Opened::Unavailable(reason),
        }
    }

    /// Gives this cache up, because `reason` shows that it is damaged, for an empty one.
    pub fn rebuild(self, root: &Path, reason: String) -> Opened {
        drop(self.connection);
        Self::make_anew(root, reason)
    }

    fn connect(path: &Path) -> Result<Self, Trouble> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_CREATE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags).map_err(Trouble::of)?;
        connection
            .busy_timeout(Duration::from_secs(5))
            .map_err(Trouble::of)?;
        // Losing the last commit costs time, never a result, so no commit waits for the disk.
        connection
            .execute_batch(
                "PRAGMA journal_mode=WAL; PRAGMA synchronous=OFF; PRAGMA temp_store=MEMORY;",
            )
            .map_err(Trouble::of)?;
        let version: i64 = connection
            .query_row("PRAGMA user_version", [], |row| row.get(0))
            .map_err(Trouble::of)?;
        if version == 0 {
            connection
                .execute_batch(&format!(
                    "BEGIN IMMEDIATE;
                     CREATE TABLE IF NOT EXISTS state (
                         kind INTEGER NOT NULL, bucket INTEGER NOT NULL, entries BLOB NOT NULL,
                         PRIMARY KEY (kind, bucket));
                     CREATE TABLE IF NOT EXISTS trace (
                         key BLOB PRIMARY KEY, run INTEGER NOT NULL, value BLOB NOT NULL) WITHOUT ROWID;
                     CREATE TABLE IF NOT EXISTS value (name TEXT PRIMARY KEY, value BLOB NOT NULL);
                     PRAGMA user_version={SCHEMA};
                     COMMIT;"
                ))
                .map_err(Trouble::of)?;
        } else if version != SCHEMA {
            return Err(Trouble::Damaged(format!(
                "it has format {version}, this program uses {SCHEMA}"
            )));
        }
        Ok(Cache { connection })
    }

    /// Sweeps the last state of a table: `take` gets every bucket's bytes.
    pub fn buckets(&self, table: Table, mut take: impl FnMut(&[u8])) -> Result<(), String> {
        let mut statement = self
            .connection
            .prepare_cached("SELECT entries FROM state WHERE kind = ?1 ORDER BY bucket")
            .map_err(|error| error.to_string())?;
        let mut rows = statement
            .query([table.number()])
            .map_err(|error| error.to_string())?;
        while let Some(row) = rows.next().map_err(|error| error.to_string())? {
            let entries = row.get_ref(0).map_err(|error| error.to_string())?;
            take(entries.as_blob().map_err(|error| error.to_string())?);
        }
        Ok(())
    }

    /// A trace, if there is one.
    pub fn trace(&self, key: Fingerprint) -> Option<Vec<u8>> {
        self.connection
            .prepare_cached("SELECT value FROM trace WHERE key = ?1")
            .and_then(|mut statement| {
                statement
                    .query_row([&key.0[..]], |row| row.get(0))
                    .optional()
            })
            .ok()
            .flatten()
    }

    /// A named value, if there is one.
    pub fn value(&self, name: &str) -> Option<Vec<u8>> {
        self.connection
            .prepare_cached("SELECT value FROM value WHERE name = ?1")
            .and_then(|mut statement| statement.query_row([name], |row| row.get(0)).optional())
            .ok()
            .flatten()
    }

    /// Whether there are any traces at all; an empty table is not asked thousands of times.
    pub fn has_traces(&self) -> bool {
        self.connection
            .query_row("SELECT EXISTS (SELECT 1 FROM trace)", [], |row| row.get(0))
            .unwrap_or(false)
    }

    /// Records changes in one transaction. Losing a race for the write lock is retried by SQLite
    /// for some seconds.
    ///
    /// # Errors
    /// What is in the way; `damaged` if it will be in the way next time too.
    pub fn record(&mut self, mut changes: Changes) -> Result<(), NotRecorded> {
        if changes.is_empty() {
            return Ok(());
        }
        changes.traces.sort_unstable_by_key(|row| row.0);
        changes.traces.dedup_by_key(|row| row.0);
        let transaction = self
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .map_err(NotRecorded::of)?;
        let apply = || -> rusqlite::Result<()> {
            // Counted apart: asking the table for its largest number would walk all of it.
            let run: i64 = transaction.query_row(
                "INSERT INTO value (name, value) VALUES ('run', 1)
                 ON CONFLICT (name) DO UPDATE SET value = value + 1
                 RETURNING value",
                [],
                |row| row.get(0),
            )?;
            {
                let mut state = transaction.prepare_cached(
                    "INSERT INTO state (kind, bucket, entries) VALUES (?1, ?2, ?3)
                     ON CONFLICT (kind, bucket) DO UPDATE SET entries = excluded.entries",
                )?;
                for (table, bucket, bytes) in &changes.buckets {
                    state.execute(params![table.number(), bucket, bytes])?;
                }
                let mut trace = transaction.prepare_cached(
                    "INSERT INTO trace (key, run, value) VALUES (?1, ?2, ?3)
                     ON CONFLICT (key) DO UPDATE SET run = excluded.run, value = excluded.value",
                )?;
                for (key, value) in &changes.traces {
                    match value {
                        Trace::Bytes(bytes) => {
                            trace.execute(params![&key.0[..], run, bytes])?;
                        }
                        Trace::Cards(variants) => {
                            if let Some(bytes) = encode(variants) {
                                trace.execute(params![&key.0[..], run, bytes])?;
                            }
                        }
                    }
                }
                let mut value = transaction.prepare_cached(
                    "INSERT INTO value (name, value) VALUES (?1, ?2)
                     ON CONFLICT (name) DO UPDATE SET value = excluded.value",
                )?;
                for (name, bytes) in &changes.values {
                    value.execute(params![name, bytes])?;
                }
            }
            if !changes.traces.is_empty() {
                prune(&transaction, changes.files, run)?;
            }
            Ok(())
        };
        apply().map_err(NotRecorded::of)?;
        transaction.commit().map_err(NotRecorded::of)
    }
}

/// Drops the oldest traces once there are many more than files.
fn prune(connection: &Connection, files: u64, run: i64) -> rusqlite::Result<()> {
    // Counting walks the table; doing it on every sixteenth run keeps small runs small.
    if run % 16 != 0 {
        return Ok(());
    }
    let limit = i64::try_from(files.max(1_000) * TRACES_PER_FILE).unwrap_or(i64::MAX);
    connection.execute(
        "DELETE FROM trace WHERE run < (
             SELECT coalesce(min(run), 0) FROM (SELECT run FROM trace ORDER BY run DESC LIMIT ?1))",
        [limit],
    )?;
    Ok(())
}

/// Removes a cache's files. One that cannot be removed shows up when the cache is opened.
pub fn remove(path: &Path) {
    for suffix in ["", "-wal", "-shm", "-journal"] {
        let mut name = path.to_path_buf().into_os_string();
        name.push(suffix);
        let _ = fs::remove_file(name);
    }
}

/// Why changes were not recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotRecorded {
    /// What the store said.
    pub reason: String,
    /// Whether the store is damaged, and not only busy or full.
    pub damaged: bool,
}

impl NotRecorded {
    fn of(error: rusqlite::Error) -> Self {
        use rusqlite::ErrorCode;
        let damaged = matches!(
            error.sqlite_error_code(),
            Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt | ErrorCode::Unknown)
        );
        NotRecorded {
            reason: error.to_string(),
            damaged,
        }
    }
}

enum Trouble {
    Busy(String),
    Damaged(String),
}

impl Trouble {
    fn of(error: rusqlite::Error) -> Self {
        use rusqlite::ErrorCode;
        match error.sqlite_error_code() {
            Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => {
                Trouble::Damaged(error.to_string())
            }
            Some(_) => Trouble::Busy(error.to_string()),
            None => Trouble::Damaged(error.to_string()),
        }
    }
}

/// Bytes of the checksum behind a stored value.
const CHECKSUM: usize = 16;

fn checksum(bytes: &[u8]) -> [u8; CHECKSUM] {
    let mut sum = [0; CHECKSUM];
    sum.copy_from_slice(&Fingerprint::of(bytes).0[..CHECKSUM]);
    sum
}

/// Bytes of a value that is stored. A checksum tells a value from what a failing disk makes of
/// it: one flipped bit must not turn a failed citation into a verified one.
pub fn encode<T: Serialize>(value: &T) -> Option<Vec<u8>> {
    let mut bytes = postcard::to_stdvec(value).ok()?;
    let sum = checksum(&bytes);
    bytes.extend_from_slice(&sum);
    Some(bytes)
}

/// The value of stored bytes, unless they are damaged or of another time.
pub fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Option<T> {
    let (value, sum) = bytes.split_last_chunk::<CHECKSUM>()?;
    if *sum != checksum(value) {
        return None;
    }
    postcard::from_bytes(value).ok()
}
