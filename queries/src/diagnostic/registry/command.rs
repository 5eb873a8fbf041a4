//! Codes about how a command was called (`CLI`), showing a card (`SHOW`) and round summaries (`RS`).

codes! {
    CLI_001 = "CACG-CLI-001", Error, Finding, Active => {
        title: "file or folder not found, or of the wrong kind",
        explanation: "A file or folder that the command needs is not there, or is of the wrong kind: a folder where a \
            file should be, or text that is not UTF-8. The message names the path. Some refusals of the \
            retract commands have this code too.",
        language: "sh",
        failing: "kb lint cards/no-such-card.md --source-matrix source_matrix.json",
        corrected: "kb lint cards/reading_01/tree-hashing.md --source-matrix source_matrix.json",
    }
    CLI_002 = "CACG-CLI-002", Error, Finding, Reserved("a stub of the contract's tools said it; every verb is there") => {
        title: "command not implemented",
        explanation: "The contract's early tool said this of commands that were planned. Every command listed in `kb \
            --help` works here.",
        language: "sh",
        failing: "kb audit",
        corrected: "kb check",
    }
    CLI_003 = "CACG-CLI-003", Error, Finding, Active => {
        title: "bad argument value",
        explanation: "An argument has a value that the command does not take, for instance a slug with capitals, or \
            `--append` with a source that is not a stream of utterances. The exit status is 2, as for every \
            wrong call.",
        language: "sh",
        failing: r#"kb new reading_01 "Tree Hashing""#,
        corrected: "kb new reading_01 tree-hashing",
    }
    CLI_004 = "CACG-CLI-004", Error, Finding, Active => {
        title: "chunking configuration invalid",
        explanation: "The file given with `--config` is no valid chunking configuration. It may hold `chunking` with \
            the whole numbers `target_tokens`, `overlap_tokens` and `max_pages_per_chunk`; the overlap has \
            to be smaller than the target.",
        language: "yaml",
        failing: "chunking:
  target_tokens: 50
  overlap_tokens: 50",
        corrected: "chunking:
  target_tokens: 350
  overlap_tokens: 50",
    }
    CLI_005 = "CACG-CLI-005", Error, Finding, Active => {
        title: "output exists",
        explanation: "The file that would be written exists already, and nothing is overwritten unasked. Choose \
            another name, or give `--force` if the old one may go.",
        language: "sh",
        failing: "kb new reading_01 tree-hashing   # the second time",
        corrected: "kb new reading_01 tree-proofs",
    }
    RS_001 = "CACG-RS-001", Error, Verdict, Active => {
        title: "round summary lacks its section",
        explanation: "The round summary is about work that touches the knowledge base, and it has no section \
            `Knowledge Consulted`. So nobody can tell on what it rests. Add the section with the paths of \
            the cards that were used. The exit status is 2.",
        language: "markdown",
        failing: "## Result
Changed cards/a.md.",
        corrected: "## Knowledge Consulted
- cards/reading_01/tree-hashing.md

## Result
Changed cards/a.md.",
    }
    RS_002 = "CACG-RS-002", Error, Verdict, Active => {
        title: "round summary both cites and declines",
        explanation: "The section lists cards and at the same time says that none applied. Only one of the two can be \
            true. The cards are verified all the same; the summary fails until one of the two is removed.",
        language: "markdown",
        failing: "## Knowledge Consulted
- cards/a.md
N/A -- task not KB-relevant this round",
        corrected: "## Knowledge Consulted
- cards/a.md",
    }
    RS_003 = "CACG-RS-003", Error, Verdict, Active => {
        title: "relevant work declined to cite",
        explanation: "The section says that no card applied, but the work is about something the knowledge base \
            covers. List the cards that were used, or say in the summary what the work was about.",
        language: "markdown",
        failing: "## Knowledge Consulted
N/A -- task not KB-relevant this round

Changed cards/a.md.",
        corrected: "## Knowledge Consulted
- cards/a.md

Changed cards/a.md.",
    }
    RS_004 = "CACG-RS-004", Error, Verdict, Active => {
        title: "relevant work cites nothing",
        explanation: "The section is there but empty, although the work is about something the knowledge base covers. \
            List the cards that were used, one path to a bullet.",
        language: "markdown",
        failing: "## Knowledge Consulted

Changed cards/a.md.",
        corrected: "## Knowledge Consulted
- cards/a.md

Changed cards/a.md.",
    }
    RS_005 = "CACG-RS-005", Error, Verdict, Active => {
        title: "cited card lies outside the project",
        explanation: "The path leads out of the project, by `..`, by an absolute path or by a link. A summary that \
            could cite any file on the machine would prove nothing about this deck, so the file was not \
            read. Cite a card of the project, or allow it with `--allow-outside`.",
        language: "markdown",
        failing: "## Knowledge Consulted
- ../other-project/cards/a.md",
        corrected: "## Knowledge Consulted
- cards/a.md",
    }
    SHOW_001 = "CACG-SHOW-001", Error, Finding, Active => {
        title: "card is retracted and not shown",
        explanation: "The card was retracted, by itself or because something it depends on was, and is not shown as if \
            it still held. Give `--allow-retracted` to see it with its status.",
        language: "sh",
        failing: "kb show old-hashing --source-matrix source_matrix.json",
        corrected: "kb show old-hashing --allow-retracted --source-matrix source_matrix.json",
    }
    SHOW_002 = "CACG-SHOW-002", Error, Finding, Active => {
        title: "file disagrees with the manifest",
        explanation: "The file given with `--path` is not the card that the manifest knows under this id: another id, \
            or another content. Index again if the file is right.",
        language: "sh",
        failing: "kb show tree-hashing --path cards/b.md",
        corrected: "kb show tree-hashing --path cards/reading_01/tree-hashing.md",
    }
    SHOW_003 = "CACG-SHOW-003", Error, Finding, Active => {
        title: "unsafe path",
        explanation: "The path is absolute or leads upward with `..`, and could point outside the project. Give a path \
            inside it.",
        language: "sh",
        failing: "kb show tree-hashing --path ../other/a.md",
        corrected: "kb show tree-hashing --path cards/reading_01/tree-hashing.md",
    }
}
