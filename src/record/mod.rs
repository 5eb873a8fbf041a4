//! Journals and histories on disk: appending, checking, rotating.
//!
//! - [`journal`]: `lint_journal.jsonl`, one event per visit of a card. [`history`]: the versions of
//!   one card. What an event is, and what a chain is, say the pure rooms `kbc_queries::record`.
//! - [`check`]: re-hashes all of a journal, those of its files that were rotated away included.
//! - [`lines`]: lines from the front and from the back, with what was read counted.
//! - [`files`]: locks, and the files beside a record. [`clock`]: times and ids. [`paths`]: how a
//!   card is called in an event.
//!
//! # What holds after a crash
//!
//! An append is one write at the end of the file, made durable before the head file beside it is
//! replaced. Killed in between, the next append finds events that follow from the head and takes
//! them in; killed while writing, it finds the beginning of a line that nobody was told of, and cuts
//! it off. A journal shorter than its head, or another one, is refused and never put right unasked.
//!
//! # What it is worth
//!
//! An append looks at the end of the journal only. That nothing before was changed is what `kb
//! journal verify` finds out. The head file beside the journal notices accidents, deletion and
//! truncation; somebody who can write both files can make both fit, and is found out by a head kept
//! elsewhere: `kb journal head` prints it, `kb journal verify --head` compares.

pub mod check;
pub mod clock;
mod error;
pub mod files;
pub mod history;
pub mod journal;
pub mod lines;
mod log;
pub mod paths;
mod rotate;
mod standing;

pub use error::{RecordError, Trouble};
