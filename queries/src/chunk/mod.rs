//! Documents to chunks; one file per chunker.
