//! How sources are read and cut, shared by those that are read alike.

use std::collections::HashMap;
use std::sync::Arc;

use kbc_queries::input::Recipe;
use kbc_queries::system::Fingerprint;

use crate::workspace::Project;

use super::keys;

/// Recipes, shared by the sources of a collection that are read alike.
#[derive(Default)]
pub(super) struct Recipes {
    known: HashMap<(usize, String), (Arc<Recipe>, Fingerprint)>,
}

impl Recipes {
    pub(super) fn get(
        &mut self,
        project: &Project,
        collection: usize,
        path: &str,
    ) -> (Option<Arc<Recipe>>, Fingerprint) {
        let none = || (None, Fingerprint::combine("kbc recipe none", []));
        let Some(settings) = project.settings.collections.get(collection) else {
            return none();
        };
        let own = project.settings.sources.contains_key(path);
        let extension = path
            .rsplit('/')
            .next()
            .and_then(|name| name.rsplit_once('.'));
        let extension = extension
            .map_or("", |(_, extension)| extension)
            .to_ascii_lowercase();
        // A registry's recipe holds its name, and a source with settings of its own is its own kind.
        let alone = own || matches!(extension.as_str(), "csv" | "tsv" | "tab");
        let key = (
            collection,
            if alone { format!("/{path}") } else { extension },
        );
        if let Some((recipe, fingerprint)) = self.known.get(&key) {
            return (Some(recipe.clone()), *fingerprint);
        }
        let Some(recipe) = project.recipe(settings, path) else {
            return none();
        };
        let fingerprint = keys::recipe(&recipe);
        let recipe = Arc::new(recipe);
        self.known.insert(key, (recipe.clone(), fingerprint));
        (Some(recipe), fingerprint)
    }
}
