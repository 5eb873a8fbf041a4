//! Running a child process and asking the kernel what it cost.

use std::io::{self, Read};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// What one run of a program cost.
#[derive(Clone, Debug, Default)]
pub struct Sample {
    /// From the start to the end, as a user waits.
    pub wall: Duration,
    /// User and system time, of all threads and of children waited for.
    pub cpu: Duration,
    /// Largest resident set, in bytes. See [`run`] for what it cannot tell.
    pub peak: u64,
    /// Exit status; −1 for a signal.
    pub status: i32,
    /// What `--stats` says, if it was asked.
    pub stats: Option<Stats>,
}

/// The counters of `kb --stats`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Stats {
    /// Sources and cards hashed.
    pub hashed: u64,
    /// Files opened through the queries' door.
    pub opened: u64,
    /// Bytes read through it.
    pub bytes: u64,
    /// Derivations run.
    pub derivations: u64,
}

impl Stats {
    fn parse(text: &str) -> Option<Self> {
        let mut stats = Stats::default();
        let mut read = false;
        for line in text.lines() {
            let numbers: Vec<u64> = line
                .split(|c: char| !c.is_ascii_digit())
                .filter_map(|digits| digits.parse().ok())
                .collect();
            match (line.split_whitespace().next(), &numbers[..]) {
                (Some("read"), [hashed, opened, bytes]) => {
                    (stats.hashed, stats.opened, stats.bytes) = (*hashed, *opened, *bytes);
                    read = true;
                }
                (Some("derived"), [.., derivations]) => stats.derivations = *derivations,
                _ => {}
            }
        }
        read.then_some(stats)
    }
}

/// Runs a command to its end; its output is thrown away, its messages are kept.
///
/// The peak that Linux reports for a child is never less than what its parent had resident when
/// it started it, so the process that calls this has to stay small: it makes no corpus and opens
/// no session itself.
pub fn run(command: &mut Command) -> io::Result<Sample> {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    let started = Instant::now();
    let mut child = command.spawn()?;
    let mut messages = String::new();
    if let Some(mut stderr) = child.stderr.take() {
        stderr.read_to_string(&mut messages)?;
    }
    let (status, cpu, peak) = wait(child)?;
    let wall = started.elapsed();
    Ok(Sample {
        wall,
        cpu,
        peak,
        status,
        stats: Stats::parse(&messages),
    })
}

#[cfg(unix)]
#[allow(
    unsafe_code,
    reason = "the standard library waits without asking for the usage"
)]
fn wait(child: Child) -> io::Result<(i32, Duration, u64)> {
    let pid = libc::pid_t::try_from(child.id()).map_err(io::Error::other)?;
    let mut status = 0;
    loop {
        // SAFETY: an `rusage` is plain numbers, for which zero is a value.
        let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
        // SAFETY: both pointers are to live variables of the right type. The child is ours, it is
        // waited for nowhere else, and dropping a `Child` does not wait.
        let waited = unsafe { libc::wait4(pid, &mut status, 0, &mut usage) };
        if waited < 0 {
            let error = io::Error::last_os_error();
            if error.kind() == io::ErrorKind::Interrupted {
                continue;
            }
            return Err(error);
        }
        let code = if libc::WIFEXITED(status) {
            libc::WEXITSTATUS(status)
        } else {
            -1
        };
        let time = |time: libc::timeval| {
            Duration::from_secs(u64::try_from(time.tv_sec).unwrap_or(0))
                + Duration::from_micros(u64::try_from(time.tv_usec).unwrap_or(0))
        };
        // macOS counts bytes, all others kilobytes.
        let unit = if cfg!(target_os = "macos") { 1 } else { 1_024 };
        let peak = u64::try_from(usage.ru_maxrss).unwrap_or(0) * unit;
        return Ok((code, time(usage.ru_utime) + time(usage.ru_stime), peak));
    }
}

#[cfg(not(unix))]
fn wait(mut child: Child) -> io::Result<(i32, Duration, u64)> {
    let status = child.wait()?;
    Ok((status.code().unwrap_or(-1), Duration::ZERO, 0))
}

/// The value in the middle; the larger one of two.
pub fn median<T: Copy + Ord + Default>(values: impl Iterator<Item = T>) -> T {
    percentile(values, 50)
}

/// The smallest value that so many percent of all values do not exceed.
pub fn percentile<T: Copy + Ord + Default>(values: impl Iterator<Item = T>, percent: usize) -> T {
    let mut values: Vec<T> = values.collect();
    values.sort_unstable();
    let place = (values.len() * percent).div_ceil(100).saturating_sub(1);
    values.get(place).copied().unwrap_or_default()
}
