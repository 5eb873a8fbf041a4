//! Text: the contract's normal form, maps back to the bytes it came from, lines, and the quote matcher.
//!
//! Everything here works on strings that are already decoded. Nothing here knows about files, pages
//! of a PDF or cards; those come in as ranges.

pub mod khms;
pub mod lines;
pub mod normalize;
pub mod offset_map;
pub mod quote;
pub mod sentences;
pub mod veil;

mod canonical;

pub use lines::LineIndex;
pub use offset_map::OffsetMap;
