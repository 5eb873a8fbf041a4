//! Citation to source to chunk: what a citation names, or how far it gets.

use crate::Db;
use crate::chunk::{chunk_id, parse_chunk_id};
use crate::derive::{self, CitedChunk, SourceFailure};
use crate::input::SourceFile;

/// Where the names of a citation lead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Resolution<'db> {
    /// No source has that id, and none ever had.
    UnknownSource,
    /// The published manifests know the id, but its file is gone.
    LostSource,
    /// The source's file gives no chunks.
    Broken {
        /// The file.
        file: SourceFile,
        /// Why.
        failure: &'db SourceFailure,
    },
    /// The source has no such chunk.
    NoSuchChunk {
        /// The file.
        file: SourceFile,
    },
    /// The cited chunk.
    Chunk {
        /// The file.
        file: SourceFile,
        /// The chunk.
        chunk: &'db CitedChunk,
    },
}

/// Follows the source id and the chunk id of a citation. The chunk is looked up in the source that `source_id`
/// names; a chunk id that spells another source leads nowhere (the caller reports it).
pub fn resolve<'db>(db: &'db dyn Db, source_id: &str, cited: &str) -> Resolution<'db> {
    let name = db.names().source(db, source_id);
    let Some(file) = name.file(db) else {
        return if name.recorded(db) {
            Resolution::LostSource
        } else {
            Resolution::UnknownSource
        };
    };
    // A chunk has one name. `a:p1:0` for `a:p001:0000` would slip past the list of retracted ids.
    let parts = parse_chunk_id(cited).filter(|parts| {
        parts.source_id == source_id
            && chunk_id(parts.source_id, parts.start_page, parts.ordinal) == cited
    });
    let Some(parts) = parts else {
        return match derive::source(db, file) {
            Ok(_) => Resolution::NoSuchChunk { file },
            Err(failure) => Resolution::Broken { file, failure },
        };
    };
    match derive::cited_chunk(db, file, parts.start_page, parts.ordinal) {
        Ok(Some(chunk)) => Resolution::Chunk { file, chunk },
        Ok(None) => Resolution::NoSuchChunk { file },
        Err(failure) => Resolution::Broken { file, failure },
    }
}
