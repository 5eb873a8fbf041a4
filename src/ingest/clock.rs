//! The time that a verb of the contract records.

use std::time::{SystemTime, UNIX_EPOCH};

use crate::publish::set::timestamp;

/// `YYYY-MM-DDTHH:MM:SSZ` of now, in UTC; with `KB_FROZEN_CLOCK=1` in the environment always the
/// same (contract §0).
pub fn now() -> String {
    let frozen = std::env::var_os("KB_FROZEN_CLOCK").is_some_and(|value| value == "1");
    let seconds = match SystemTime::now().duration_since(UNIX_EPOCH) {
        Ok(since) if !frozen => i64::try_from(since.as_secs()).unwrap_or(0),
        _ => 0,
    };
    timestamp(seconds).unwrap_or_else(|| "1970-01-01T00:00:00Z".to_owned())
}
