//! Source ids: an id once recorded never changes by itself.
//!
//! In order: what the settings say; what the published manifest records for the path; what it
//! records for the content, when the recorded file is gone (a move); else the slug of the file's
//! stem, with the slugs of parent folders in front while another file has it.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use kbc_queries::diagnostic::{Diagnostic, registry};

/// A source before it has an id.
#[derive(Clone, Debug)]
pub struct Candidate<'a> {
    /// Its path.
    pub path: &'a Arc<str>,
    /// The id that the settings give it.
    pub explicit: Option<&'a str>,
}

/// What the published manifest says of a source.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Recorded {
    /// Its id.
    pub id: Arc<str>,
    /// Where it was.
    pub path: Arc<str>,
    /// SHA-256 of its bytes, hex.
    pub sha256: Arc<str>,
    /// Name and version of what extracted its text.
    pub extractor: (Arc<str>, Arc<str>),
    /// How it was cut: a place in [`Published::cuts`](super::context::Published::cuts).
    pub cut: Option<u32>,
}

/// The ids of `candidates` (in order of their paths), and what is wrong with them.
///
/// `content` gives the SHA-256 (hex) of a file; it is asked only for files that are not recorded,
/// and only while a recorded file is missing.
pub fn assign(
    candidates: &[Candidate<'_>],
    recorded: &[Recorded],
    mut content: impl FnMut(&str) -> Option<String>,
) -> (Vec<Arc<str>>, Vec<Diagnostic>) {
    let present: BTreeSet<&str> = candidates
        .iter()
        .map(|candidate| &**candidate.path)
        .collect();
    let by_path: HashMap<&str, &Recorded> = recorded
        .iter()
        .map(|record| (&*record.path, record))
        .collect();
    let mut missing: BTreeMap<&str, Vec<&Recorded>> = BTreeMap::new();
    for record in recorded {
        if !present.contains(&*record.path) {
            missing.entry(&*record.sha256).or_default().push(record);
        }
    }

    let mut ids: Vec<Option<Arc<str>>> = vec![None; candidates.len()];
    let mut taken: HashMap<Arc<str>, usize> = HashMap::new();
    let mut diagnostics = Vec::new();
    for (index, candidate) in candidates.iter().enumerate() {
        let known = by_path
            .get(&**candidate.path)
            .map(|record| record.id.clone());
        let Some(id) = candidate.explicit.map(Arc::from).or(known) else {
            continue;
        };
        if let Some(first) = taken.get(&id) {
            diagnostics.push(duplicate(candidate.path, &id, candidates[*first].path));
            continue;
        }
        taken.insert(id.clone(), index);
        ids[index] = Some(id);
    }
    if !missing.is_empty() {
        for (index, candidate) in candidates.iter().enumerate() {
            if ids[index].is_some() || candidate.explicit.is_some() {
                continue;
            }
            let Some(records) =
                content(candidate.path).and_then(|sha| missing.get_mut(sha.as_str()))
            else {
                continue;
            };
            // Several lost files with the same bytes: the first by path moves first.
            let free = records
                .iter()
                .position(|record| !taken.contains_key(&record.id));
            if let Some(free) = free {
                let record = records.remove(free);
                taken.insert(record.id.clone(), index);
                ids[index] = Some(record.id.clone());
            }
        }
    }
    for (index, candidate) in candidates.iter().enumerate() {
        if ids[index].is_none() {
            let id = unique(candidate.path, &taken);
            taken.insert(id.clone(), index);
            ids[index] = Some(id);
        }
    }
    (ids.into_iter().flatten().collect(), diagnostics)
}

fn duplicate(path: &Arc<str>, id: &str, first: &str) -> Diagnostic {
    Diagnostic::new(
        registry::CFG_008,
        format!("the source id `{id}` is already taken by {first}; this file gets another one"),
    )
    .in_file(path.clone())
    .help("give one of the two another `id` in kb.toml")
}

/// The first free one of: the stem's slug; the same with more and more parents in front; the
/// whole with a number behind.
fn unique(path: &str, taken: &HashMap<Arc<str>, usize>) -> Arc<str> {
    let mut parts: Vec<&str> = path.split('/').collect();
    let name = parts.pop().unwrap_or(path);
    let stem = name
        .rsplit_once('.')
        .map_or(name, |(stem, _)| if stem.is_empty() { name } else { stem });
    let mut id = slug(stem);
    while taken.contains_key(id.as_str()) {
        match parts.pop() {
            Some(parent) => id = format!("{}_{id}", slug(parent)),
            None => break,
        }
    }
    let mut number = 2;
    let base = id.clone();
    while taken.contains_key(id.as_str()) {
        id = format!("{base}_{number}");
        number += 1;
    }
    id.into()
}

/// Lower-case ASCII letters and digits, everything else one `_`.
pub fn slug(text: &str) -> String {
    let ascii = deunicode::deunicode(text).to_ascii_lowercase();
    let mut slug = String::with_capacity(ascii.len());
    for character in ascii.chars() {
        if character.is_ascii_alphanumeric() {
            slug.push(character);
        } else if !slug.ends_with('_') && !slug.is_empty() {
            slug.push('_');
        }
    }
    while slug.ends_with('_') {
        slug.pop();
    }
    if slug.is_empty() {
        "source".to_owned()
    } else {
        slug
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn ids(
        paths: &[&str],
        recorded: &[(&str, &str, &str)],
        content: &[(&str, &str)],
    ) -> Vec<String> {
        let paths: Vec<Arc<str>> = paths.iter().map(|path| Arc::from(*path)).collect();
        let candidates: Vec<Candidate<'_>> = paths
            .iter()
            .map(|path| Candidate {
                path,
                explicit: None,
            })
            .collect();
        let recorded: Vec<Recorded> = recorded
            .iter()
            .map(|(id, path, sha)| Recorded {
                extractor: ("".into(), "".into()),
                cut: None,
                id: (*id).into(),
                path: (*path).into(),
                sha256: (*sha).into(),
            })
            .collect();
        let (ids, diagnostics) = assign(&candidates, &recorded, |path| {
            content
                .iter()
                .find(|(known, _)| *known == path)
                .map(|(_, sha)| (*sha).to_owned())
        });
        assert!(diagnostics.is_empty());
        ids.iter().map(|id| id.to_string()).collect()
    }

    #[test]
    fn an_id_is_the_slug_of_the_stem_with_parents_where_needed() {
        assert_eq!(
            ids(
                &["a/Überblick 2.md", "a/x.md", "b/x.md", "c/x.md", "x.md"],
                &[],
                &[]
            ),
            ["uberblick_2", "x", "b_x", "c_x", "x_2"]
        );
    }

    #[test]
    fn a_recorded_id_stays_with_its_path_and_moves_with_its_content() {
        assert_eq!(
            ids(
                &["b/x.md", "new/y.md"],
                &[("x1", "b/x.md", "11"), ("why", "y.md", "22")],
                &[("new/y.md", "22")]
            ),
            ["x1", "why"]
        );
    }

    #[test]
    fn a_copy_put_at_the_old_path_keeps_the_id_there() {
        assert_eq!(
            ids(
                &["new/y.md", "y.md"],
                &[("y", "y.md", "22")],
                &[("new/y.md", "22")]
            ),
            ["new_y", "y"]
        );
    }
}
