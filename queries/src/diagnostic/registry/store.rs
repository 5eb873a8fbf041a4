//! Codes about what is kept on disk: manifests (`MAN`), journals (`JNL`, `LCK`), histories (`HIST`), indexes (`IDX`, `IDX-CACHE`, `FTS`) and retraction's second step (`RET`).

codes! {
    FTS_001 = "CACG-FTS-001", Info, Finding, Active => {
        title: "search sidecar stale or corrupt",
        explanation: "The search file beside the summaries does not belong to them any more, or is damaged, so it was \
            not used. The search ran in memory instead, with the same rights and possibly another order. \
            `kb index` builds it anew.",
        language: "sh",
        failing: "kb search hashing   # after summaries.json was edited",
        corrected: "kb index && kb search hashing",
    }
    FTS_002 = "CACG-FTS-002", Info, Finding, Active => {
        title: "search sidecar not built",
        explanation: "The search file could not be built, and everything else was published. Searches run in memory. \
            The message has the cause, usually a full disk or a file that is left over from a crash.",
        language: "sh",
        failing: "kb index cards   # the disk is full",
        corrected: "df -h . && kb index cards",
    }
    FTS_003 = "CACG-FTS-003", Error, Finding, Reserved("reserved by the contract") => {
        title: "no search back-end",
        explanation: "Kept by the contract for a program without any search at all. There is always one here: without \
            the search file the summaries are searched in memory.",
        language: "text",
        failing: "(nothing)",
        corrected: "(never reported)",
    }
    HIST_001 = "CACG-HIST-001", Error, Finding, Active => {
        title: "card history malformed or rewritten",
        explanation: "The history of a card is damaged, or was rewritten: an event does not follow from the one \
            before, or its checksum is wrong. What it says about earlier versions cannot be trusted, and \
            nothing is appended to it. `kb history CARD --validate` names the first bad line. Restore the \
            file from version control.",
        language: "sh",
        failing: "sed -i s/a/b/ cards/a.history.jsonl",
        corrected: "git restore cards/a.history.jsonl",
    }
    IDX_004 = "CACG-IDX-004", Error, Finding, Active => {
        title: "publishing the index failed",
        explanation: "The index, or the result of a retraction, could not be written. What was published before is \
            still there. The message has the cause; free some space or correct the permissions, and run \
            again.",
        language: "sh",
        failing: "chmod a-w out && kb index",
        corrected: "chmod u+w out && kb index",
    }
    IDX_005 = "CACG-IDX-005", Error, Finding, Active => {
        title: "index output inside the cards folder",
        explanation: "The output folder is the folder of the cards, or lies inside it. The index would then be read as \
            cards the next time. Choose a folder beside it.",
        language: "sh",
        failing: "kb index cards --out cards/out",
        corrected: "kb index cards --out out",
    }
    IDX_006 = "CACG-IDX-006", Error, Finding, Active => {
        title: "foreign sidecar beside a card",
        explanation: "Beside a card lies a file `.tmp` or `.bak` that this run did not make. Nothing was \
            written. Compare the two, keep the right one and move the other away.",
        language: "sh",
        failing: "ls cards/a.md.bak",
        corrected: "rm cards/a.md.bak",
    }
    IDX_007 = "CACG-IDX-007", Error, Finding, Active => {
        title: "foreign index sidecar",
        explanation: "Beside a file that is to be published lies a `.tmp` or `.bak` of it that this run did not make: \
            another run is at work, or one was interrupted. Nothing was overwritten. Wait for the other run; \
            if there is none, compare the files, keep the right one and delete the rest.",
        language: "sh",
        failing: "ls out/summaries.json.tmp",
        corrected: "rm out/summaries.json.tmp && kb index",
    }
    IDX_008 = "CACG-IDX-008", Error, Finding, Active => {
        title: "index target is not a regular file",
        explanation: "A file that is to be published is a folder, a link or a device. Writing through it could change \
            something outside the project. Move it away.",
        language: "sh",
        failing: "ln -s /tmp/x out/summaries.json",
        corrected: "rm out/summaries.json && kb index",
    }
    IDX_CACHE_001 = "CACG-IDX-CACHE-001", Error, Finding, Reserved("reserved by the contract") => {
        title: "index cache drifted",
        explanation: "Kept by the contract for a cache of the indexer that no longer fits the cards. Here derived \
            state is keyed by content; if it is damaged, CACHE-001 says so.",
        language: "text",
        failing: ".kb_index_cache.json",
        corrected: ".kb/",
    }
    JNL_001 = "CACG-JNL-001", Error, Finding, Active => {
        title: "journal invalid or not appendable",
        explanation: "The journal of checks is damaged, its chain of checksums is broken, its end or all of it is gone, \
            it was written anew, or it cannot be appended to. A check that leaves no record is not complete, \
            so the command fails. `kb journal verify` names the first bad line. Restore the journal together \
            with its `.head` file from version control, name another with `--journal`, or set it aside for \
            good with `kb journal rotate --abandon`.",
        language: "sh",
        failing: "truncate -s -9 out/lint_journal.jsonl",
        corrected: "git restore out/lint_journal.jsonl",
    }
    LCK_001 = "CACG-LCK-001", Info, Finding, Reserved("only the retired Python tool of the contract went on without a lock; here that is JNL-001 or HIST-001") => {
        title: "no file locking",
        explanation: "The system has no file locks, so two runs that write one journal at the same time could mix \
            their lines. Run one at a time on such a file system.",
        language: "sh",
        failing: "kb lint a.md & kb lint b.md",
        corrected: "kb lint a.md && kb lint b.md",
    }
    MAN_001 = "CACG-MAN-001", Error, Verdict, Active => {
        title: "manifest missing or invalid",
        explanation: "A manifest, or the cache of semantic verdicts, is missing, is not JSON, or breaks its own rules: \
            duplicate ids, lists out of order, an unknown field. Whatever depends on it was not checked. \
            Make it anew with `kb build` or `kb ingest`; do not edit manifests by hand.",
        language: "json",
        failing: r#"{"chunks": [], "extra": 1}"#,
        corrected: r#"{"chunks": [], "retracted_chunk_ids": [], "retracted_source_ids": [], "schema_version": "cacg.v0"}"#,
    }
    MAN_002 = "CACG-MAN-002", Error, Finding, Active => {
        title: "foreign manifest sidecar",
        explanation: "Beside a manifest lies a `.tmp` or `.bak` of it that this run did not make: another run is at \
            work, or one was interrupted. Nothing was overwritten. Wait, or compare the files, keep the \
            right one and delete the rest.",
        language: "sh",
        failing: "ls out/chunks_manifest.json.bak",
        corrected: "rm out/chunks_manifest.json.bak && kb ingest spec.pdf",
    }
    MAN_003 = "CACG-MAN-003", Error, Finding, Active => {
        title: "manifest target is not a regular file",
        explanation: "The place of a manifest is taken by a folder, a link or a device. Writing there could change \
            something outside the project. Move it away.",
        language: "sh",
        failing: "mkdir out/chunks_manifest.json",
        corrected: "rmdir out/chunks_manifest.json && kb ingest spec.pdf",
    }
    RET_003 = "CACG-RET-003", Error, Finding, Active => {
        title: "retraction stopped after its first step",
        explanation: "A retraction and everything that follows from it are published together. A step of it failed, so \
            it was taken back as a whole: nothing is half retracted. The message has the cause; mend it and \
            repeat the command.",
        language: "sh",
        failing: "kb retract-source spec --cards-dir cards   # the disk is full",
        corrected: "df -h . && kb retract-source spec --cards-dir cards",
    }
}
