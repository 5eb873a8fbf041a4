//! Incremental equals clean: after any sequence of edits, a session that was told of them, a new
//! process with a warm cache and a build from nothing give the same findings and the same files,
//! byte for byte, whatever the number of threads.
//!
//! `KB_SEED=17` runs one script and prints its steps; `KB_SCRIPTS=50` runs so many.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock};
use std::time::Duration;

use kbc::session::Session;
use rayon::ThreadPool;

#[path = "support/scripts.rs"]
mod scripts;

use scripts::{Corpus, Death, Given, Random, is_publishable, open, publish, published};

/// Pools of 1, 2 and 8 threads.
fn pool(index: usize) -> &'static ThreadPool {
    static POOLS: OnceLock<Vec<ThreadPool>> = OnceLock::new();
    let pools = POOLS.get_or_init(|| {
        [1, 2, 8]
            .into_iter()
            .map(|threads| {
                rayon::ThreadPoolBuilder::new()
                    .num_threads(threads)
                    .build()
                    .expect("threads")
            })
            .collect()
    });
    &pools[index % pools.len()]
}

fn agree(what: &str, one: &Given, other: &Given) {
    if let Some(difference) = one.difference(other) {
        panic!("{what} (-) against a build from nothing (+): {difference}");
    }
}

/// One script: edits, and now and then a look that compares three ways.
fn run(seed: u64, speak: bool) {
    let mut random = Random::new(seed);
    let mut corpus = Corpus::random(&mut random);
    let root = corpus.root().to_path_buf();
    let shift = random.below(3);
    if random.one_in(4) {
        // Old enough for stamps to be trusted.
        std::thread::sleep(Duration::from_millis(25));
    }
    let mut live: Session = pool(shift).install(|| open(&root, random.one_in(2)));
    if random.one_in(2) {
        publish(&mut live, Death::None);
        live.update(&["out/sources_manifest.json".to_owned()]);
    }
    live.record();
    for round in 0..1 + random.below(3) {
        let mut changed = Vec::new();
        for _ in 0..1 + random.below(3) {
            let (word, paths) = corpus.edit(&mut random);
            if speak {
                eprintln!("  {word}");
            }
            changed.extend(paths);
            if random.one_in(3) {
                // The session hears of it at once, or later of several at a time.
                let paths = std::mem::take(&mut changed);
                pool(shift).install(|| live.update(&paths));
            }
        }
        let rescan = random.one_in(4);
        pool(shift + round).install(|| {
            if rescan {
                live.rescan();
            } else {
                live.update(&changed);
            }
        });
        if random.one_in(6) {
            std::thread::sleep(Duration::from_millis(25));
        }
        let mut clean = pool(shift + round + 1).install(|| open(&root, true));
        let expected = pool(shift + round + 1).install(|| Given::by(&mut clean));
        let found = pool(shift + round).install(|| Given::by(&mut live));
        agree("the session", &found, &expected);
        if random.one_in(3) {
            live.record();
        }
        let mut warm = pool(shift + round + 2).install(|| open(&root, false));
        let found = pool(shift + round + 2).install(|| Given::by(&mut warm));
        agree("a warm start", &found, &expected);
        if random.one_in(2) {
            if speak {
                eprintln!("  publish");
            }
            let sound = is_publishable(&clean, &clean.report());
            let death = match random.below(8) {
                0 => Death::Staged,
                1 => Death::BeforeIntent,
                2 => Death::Moved(random.below(7)),
                3 => Death::BeforeClearing,
                _ => Death::None,
            };
            pool(shift).install(|| publish(&mut warm, death));
            if death == Death::None {
                if random.one_in(2) {
                    warm.record();
                }
                if sound {
                    let files = published(&warm.project.out());
                    assert!(
                        files == expected.files,
                        "what was published is not what a build from nothing gives"
                    );
                }
            }
            live.update(&["out/index_manifest.json".to_owned()]);
        } else if random.one_in(2) {
            warm.record();
        }
    }
}

/// Runs the scripts on as many threads as there are cores; each script has its own folder.
fn run_all(seeds: std::ops::Range<u64>) {
    let next = AtomicU64::new(seeds.start);
    let failed = Mutex::new(Vec::new());
    let workers = std::thread::available_parallelism().map_or(2, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= seeds.end || failed.lock().unwrap().len() >= 8 {
                        return;
                    }
                    if let Err(payload) = catch_unwind(AssertUnwindSafe(|| run(seed, false))) {
                        let message = payload.downcast_ref::<String>().cloned();
                        eprintln!("KB_SEED={seed}: {}", message.unwrap_or_default());
                        failed.lock().unwrap().push(seed);
                    }
                }
            });
        }
    });
    let failed = failed.into_inner().unwrap();
    assert!(failed.is_empty(), "these seeds fail: {failed:?}");
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

#[test]
fn a_thousand_edit_scripts_give_what_clean_builds_give() {
    if let Some(seed) = number("KB_SEED") {
        run(seed, true);
        return;
    }
    run_all(0..number("KB_SCRIPTS").unwrap_or(1000));
}

#[test]
#[ignore = "a quarter of an hour; run it before a release"]
fn ten_thousand_edit_scripts_give_what_clean_builds_give() {
    run_all(1_000..11_000);
}

/// The same through the program, with its own threads.
#[test]
fn the_program_prints_the_same_whatever_its_cache_and_threads() {
    for seed in 0..12 {
        let mut random = Random::new(seed);
        let mut corpus = Corpus::random(&mut random);
        let root = corpus.root().to_path_buf();
        let kb = |arguments: &[&str]| {
            std::process::Command::new(env!("CARGO_BIN_EXE_kb"))
                .args(arguments)
                .current_dir(&root)
                .output()
                .unwrap()
        };
        for round in 0..3 {
            if round == 1 {
                kb(&["build"]);
            }
            corpus.edit(&mut random);
            corpus.edit(&mut random);
            let clean = kb(&["check", "--json", "--no-cache", "--threads", "1"]);
            for threads in ["1", "2", "8"] {
                let warm = kb(&["check", "--json", "--threads", threads]);
                assert_eq!(
                    String::from_utf8_lossy(&warm.stdout),
                    String::from_utf8_lossy(&clean.stdout),
                    "seed {seed}, round {round}, {threads} threads"
                );
                assert_eq!(warm.status, clean.status);
            }
        }
    }
}
