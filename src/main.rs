//! Arguments in, exit status out.

use std::process::ExitCode;

/// The system's allocator grows the heaps of worker threads page by page, with a system call each.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    kbc::cli::main()
}
