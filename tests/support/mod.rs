//! What the integration tests share: a folder to work in, and the program to run there.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What a run of the program gave.
#[derive(Debug)]
pub struct Run {
    /// Exit status; -1 when it was killed.
    pub status: i32,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

/// Runs `kb` in a folder, as a program would that is no terminal and knows nothing of its user.
pub fn kb(folder: &Path, arguments: &[&str]) -> Run {
    kb_with(folder, arguments, &[])
}

/// The same, with more variables in its environment.
pub fn kb_with(folder: &Path, arguments: &[&str], variables: &[(&str, &str)]) -> Run {
    let output = Command::new(env!("CARGO_BIN_EXE_kb"))
        .args(arguments)
        .current_dir(folder)
        .env_clear()
        .env("LANG", "C.UTF-8")
        .env("COLUMNS", "100")
        .env("NO_COLOR", "1")
        .envs(variables.iter().copied())
        .stdin(Stdio::null())
        .output()
        .expect("the program can be started");
    Run {
        status: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8(output.stdout).expect("stdout is UTF-8"),
        stderr: String::from_utf8(output.stderr).expect("stderr is UTF-8"),
    }
}

/// The folder of fixtures.
#[allow(dead_code, reason = "not every test needs it")]
pub fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures")
}

/// Writes a file and the folders above it.
pub fn write(path: &Path, bytes: impl AsRef<[u8]>) {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).expect("the folder can be made");
    }
    fs::write(path, bytes).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
}
