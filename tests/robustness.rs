//! Bad input of every kind: nothing panics, nothing hangs, everything ends in a report with the
//! right exit status and a message that names the file and the next step; nothing is lost.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::fs;
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

#[path = "support/scripts.rs"]
mod scripts;

use scripts::{Corpus, Given, Random, card, citable, citation, json, open, published, write};

/// Longest that a command may take here; far beyond what it needs.
const PATIENCE: Duration = Duration::from_secs(60);

fn kb(root: &Path, arguments: &[&str]) -> Output {
    run(Command::new(env!("CARGO_BIN_EXE_kb")).args(arguments), root)
}

fn run(command: &mut Command, root: &Path) -> Output {
    let started = Instant::now();
    let output = command
        .current_dir(root)
        .env("CI", "1")
        .env("NO_COLOR", "1")
        .env_remove("RUST_BACKTRACE")
        .stdin(Stdio::null())
        .output()
        .expect("kb runs");
    assert!(started.elapsed() < PATIENCE, "{command:?} took too long");
    output
}

fn text(output: &Output) -> String {
    format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}

/// Runs `kb` and checks its exit status and what it says.
fn expect(root: &Path, arguments: &[&str], status: i32, words: &[&str]) -> Output {
    let output = kb(root, arguments);
    let said = text(&output);
    let shown = arguments.join(" ");
    assert_eq!(output.status.code(), Some(status), "kb {shown}:\n{said}");
    assert!(!said.contains("panicked"), "kb {shown}:\n{said}");
    for word in words {
        assert!(
            said.contains(word),
            "kb {shown} does not say `{word}`:\n{said}"
        );
    }
    output
}

/// A project with one sound card over one sound source.
fn project() -> tempfile::TempDir {
    let folder = scripts::folder();
    let root = folder.path();
    write(root, "kb.toml", "");
    write(
        root,
        "sources/harbour.md",
        "# Harbour\n\nThe bell is rung twelve times before fog is declared by the master.\n",
    );
    write(
        root,
        "source_matrix.json",
        r#"{"schema_version": "cacg.v0", "allowed": {"north": ["harbour"]}}"#,
    );
    write(root, "cards/fog.md", sound_card(root, "fog"));
    folder
}

fn sound_card(root: &Path, id: &str) -> String {
    let chunks = citable(root);
    let quote = "The bell is rung twelve times before fog is declared";
    card(id, "north", "Fog", &[citation(&chunks[0], quote)], "Words.")
}

#[test]
fn the_sound_project_is_sound() {
    let folder = project();
    expect(folder.path(), &["check"], 0, &[]);
    expect(folder.path(), &["build"], 0, &[]);
    expect(folder.path(), &["freshness"], 0, &["GREEN"]);
}

#[test]
fn wrong_settings_are_named_and_nothing_is_published_from_them() {
    for (settings, words) in [
        ("profil = \"cacg\"\n", &["kb.toml", "profil"][..]),
        ("profile = \"lenient\"\n", &["kb.toml", "lenient"]),
        (
            "[[collection]]\nname = \"a\"\ninclude = [\"sources/**\"]\nchunk = { tokens = 5, overlap = 9 }\n",
            &["kb.toml", "overlap"],
        ),
        (
            "[[collection]]\nname = \"a\"\ninclude = [\"sources/**\"]\nchunk = { tokens = 0 }\n",
            &["kb.toml", "tokens"],
        ),
        (
            "[[collection]]\nname = \"a\"\ninclude = [\"[\"]\n",
            &["kb.toml", "include"],
        ),
        ("this is no toml", &["kb.toml"]),
        ("out = \"../elsewhere\"\n", &["kb.toml", "out"]),
        ("out = \"/tmp/elsewhere\"\n", &["kb.toml", "out"]),
        ("matrix = \"../../etc/passwd\"\n", &["kb.toml", "matrix"]),
        (
            "[source.\"sources/harbour.md\"]\nid = \"x\"\n[source.\"sources/harbour.md\"]\nid = \"y\"\n",
            &["kb.toml"],
        ),
    ] {
        let folder = project();
        let root = folder.path();
        expect(root, &["build"], 0, &[]);
        let before = published(&root.join("out"));
        write(root, "kb.toml", settings);
        // Every command says it first, and blames no card for it.
        for verb in ["check", "build", "freshness"] {
            let output = expect(root, &[verb], 2, words);
            assert!(
                !text(&output).contains("cards/"),
                "{verb}: {}",
                text(&output)
            );
        }
        for arguments in [&["fix"][..], &["root"], &["cite", "harbour", "The bell"]] {
            expect(root, arguments, 2, &words[..1]);
        }
        expect(root, &["config"], 2, words);
        let output = expect(root, &["check", "--json"], 2, &["\"cards\":0"]);
        assert!(!text(&output).contains("VERIFY"), "{settings}");
        assert!(published(&root.join("out")) == before, "{settings}");
    }
}

#[test]
fn a_directory_where_a_file_is_expected_is_said() {
    for (path, arguments, status) in [
        ("kb.toml", &["check"][..], 2),
        ("source_matrix.json", &["check"], 1),
        ("out/sources_manifest.json", &["build"], 1),
        ("out/chunks_manifest.json", &["build"], 1),
        ("out/index_manifest.json", &["build"], 1),
        ("out/summaries.json", &["build"], 1),
    ] {
        let folder = project();
        let root = folder.path();
        let _ = fs::remove_file(root.join(path));
        fs::create_dir_all(root.join(path)).unwrap();
        expect(root, arguments, status, &[path.rsplit('/').next().unwrap()]);
        assert!(root.join(path).is_dir(), "{path}");
        assert!(!root.join("out/.kb-publish").exists(), "{path}");
    }
    // A folder that is called like a card or a source holds no bytes, and is neither.
    let folder = project();
    let root = folder.path();
    fs::create_dir_all(root.join("cards/folder.md")).unwrap();
    fs::create_dir_all(root.join("sources/folder.md")).unwrap();
    expect(root, &["build"], 0, &[]);
}

#[test]
fn ids_that_are_there_twice_are_said() {
    let folder = project();
    let root = folder.path();
    write(root, "cards/again.md", sound_card(root, "fog"));
    expect(root, &["check"], 1, &["CACG-CARDS-001", "fog"]);
    fs::remove_file(root.join("cards/again.md")).unwrap();
    write(root, "sources/other.md", "# Other\n\nOther words.\n");
    write(
        root,
        "kb.toml",
        "[source.\"sources/harbour.md\"]\nid = \"same\"\n[source.\"sources/other.md\"]\nid = \"same\"\n",
    );
    expect(root, &["check"], 1, &["same"]);
}

fn sparse(path: &Path, bytes: u64) {
    let mut file = fs::File::create(path).unwrap();
    file.seek(SeekFrom::Start(bytes - 1)).unwrap();
    file.write_all(&[0]).unwrap();
}

#[test]
fn a_file_beyond_the_limit_is_not_read() {
    let folder = project();
    let root = folder.path();
    sparse(&root.join("sources/huge.txt"), 1 << 30);
    sparse(&root.join("cards/huge.md"), 1 << 30);
    let started = Instant::now();
    expect(
        root,
        &["check"],
        1,
        &["sources/huge.txt", "cards/huge.md", "1073741824"],
    );
    assert!(started.elapsed() < Duration::from_secs(20));
    expect(root, &["build"], 1, &["sources/huge.txt"]);
    sparse(&root.join("source_matrix.json"), 1 << 30);
    expect(root, &["check"], 1, &["source_matrix.json"]);
    sparse(&root.join("kb.toml"), 1 << 30);
    expect(root, &["check"], 2, &["kb.toml"]);
}

#[cfg(unix)]
#[test]
fn links_are_not_followed_and_loops_end() {
    use std::os::unix::fs::symlink;
    let folder = project();
    let root = folder.path();
    expect(root, &["build"], 0, &[]);
    symlink("..", root.join("sources/loop")).unwrap();
    symlink("self.md", root.join("sources/self.md")).unwrap();
    symlink("/etc/hostname", root.join("cards/out.md")).unwrap();
    let output = expect(root, &["check"], 1, &["sources/self.md", "cards/out.md"]);
    assert!(text(&output).contains("symbolic links are not followed"));
    let before = published(&root.join("out"));
    // The whole folder behind a link: nothing is taken for deleted.
    fs::rename(root.join("sources"), root.join("elsewhere")).unwrap();
    symlink("elsewhere", root.join("sources")).unwrap();
    expect(
        root,
        &["build"],
        1,
        &["sources", "symbolic links are not followed"],
    );
    assert!(published(&root.join("out")) == before);
}

#[test]
fn text_that_is_none_is_said() {
    let folder = project();
    let root = folder.path();
    write(
        root,
        "cards/bad.md",
        [&b"---\nid: \"x\"\n---\n"[..], &[0xff, 0xfe, 0xc0]].concat(),
    );
    write(root, "sources/bad.md", [0xff, 0x00, 0xd8, 0x81, 0xfe]);
    let output = kb(root, &["check"]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output));
    assert!(text(&output).contains("cards/bad.md"), "{}", text(&output));
    write(root, "kb.toml", [0xff, 0xfe]);
    expect(root, &["check"], 2, &["kb.toml", "UTF-8"]);
}

#[test]
fn a_yaml_bomb_is_a_finding() {
    let folder = project();
    let root = folder.path();
    let mut bomb = "---\na0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..40 {
        let before = level - 1;
        let items = vec![format!("*a{before}"); 10].join(", ");
        bomb.push_str(&format!("a{level}: &a{level} [{items}]\n"));
    }
    write(root, "cards/bomb.md", bomb + "---\n\nWords.\n");
    write(
        root,
        "cards/deep.md",
        format!("---\nx: {}\n---\n", "[".repeat(200_000)),
    );
    write(
        root,
        "cards/deeper.md",
        format!("---\n{}\n---\n", "- ".repeat(100_000)),
    );
    write(root, "cards/open.md", "---\nid: \"x\"\n");
    write(
        root,
        "cards/long.md",
        format!("---\nid: \"{}\"\n---\n", "x".repeat(1_000_000)),
    );
    expect(
        root,
        &["check"],
        1,
        &["cards/bomb.md", "cards/deep.md", "cards/open.md"],
    );
}

#[test]
fn page_ranges_beyond_all_pages_are_findings_and_not_walks() {
    for range in [
        "[1000, 9000000000000000000]",
        "[4294967297, 4294967297]",
        "[1, 18446744073709551615]",
        "[0, 0]",
        "[-1, 1]",
        "[2, 1]",
        "[1e30, 1e30]",
        "[99999999999999999999999, 99999999999999999999999]",
    ] {
        let folder = project();
        let root = folder.path();
        let text =
            sound_card(root, "fog").replace("page_range: [1, 1]", &format!("page_range: {range}"));
        write(root, "cards/fog.md", text);
        let started = Instant::now();
        let wide = range.starts_with("[1, 18");
        let output = kb(root, &["check", "--json"]);
        if !wide {
            assert_eq!(
                output.status.code(),
                Some(1),
                "{range}: {}",
                text_of(&output)
            );
            assert!(
                text_of(&output).contains("\"failed\":1"),
                "{range}: {}",
                text_of(&output)
            );
        }
        assert!(started.elapsed() < Duration::from_secs(5), "{range}");
    }
}

fn text_of(output: &Output) -> String {
    text(output)
}

#[test]
fn deep_and_broken_documents_are_findings() {
    let folder = project();
    let root = folder.path();
    write(
        root,
        "sources/deep.html",
        format!(
            "{}deep{}",
            "<div>".repeat(100_000),
            "</div>".repeat(100_000)
        ),
    );
    write(
        root,
        "sources/tables.html",
        "<table><tr><td>".repeat(20_000),
    );
    write(root, "sources/quotes.md", "> ".repeat(100_000) + "deep");
    write(root, "sources/lists.md", "- ".repeat(50_000) + "deep");
    write(root, "sources/brackets.md", "[".repeat(100_000));
    let handbook = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/sources/handbook.pdf");
    let pdf = fs::read(handbook).unwrap();
    write(root, "sources/short.pdf", &pdf[..pdf.len() / 2]);
    write(root, "sources/empty.pdf", "");
    write(root, "sources/no.pdf", "this is no PDF");
    write(root, "sources/empty.md", "");
    write(root, "sources/ragged.csv", "a,b\n1,2,3\n\"open");
    let output = kb(root, &["build"]);
    assert!(
        output.status.code().is_some_and(|code| code < 2),
        "{}",
        text(&output)
    );
    assert!(!text(&output).contains("panicked"), "{}", text(&output));
    let output = kb(root, &["check", "--json"]);
    assert!(
        text(&output).contains("sources/no.pdf"),
        "{}",
        text(&output)
    );
    // The sound card stays verified whatever lies beside its source.
    assert!(text(&output).contains("\"exact\":1"), "{}", text(&output));
}

#[test]
fn out_that_cannot_be_written_is_said() {
    let folder = project();
    let root = folder.path();
    write(root, "out", "a file of mine");
    expect(root, &["build"], 1, &["out", "BUILD"]);
    assert_eq!(fs::read(root.join("out")).unwrap(), b"a file of mine");

    let folder = project();
    let root = folder.path();
    expect(root, &["build"], 0, &[]);
    let before = published(&root.join("out"));
    write(root, "out/.kb-publish", "a file of mine");
    write(root, "sources/new.md", "# New\n\nNew words.\n");
    expect(root, &["build"], 1, &[".kb-publish", "out"]);
    assert_eq!(
        fs::read(root.join("out/.kb-publish")).unwrap(),
        b"a file of mine"
    );
    assert!(published(&root.join("out")) == before);
    fs::remove_file(root.join("out/.kb-publish")).unwrap();
    expect(root, &["build"], 0, &[]);
}

#[test]
fn a_removed_source_root_deletes_nothing() {
    let folder = project();
    let root = folder.path();
    expect(root, &["build"], 0, &[]);
    let before = published(&root.join("out"));
    fs::rename(root.join("sources"), root.join("unmounted")).unwrap();
    expect(root, &["build"], 1, &["SRC-013", "sources/"]);
    assert!(published(&root.join("out")) == before);
    expect(root, &["freshness"], 1, &["RED"]);
    fs::rename(root.join("unmounted"), root.join("sources")).unwrap();
    expect(root, &["freshness"], 0, &["GREEN"]);
    // Taken out of kb.toml, the folder may go.
    fs::remove_dir_all(root.join("sources")).unwrap();
    expect(root, &["build", "--project", "nowhere"], 2, &["nowhere"]);
}

/// A disk that is full, by a limit on the size of any file that is written.
#[cfg(unix)]
#[test]
fn a_full_disk_loses_nothing() {
    let corpus = Corpus::random(&mut Random::new(50));
    let root = corpus.root();
    kb(root, &["build"]);
    let before = published(&root.join("out"));
    let long: String = (0..4000)
        .map(|n| format!("Line {n} of the log.\n\n"))
        .collect();
    write(root, "sources/log.md", long);
    for blocks in [0, 1, 8, 64] {
        // SIGXFSZ ignored, a write beyond the limit is an error as on a full disk.
        let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" build");
        let output = run(
            Command::new("sh").args(["-c", &script, env!("CARGO_BIN_EXE_kb")]),
            root,
        );
        assert!(!text(&output).contains("panicked"), "{}", text(&output));
        assert_eq!(output.status.code(), Some(1), "{blocks}: {}", text(&output));
        assert!(
            text(&output).contains("BUILD"),
            "{blocks}: {}",
            text(&output)
        );
        assert!(
            published(&root.join("out")) == before,
            "{blocks}: something was replaced"
        );
        assert!(!root.join("out/.kb-publish").exists(), "{blocks}");
    }
    let expected = Given::by(&mut open(root, true));
    let output = kb(root, &["build"]);
    assert!(
        output.status.code().is_some_and(|code| code < 2),
        "{}",
        text(&output)
    );
    assert!(published(&root.join("out")) == expected.files);
}

/// Cuts, flips, doublings and strange bytes.
fn mutate(random: &mut Random, bytes: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..1 + random.below(3) {
        let at = random.below(bytes.len());
        match random.below(7) {
            0 => bytes.truncate(at),
            1 => {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte ^= 1 << random.below(8);
                }
            }
            2 => {
                let end = (at + random.below(200)).min(bytes.len());
                bytes.drain(at..end);
            }
            3 => {
                let end = (at + random.below(200)).min(bytes.len());
                let part = bytes[at..end].to_vec();
                bytes.splice(at..at, part);
            }
            4 => {
                let strange: &[&[u8]] = &[
                    b"\xff\xfe",
                    b"\0",
                    b"\r",
                    b"\xe2\x80\xae",
                    b"\"",
                    b"---\n",
                    b"&a *a",
                    b"<!--",
                    b"\xf0\x9f\x98\x80",
                    b"9999999999999999999",
                    b"[[[[",
                    b"}}",
                    b"\xef\xbb\xbf",
                ];
                let part = strange[random.below(strange.len())];
                bytes.splice(at..at, part.iter().copied());
            }
            5 => {
                bytes.splice(at..at, std::iter::repeat_n(b'[', random.below(3000)));
            }
            _ => bytes.reverse(),
        }
    }
    bytes
}

/// Every file of a project is spoiled, one after another; each time there is a report, and a warm
/// start says what a cold one says.
#[test]
fn spoiled_files_of_every_format_end_in_a_report() {
    let mut random = Random::new(60);
    let corpus = Corpus::random(&mut random);
    let root = corpus.root();
    let handbook = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/sources/handbook.pdf");
    fs::copy(handbook, root.join("sources/handbook.pdf")).unwrap();
    for path in ["sources/c.html", "sources/d.csv", "sources/e.txt"] {
        write(root, path, scripts::source_text(&mut random, path));
    }
    scripts::publish(&mut open(root, true), scripts::Death::None);
    let mut paths = vec![
        "kb.toml".to_owned(),
        "source_matrix.json".to_owned(),
        "sources/a.md".to_owned(),
        "sources/c.html".to_owned(),
        "sources/d.csv".to_owned(),
        "sources/e.txt".to_owned(),
        "sources/handbook.pdf".to_owned(),
    ];
    paths.extend(scripts::files_below(root, "cards").into_iter().take(2));
    paths.extend(scripts::files_below(root, "out"));
    for path in paths {
        let sound = fs::read(root.join(&path)).unwrap();
        for round in 0..25 {
            let bytes = mutate(&mut random, &sound);
            write(root, &path, &bytes);
            let project = kbc::workspace::Project::open(root.to_path_buf());
            let Ok(project) = project else {
                assert_eq!(path, "kb.toml");
                continue;
            };
            let mut session = kbc::session::Session::open(project, scripts::options(false));
            let found = json(&session, &session.report());
            session.record();
            let clean = open(root, true);
            let expected = json(&clean, &clean.report());
            assert_eq!(found, expected, "{path}, round {round}");
            assert!(found.ends_with("}}\n"), "{path}, round {round}");
        }
        write(root, &path, &sound);
    }
}
