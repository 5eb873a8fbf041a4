//! How a card is called in an event: records are committed and read on other machines.

use std::path::{Path, PathBuf};

use crate::workspace::discover::relative;
use crate::workspace::plain;

/// A path as events have it: relative to the project's root with `/` where it lies below it, else
/// relative to the current folder where it lies below that, else as it was given.
#[must_use]
pub fn recorded(path: &Path, root: &Path, current: &Path) -> String {
    let absolute = plain(&current.join(path));
    [root, current]
        .into_iter()
        .find_map(|folder| below(folder, &absolute))
        .unwrap_or_else(|| path.to_string_lossy().into_owned())
}

fn below(folder: &Path, absolute: &Path) -> Option<String> {
    relative(folder, absolute)
        .or_else(|| {
            // The same folder may have two names, by a link. The file itself need not be there, and
            // a link in the file's own place is not followed: it is the card that was named.
            let folder = folder.canonicalize().ok()?;
            let parent = absolute.parent()?.canonicalize().ok()?;
            relative(&folder, &parent.join(absolute.file_name()?))
        })
        .filter(|path| !path.is_empty())
}

/// A path with something appended to its last name.
#[must_use]
pub fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_below_the_root_lose_it_and_others_stay() {
        let cases = [
            ("cards/a.md", "/w/kb", "/w/kb", "cards/a.md"),
            ("/w/kb/cards/a.md", "/w/kb", "/w/kb", "cards/a.md"),
            ("./a.md", "/w/kb", "/w/kb/cards", "cards/a.md"),
            ("../b/./a.md", "/w/kb", "/w/kb/cards", "b/a.md"),
            ("../a.md", "/w/kb", "/w/kb", "../a.md"),
            ("/else/a.md", "/w/kb", "/w/kb", "/else/a.md"),
            ("/w/kb2/a.md", "/w/kb", "/w/kb", "/w/kb2/a.md"),
            ("a.md", "/w/kb", "/else", "a.md"),
            ("/else/b/a.md", "/w/kb", "/else", "b/a.md"),
        ];
        for (path, root, current, expected) in cases {
            let found = recorded(Path::new(path), Path::new(root), Path::new(current));
            assert_eq!(found, expected, "{path} in {root}, from {current}");
        }
    }
}
