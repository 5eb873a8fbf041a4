//! The one place where events get their times and ids.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use kbc_queries::commit::hash::Digest;
use kbc_queries::record::journal::{JournalEvent, RecordedDiagnostic, Verb, Verification};

use crate::publish::set::timestamp;

const FROZEN_TIME: &str = "1970-01-01T00:00:00Z";

/// Time and chance, or neither.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clock {
    frozen: bool,
}

/// One visit of a card, without what the clock adds.
#[derive(Clone, Debug, PartialEq)]
pub struct Visit {
    /// Which verb.
    pub command: Verb,
    /// The card, as [`recorded`](super::paths::recorded) calls it.
    pub card_path: String,
    /// Its hash, where it is known.
    pub card_hash: Option<Digest>,
    /// What was found.
    pub diagnostics: Vec<RecordedDiagnostic>,
    /// Which layers passed.
    pub verification: Verification,
    /// How long it took.
    pub latency: Duration,
}

impl Clock {
    /// A clock that runs, unless the environment has `KB_FROZEN_CLOCK` as exactly `1`.
    #[must_use]
    pub fn from_environment() -> Self {
        Clock {
            frozen: std::env::var_os("KB_FROZEN_CLOCK").is_some_and(|value| value == "1"),
        }
    }

    /// A clock that stands at 1970, gives the id of zeros only, and measures nothing.
    #[must_use]
    pub const fn frozen() -> Self {
        Clock { frozen: true }
    }

    /// A clock that runs.
    #[must_use]
    pub const fn running() -> Self {
        Clock { frozen: false }
    }

    /// UTC, `YYYY-MM-DDTHH:MM:SSZ`.
    #[must_use]
    pub fn now(self) -> String {
        let seconds = if self.frozen {
            0
        } else {
            SystemTime::now()
                .duration_since(UNIX_EPOCH)
                .map_or(0, |elapsed| elapsed.as_secs())
        };
        i64::try_from(seconds)
            .ok()
            .and_then(timestamp)
            .unwrap_or_else(|| FROZEN_TIME.to_owned())
    }

    /// A UUID of version 4, lower case with hyphens.
    #[must_use]
    pub fn uuid(self) -> String {
        let id = if self.frozen {
            uuid::Uuid::nil()
        } else {
            uuid::Uuid::new_v4()
        };
        id.hyphenated().to_string()
    }

    /// The event of a visit that ends now. Its time is kept to the microsecond.
    #[must_use]
    pub fn event(self, visit: Visit) -> JournalEvent {
        let latency_ms = if self.frozen {
            0.0
        } else {
            (visit.latency.as_secs_f64() * 1e6).round() / 1e3
        };
        JournalEvent {
            card_hash_after: visit.card_hash,
            card_hash_before: visit.card_hash,
            card_path: visit.card_path,
            command: visit.command,
            diagnostics: visit.diagnostics,
            event_id: self.uuid(),
            latency_ms,
            timestamp: self.now(),
            verification: visit.verification,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frozen_clock_gives_the_contract_s_constants_and_a_running_one_others() {
        let frozen = Clock::frozen();
        assert_eq!(frozen.now(), FROZEN_TIME);
        assert_eq!(frozen.uuid(), "00000000-0000-0000-0000-000000000000");
        let clock = Clock::running();
        assert!(clock.now().as_str() > "2024-01-01T00:00:00Z");
        let (one, two) = (clock.uuid(), clock.uuid());
        assert_ne!(one, two);
        assert_eq!(one.len(), 36);
        assert_eq!(one.as_bytes().get(14), Some(&b'4'), "{one}");
        assert_eq!(one, one.to_lowercase());
    }
}
