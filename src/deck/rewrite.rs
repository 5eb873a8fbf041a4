//! Recording a card's hash in its file: one line changes, at once, and can be taken back.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use kbc_queries::CARD_LIMIT;
use kbc_queries::derive::derive_card;
use kbc_queries::diagnostic::registry;
use kbc_queries::parse::card::card_hash_edit;

use crate::workspace::door;

use super::Refusal;

/// What the name of a file on its way into a card's place ends with.
const NEW: &str = ".md.kb-new";

/// Whether a file of this name was left by an interrupted run.
pub fn is_leftover(name: &str) -> bool {
    name.starts_with('.') && name.ends_with(NEW)
}

/// The card's text with its hash recorded. `None`: there is no such edit.
pub fn stamped(text: &str, hash: &str) -> Option<String> {
    let (range, line) = card_hash_edit(text, hash)?;
    let mut stamped = String::with_capacity(text.len() + line.len());
    stamped.push_str(text.get(..range.start)?);
    stamped.push_str(&line);
    stamped.push_str(text.get(range.end..)?);
    // However the card is written: the edit is right if and only if the card then holds its hash.
    let after = derive_card(&stamped);
    let recorded = after.parsed.card_hash.as_ref();
    (after.hash.as_deref() == Some(hash)
        && recorded.is_some_and(|recorded| &*recorded.value == hash))
    .then_some(stamped)
}

/// Refuses a card beside which somebody else's `.tmp` or `.bak` of it lies.
pub fn no_sidecars(at: &Path, shown: &str) -> Result<(), Refusal> {
    for suffix in [".tmp", ".bak"] {
        let beside = crate::record::paths::beside(at, suffix);
        if fs::symlink_metadata(&beside).is_ok() {
            return Err(Refusal::new(
                registry::IDX_006,
                format!(
                    "{shown}{suffix} lies beside the card and is not this program's; compare the \
                     two, keep the right one and move the other away"
                ),
            ));
        }
    }
    Ok(())
}

/// Replaces a file by another text at once, unless it is not `before` any more.
pub fn replace(at: &Path, before: &str, after: &str) -> io::Result<()> {
    let changed = || io::Error::other("it changed in the meantime; run the command again");
    let metadata = fs::symlink_metadata(at)?;
    if !metadata.is_file() {
        return Err(changed());
    }
    let permissions = metadata.permissions();
    if permissions.readonly() {
        return Err(io::Error::other("it is read-only"));
    }
    let (Some(folder), Some(name)) = (at.parent(), at.file_name().and_then(|name| name.to_str()))
    else {
        return Err(io::Error::other("it has no name"));
    };
    let stem = name.strip_suffix(".md").unwrap_or(name);
    let temporary = folder.join(format!(".{stem}{NEW}"));
    let result = write(&temporary, after, permissions).and_then(|()| {
        // As late as possible: what is written between this and the renaming would be lost.
        match door::read(at, CARD_LIMIT).map_err(door::as_error)? {
            now if now == before.as_bytes() => {}
            _ => return Err(changed()),
        }
        fs::rename(&temporary, at)
    });
    if result.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    result
}

fn write(path: &Path, text: &str, permissions: fs::Permissions) -> io::Result<()> {
    // What a killed run left may be somebody else's link by now.
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = File::create_new(path)?;
    file.write_all(text.as_bytes())?;
    file.set_permissions(permissions)?;
    // A rename that reaches the disk before the bytes would leave an empty card.
    file.sync_data()
}

/// Removes what interrupted runs left. Whoever calls this holds the lock.
pub fn clear(leftovers: &[PathBuf]) {
    for path in leftovers {
        let _ = fs::remove_file(path);
    }
}
