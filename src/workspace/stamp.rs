//! What the file system says of a file without opening it.
//!
//! A stamp is only a hint: equal stamps let a run reuse a fingerprint, but a stamp as young as
//! the look at it proves nothing (the file may be written again within the same tick), so such
//! stamps are called racy and never trusted, as git's index does.

use std::fs::Metadata;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

/// Size, times and identity of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Stamp {
    /// Bytes.
    pub size: u64,
    /// Time of the last write, nanoseconds since 1970.
    pub modified: i64,
    /// Time of the last change of the inode; 0 where the system has none.
    pub changed: i64,
    /// Number of the inode; 0 where the system has none.
    pub inode: u64,
}

impl Stamp {
    /// The stamp of a file.
    pub fn of(metadata: &Metadata) -> Self {
        let modified = metadata.modified().map(nanoseconds).unwrap_or(0);
        let (changed, inode) = identity(metadata);
        Stamp { size: metadata.len(), modified, changed, inode }
    }

    /// Whether a write after this look could have left the stamp as it is.
    ///
    /// Kernels tick at up to 10 ms; a time in whole seconds comes from a file system that counts
    /// in seconds, some of them in twos.
    pub fn is_racy(&self, looked_at: SystemTime) -> bool {
        let newest = self.modified.max(self.changed);
        let tick = if self.modified % 1_000_000_000 == 0 {
            Duration::from_secs(2)
        } else {
            Duration::from_millis(20)
        };
        let tick = i64::try_from(tick.as_nanos()).unwrap_or(i64::MAX);
        newest.saturating_add(tick) >= nanoseconds(looked_at)
    }
}

fn nanoseconds(time: SystemTime) -> i64 {
    match time.duration_since(UNIX_EPOCH) {
        Ok(after) => i64::try_from(after.as_nanos()).unwrap_or(i64::MAX),
        Err(before) => i64::try_from(before.duration().as_nanos()).map_or(i64::MIN, |n| -n),
    }
}

#[cfg(unix)]
fn identity(metadata: &Metadata) -> (i64, u64) {
    use std::os::unix::fs::MetadataExt;
    let changed = metadata.ctime().saturating_mul(1_000_000_000).saturating_add(metadata.ctime_nsec());
    (changed, metadata.ino())
}

#[cfg(not(unix))]
fn identity(_metadata: &Metadata) -> (i64, u64) {
    (0, 0)
}
