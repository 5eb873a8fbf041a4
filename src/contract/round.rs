//! Where the cards of a round summary lie.
//!
//! A path is looked for beside the summary first, then from the current folder, as the contract's
//! published text says. What lies outside the project is not read unless it is asked for.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use kbc_queries::round::Cited;

use crate::workspace::{discover, plain};

/// Where a cited path leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// There is a file (or folder) at this path.
    Found(PathBuf),
    /// There is nothing; where it would have been.
    Missing(PathBuf),
    /// It leads out of the project.
    Outside(PathBuf),
}

/// Where paths are looked for.
#[derive(Debug)]
pub struct Search<'a> {
    beside: &'a Path,
    current: &'a Path,
    root: &'a Path,
    allow_outside: bool,
    real_root: Option<PathBuf>,
    /// Folders, and whether they lie in the project, links followed.
    folders: HashMap<PathBuf, bool>,
}

impl<'a> Search<'a> {
    /// Looks beside the summary in `beside`, then from `current`, within the project's `root`
    /// unless paths may lead out of it.
    pub fn new(beside: &'a Path, current: &'a Path, root: &'a Path, allow_outside: bool) -> Self {
        Search {
            beside,
            current,
            root,
            allow_outside,
            real_root: root.canonicalize().ok(),
            folders: HashMap::new(),
        }
    }

    /// Where a cited card lies: as written, then as its other readings.
    pub fn place(&mut self, cited: &Cited) -> Place {
        let spellings = std::iter::once(&cited.path).chain(&cited.readings);
        let mut outside = None;
        for spelling in spellings {
            for base in [self.beside, self.current] {
                let candidate = plain(&base.join(spelling));
                let Ok(found) = candidate.symlink_metadata() else {
                    continue;
                };
                let is_link = found.is_symlink();
                if is_link && !candidate.exists() {
                    continue;
                }
                if self.allow_outside || self.is_inside(&candidate, is_link) {
                    return Place::Found(candidate);
                }
                outside.get_or_insert(candidate);
            }
        }
        match outside {
            Some(path) => Place::Outside(path),
            None => {
                let missing = plain(&self.current.join(&cited.path));
                match self.allow_outside || discover::relative(self.root, &missing).is_some() {
                    true => Place::Missing(missing),
                    false => Place::Outside(missing),
                }
            }
        }
    }

    /// Whether a path leads into the project, links followed.
    fn is_inside(&mut self, path: &Path, is_link: bool) -> bool {
        let Some(root) = &self.real_root else {
            return false;
        };
        let really = |path: &Path| path.canonicalize().is_ok_and(|path| path.starts_with(root));
        match path.parent() {
            // What is no link lies where its folder lies, and many cards share one.
            Some(folder) if !is_link => match self.folders.get(folder) {
                Some(inside) => *inside,
                None => {
                    let inside = really(folder);
                    self.folders.insert(folder.to_path_buf(), inside);
                    inside
                }
            },
            _ => really(path),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::fs;

    use super::*;

    fn cited(path: &str, readings: &[&str]) -> Cited {
        Cited {
            path: path.to_owned(),
            readings: readings.iter().map(|&text| text.to_owned()).collect(),
            range: 0..0,
        }
    }

    #[test]
    fn the_summarys_folder_comes_first_and_the_project_is_not_left() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("project");
        fs::create_dir_all(root.join("cards")).unwrap();
        fs::create_dir_all(root.join("rounds/cards")).unwrap();
        for path in ["cards/a.md", "rounds/cards/a.md", "cards/b.md"] {
            fs::write(root.join(path), "").unwrap();
        }
        fs::write(folder.path().join("far.md"), "").unwrap();
        let beside = root.join("rounds");
        let mut search = Search::new(&beside, &root, &root, false);
        for (path, readings, place) in [
            (
                "cards/a.md",
                &[][..],
                Place::Found(beside.join("cards/a.md")),
            ),
            ("cards/b.md", &[], Place::Found(root.join("cards/b.md"))),
            (
                r"cards\b.md",
                &["cards/b.md"],
                Place::Found(root.join("cards/b.md")),
            ),
            ("cards/c.md", &[], Place::Missing(root.join("cards/c.md"))),
            (
                "../../far.md",
                &[],
                Place::Outside(folder.path().join("far.md")),
            ),
            (
                "../far.md",
                &[],
                Place::Outside(folder.path().join("far.md")),
            ),
        ] {
            assert_eq!(search.place(&cited(path, readings)), place, "{path}");
        }
        let mut open = Search::new(&beside, &root, &root, true);
        assert_eq!(
            open.place(&cited("../far.md", &[])),
            Place::Found(folder.path().join("far.md"))
        );
    }

    #[cfg(unix)]
    #[test]
    fn a_link_is_no_way_out() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("project");
        fs::create_dir_all(&root).unwrap();
        fs::write(folder.path().join("far.md"), "").unwrap();
        std::os::unix::fs::symlink(folder.path().join("far.md"), root.join("near.md")).unwrap();
        let mut search = Search::new(&root, &root, &root, false);
        assert!(matches!(
            search.place(&cited("near.md", &[])),
            Place::Outside(_)
        ));
    }
}
