//! The derivation graph of `kbc`. (Map to be drawn.)
//!
//! Pure: no file, clock, network or environment is read here.

pub mod chunk;
pub mod commit;
pub mod diagnostic;
pub mod parse;
pub mod text;
