//! How many quotes a second are judged, and how many of them wrongly: `cargo bench --bench quotes`.
//!
//! Speed without the count of wrong verdicts beside it says nothing: a matcher that accepts everything is
//! the fastest. Three tables: honest and altered quotes by kind; texts made to take long; quotes taken
//! from what one PDF extractor reads and looked for in what another one reads. A word in the arguments
//! (`altered`, `hostile`, `extractors`) picks one; `KBC_PDFS` names a folder with more PDFs.

mod altered;
mod extractors;
mod hostile;
#[path = "../corpus/vocabulary.rs"]
#[allow(dead_code)] // The corpus benchmark needs more of it.
mod vocabulary;

/// Prints a target and whether it is met.
fn target(text: &str, met: bool) {
    println!("{:<6} {text}", if met { "MET" } else { "MISSED" });
}

/// A table of one benchmark.
type Table = (&'static str, fn());

const TABLES: [Table; 3] = [
    ("altered", altered::run),
    ("hostile", hostile::run),
    ("extractors", extractors::run),
];

fn main() {
    let asked: Vec<String> = std::env::args().skip(1).collect();
    let named = |name: &str| asked.iter().any(|word| word == name);
    let some = TABLES.iter().any(|(name, _)| named(name));
    for (name, run) in TABLES {
        if !some || named(name) {
            println!("\n## {name}\n");
            run();
        }
    }
}
