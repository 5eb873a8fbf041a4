//! The search sidecar `summaries.sqlite` (contract §6.6): an FTS5 index over the summaries.
//!
//! It speeds search up and decides nothing. It is believed only if it names the summaries that are
//! there and every one of its rows is the one that they give; what is shown of a card, and who may
//! see it, comes from the summaries themselves. What a forged index inside can do is to rank
//! wrongly.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::Path;

use rusqlite::{Connection, OpenFlags, params};
use sha2::{Digest as _, Sha256};

use kbc_queries::commit::hash::Digest;
use kbc_queries::deck::bm25::tokens;
use kbc_queries::parse::manifest::Summary;

const SCHEMA: &str = "cacg.v0.fts1";
const BUILDER: &str = "cacg.fts5.builder.v1";

/// The columns of a row, in order.
fn row(entry: &Summary) -> [String; 8] {
    [
        entry.id.clone(),
        entry.reading_id.clone(),
        entry.path.clone(),
        entry.card_hash.clone(),
        entry.title.clone(),
        entry.summary.clone(),
        entry.tags.join(" "),
        entry.source_ids.as_deref().unwrap_or_default().join(" "),
    ]
}

/// The seal over rows: every column with its length, so that nothing can move between them.
#[derive(Default)]
struct Seal(Sha256);

impl Seal {
    fn column(&mut self, text: &[u8]) {
        self.0.update((text.len() as u64).to_le_bytes());
        self.0.update(text);
    }

    fn finish(self) -> Digest {
        Digest(self.0.finalize().into())
    }
}

fn seal(entries: &[Summary]) -> Digest {
    let mut seal = Seal::default();
    for column in entries.iter().flat_map(row) {
        seal.column(column.as_bytes());
    }
    seal.finish()
}

/// Builds a sidecar for the summaries whose file has this hash.
pub fn build(path: &Path, summaries: Digest, entries: &[Summary]) -> rusqlite::Result<()> {
    let mut connection = Connection::open(path)?;
    // The file is synced and put in its place by whoever publishes it.
    connection.execute_batch("PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF;")?;
    let transaction = connection.transaction()?;
    transaction.execute_batch(
        "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
         CREATE VIRTUAL TABLE cards_fts USING fts5(
             card_id UNINDEXED, reading_id UNINDEXED, path UNINDEXED, card_hash UNINDEXED,
             title, summary, tags, source_ids, tokenize='unicode61 remove_diacritics 1');",
    )?;
    {
        let mut insert =
            transaction.prepare("INSERT INTO cards_fts VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)")?;
        for entry in entries {
            insert.execute(row(entry))?;
        }
        let mut meta = transaction.prepare("INSERT INTO meta VALUES (?1, ?2)")?;
        for (key, value) in [
            ("builder_version", BUILDER.to_owned()),
            ("rows_seal", seal(entries).to_string()),
            ("schema_version", SCHEMA.to_owned()),
            ("summaries_count", entries.len().to_string()),
            ("summaries_hash", summaries.to_string()),
        ] {
            meta.execute(params![key, value])?;
        }
    }
    transaction.commit()?;
    connection.close().map_err(|(_, error)| error)
}

fn open(path: &Path) -> rusqlite::Result<Connection> {
    // SQLite waits at a pipe as anybody does.
    if !fs::symlink_metadata(path).is_ok_and(|found| found.is_file()) {
        return Err(rusqlite::Error::InvalidPath(path.to_path_buf()));
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    // It may be somebody else's file: nothing in its schema is to be run.
    connection.execute_batch("PRAGMA trusted_schema=OFF; PRAGMA cell_size_check=ON;")?;
    Ok(connection)
}

fn meta(connection: &Connection) -> rusqlite::Result<HashMap<String, String>> {
    let mut statement = connection.prepare("SELECT key, value FROM meta LIMIT 100")?;
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    rows.collect()
}

/// Whether a sidecar says that it was made by this builder of these summaries.
fn names(meta: &HashMap<String, String>, summaries: Digest) -> Result<(), String> {
    let says = |key: &str| meta.get(key).map_or("", String::as_str);
    if says("schema_version") != SCHEMA || says("builder_version") != BUILDER {
        return Err("another version of the program made it".to_owned());
    }
    if says("summaries_hash") != summaries.to_string() {
        return Err("it was made of other summaries".to_owned());
    }
    Ok(())
}

/// Whether there is a sidecar that says it was made of the summaries whose file has this hash.
pub fn belongs(path: &Path, summaries: Digest) -> bool {
    open(path)
        .and_then(|connection| meta(&connection))
        .is_ok_and(|meta| names(&meta, summaries).is_ok() && meta.contains_key("rows_seal"))
}

/// A sidecar whose rows are those of the summaries.
pub struct Sidecar {
    connection: Connection,
}

impl Sidecar {
    /// Opens and checks a sidecar. `None`: there is none.
    ///
    /// # Errors
    /// Why it is not believed.
    pub fn open(
        path: &Path,
        summaries: Digest,
        entries: &[Summary],
    ) -> Result<Option<Self>, String> {
        match fs::symlink_metadata(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error.to_string()),
            Ok(found) if !found.is_file() => return Err("it is not a regular file".to_owned()),
            Ok(_) => {}
        }
        let wrong = |error: rusqlite::Error| format!("it cannot be read: {error}");
        let connection = open(path).map_err(wrong)?;
        let meta = meta(&connection).map_err(wrong)?;
        names(&meta, summaries)?;
        let expected = seal(entries);
        let stored = meta.get("rows_seal").map_or("", String::as_str);
        if stored != expected.to_string() || rows_seal(&connection).map_err(wrong)? != expected {
            return Err("its rows are not those of the summaries".to_owned());
        }
        Ok(Some(Sidecar { connection }))
    }

    /// The cards with a word of the query, best first: id and score.
    ///
    /// # Errors
    /// What SQLite said.
    pub fn search(&self, query: &str) -> Result<Vec<(String, f64)>, String> {
        let words: Vec<String> = tokens(query)
            .iter()
            .map(|word| format!("\"{}\"", word.replace('"', "\"\"")))
            .collect();
        if words.is_empty() {
            return Ok(Vec::new());
        }
        let run = || -> rusqlite::Result<Vec<(String, f64)>> {
            let mut statement = self.connection.prepare(
                "SELECT card_id, bm25(cards_fts) FROM cards_fts WHERE cards_fts MATCH ?1
                 ORDER BY bm25(cards_fts), card_id",
            )?;
            let rows = statement.query_map([words.join(" OR ")], |row| {
                let score: f64 = row.get(1)?;
                Ok((row.get(0)?, -score))
            })?;
            rows.collect()
        };
        run().map_err(|error| format!("it cannot be searched: {error}"))
    }
}

fn rows_seal(connection: &Connection) -> rusqlite::Result<Digest> {
    let mut statement = connection.prepare(
        "SELECT card_id, reading_id, path, card_hash, title, summary, tags, source_ids
         FROM cards_fts ORDER BY rowid",
    )?;
    let mut rows = statement.query([])?;
    let mut seal = Seal::default();
    while let Some(row) = rows.next()? {
        for column in 0..8 {
            seal.column(row.get_ref(column)?.as_str()?.as_bytes());
        }
    }
    Ok(seal.finish())
}
