//! Progress on long work, only on a terminal.

use std::io::{self, IsTerminal};
use std::sync::Arc;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::session::Progress;

/// A bar on stderr.
struct Bar(ProgressBar);

impl Progress for Bar {
    fn begin(&self, stage: &'static str, total: u64) {
        self.0.set_message(stage);
        self.0.set_length(total);
        self.0.set_position(0);
    }

    fn advance(&self) {
        self.0.inc(1);
    }

    fn finish(&self) {
        self.0.finish_and_clear();
    }
}

/// A bar, if there is somebody to see it.
pub fn bar() -> Option<Arc<dyn Progress>> {
    let ci = std::env::var_os("CI").is_some_and(|value| !value.is_empty());
    if ci || !io::stderr().is_terminal() {
        return None;
    }
    let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::stderr_with_hz(10));
    // What is done within a blink needs no bar.
    bar.enable_steady_tick(Duration::from_millis(250));
    if let Ok(style) = ProgressStyle::with_template("{msg:>10} {bar:32} {pos}/{len}") {
        bar.set_style(style);
    }
    Some(Arc::new(Bar(bar)))
}
