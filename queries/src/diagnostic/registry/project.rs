//! Codes about the project as a whole: settings (`CFG`), publishing (`BUILD`), derived state (`CACHE`), freshness (`FRESH`) and proofs (`PROOF`).

codes! {
    BUILD_001 = "CACG-BUILD-001", Error, Verdict, Active => {
        title: "out/ is not what this build gives",
        explanation: "With `--locked` a build must give exactly what `out/` holds already, and it gives something \
            else. So somebody changed a source, a card or a setting and did not publish. Run `kb build` \
            without `--locked`, look at what changed in `out/`, and commit it.",
        language: "sh",
        failing: "kb build --locked   # after an edit",
        corrected: "kb build && git add out && kb build --locked",
    }
    BUILD_002 = "CACG-BUILD-002", Error, Finding, Active => {
        title: "build could not publish",
        explanation: "The build is finished but could not be published: no space, no permission, or a file is in the \
            way. `out/` holds the set it held before, complete. Remove the cause and build again.",
        language: "sh",
        failing: "chmod a-w out && kb build",
        corrected: "chmod u+w out && kb build",
    }
    BUILD_003 = "CACG-BUILD-003", Info, Finding, Active => {
        title: "interrupted publish repaired",
        explanation: "An earlier run was interrupted while it published. Its work was complete on disk, so this run \
            finished it, or put the old set back; `out/` is whole again. It is said on stderr and is no part \
            of the findings. There is nothing to do.",
        language: "text",
        failing: "out/ after a power failure",
        corrected: "out/ after the next run",
    }
    CACHE_001 = "CACG-CACHE-001", Info, Finding, Active => {
        title: "derived state was damaged and rebuilt",
        explanation: "Something in `.kb/` was damaged: a truncated database, or an entry whose checksum is wrong. It \
            was thrown away and derived again from the sources, so the results are right and only this run \
            was slower. It is said on stderr and is no part of the findings, which are those of a run \
            without damage. If it happens often, look at the disk.",
        language: "sh",
        failing: "truncate -s 100 .kb/cache.sqlite",
        corrected: "kb check",
    }
    CFG_001 = "CACG-CFG-001", Error, Finding, Active => {
        title: "unknown key in kb.toml",
        explanation: "kb.toml has a key that does not exist. It has no effect, which is worse than an error if it was \
            meant to exclude or to forbid something. The message names the nearest known key.",
        language: "toml",
        failing: r#"[[collection]]
name = "canon"
exlude = ["drafts/**"]"#,
        corrected: r#"[[collection]]
name = "canon"
exclude = ["drafts/**"]"#,
    }
    CFG_002 = "CACG-CFG-002", Error, Verdict, Active => {
        title: "wrong type or value in kb.toml",
        explanation: "A key of kb.toml has a value of the wrong type, or one that is not among the allowed ones, or a \
            key is missing that has no default. What was meant is unknown, so nothing is checked or \
            published until it is right, and the exit status is 2.",
        language: "toml",
        failing: "[index]
embedder = 3",
        corrected: r#"[index]
embedder = "builtin""#,
    }
    CFG_003 = "CACG-CFG-003", Error, Verdict, Active => {
        title: "bad glob or regular expression",
        explanation: "A glob or a regular expression in kb.toml cannot be compiled. It would match nothing, so files \
            would silently stay out of the check. Globs know `*`, `**`, `?`, `[…]` and `{a,b}`; in TOML, \
            write expressions in single quotes.",
        language: "toml",
        failing: r#"include = ["sources/[a"]"#,
        corrected: r#"include = ["sources/[ab]*"]"#,
    }
    CFG_004 = "CACG-CFG-004", Error, Verdict, Active => {
        title: "kb.toml is not TOML",
        explanation: "kb.toml is not well-formed TOML. No setting can be taken from it, so nothing is checked or \
            published, and the exit status is 2. Correct the line that is marked; texts need quotes.",
        language: "toml",
        failing: "[cards]
include = cards/**",
        corrected: r#"[cards]
include = ["cards/**/*.md"]"#,
    }
    CFG_005 = "CACG-CFG-005", Error, Verdict, Active => {
        title: "settings contradict each other",
        explanation: "Two settings cannot both hold: a file belongs to two collections, a file is both a card and a \
            source, or an overlap is as large as the chunk. Which one was meant cannot be guessed. Exclude \
            the file from one of them, or change one of the numbers.",
        language: "toml",
        failing: r#"[[collection]]
name = "a"
chunk = { tokens = 50, overlap = 75 }"#,
        corrected: r#"[[collection]]
name = "a"
chunk = { tokens = 512, overlap = 75 }"#,
    }
    CFG_006 = "CACG-CFG-006", Error, Verdict, Active => {
        title: "severity override not allowed",
        explanation: "`[diagnostics]` names a code that does not exist, or lowers one that says that something is not \
            verified. Such a code cannot be lowered: a check that passes must mean that it was verified. \
            Correct the code, raise it instead, or record the old findings in a baseline, which hides them \
            and says so.",
        language: "toml",
        failing: r#"[diagnostics]
"CACG-VERIFY-001" = "warning""#,
        corrected: r#"[diagnostics]
"CACG-QUOTE-006" = "error""#,
    }
    CFG_007 = "CACG-CFG-007", Warning, Finding, Active => {
        title: "collection matches no file",
        explanation: "The globs of a collection match no file. Either the folder is not there yet, or the pattern is \
            wrong and the collection is silently left out of everything. Correct the pattern, or remove the \
            collection.",
        language: "toml",
        failing: r#"include = ["cannon/**"]"#,
        corrected: r#"include = ["canon/**"]"#,
    }
    CFG_008 = "CACG-CFG-008", Error, Verdict, Active => {
        title: "two sources with one id",
        explanation: "Two files would have the same source id. Chunk ids begin with it, so citations could mean either \
            file. Give one of them another `id` in kb.toml; the message names the other file.",
        language: "toml",
        failing: r#"[source."a/spec.md"]
id = "spec"
[source."b/spec.md"]
id = "spec""#,
        corrected: r#"[source."a/spec.md"]
id = "spec"
[source."b/spec.md"]
id = "spec_b""#,
    }
    FRESH_001 = "CACG-FRESH-001", Error, Verdict, Active => {
        title: "index is stale",
        explanation: "The published index was built from other inputs than those that are here now. What it answers \
            may be out of date. The message lists which inputs were added, changed or removed; run `kb \
            build`.",
        language: "sh",
        failing: "echo more >> canon/a.md && kb freshness",
        corrected: "kb build && kb freshness",
    }
    FRESH_002 = "CACG-FRESH-002", Error, Verdict, Active => {
        title: "no index manifest",
        explanation: "There is no `index_manifest.json`, so nobody can say from which inputs the index was built. A \
            missing record is red, not green. Run `kb build`.",
        language: "sh",
        failing: "rm out/index_manifest.json && kb freshness",
        corrected: "kb build && kb freshness",
    }
    FRESH_003 = "CACG-FRESH-003", Error, Verdict, Active => {
        title: "files in out/ do not match their manifest",
        explanation: "A file in `out/` does not have the hash that the manifest records for it: it was edited, merged \
            or only partly checked out. The set is not one that any build published. Run `kb build`, and \
            never resolve merge conflicts in `out/` by hand.",
        language: "sh",
        failing: "sed -i s/a/b/ out/summaries.json",
        corrected: "kb build",
    }
    PROOF_001 = "CACG-PROOF-001", Error, Verdict, Active => {
        title: "proof is invalid",
        explanation: "An inclusion proof does not hold: the hashes do not lead to the root, or the index, the number \
            of siblings or the number of leaves do not fit each other. So it does not show that this text is \
            part of that document. Ask for a new proof with `kb prove`, and compare the root with the one \
            you trust.",
        language: "sh",
        failing: "kb verify-proof p.json --root 4a911a87…   # of another version",
        corrected: "kb prove spec:p003:0007 > p.json && kb verify-proof p.json --root 1694a259…",
    }
}
