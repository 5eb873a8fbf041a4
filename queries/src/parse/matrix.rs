//! `source_matrix.json`: which reading may cite which source.
