//! Telling the graph's inputs what the session knows, touching only what differs.

use std::collections::BTreeSet;
use std::sync::Arc;

use salsa::Setter;

use kbc_queries::Db;
use kbc_queries::input::{
    CardFile, Policy, SourceBinding, SourceFile, bind_reading, bind_source, set_card_status,
    set_source_status,
};

use super::{CardState, Database, Pending, Session, SourceState};

impl Session {
    /// Makes the graph's inputs say what the session knows, touching only what differs.
    pub(super) fn bind(&mut self) {
        let pending = std::mem::take(&mut self.pending);
        let db = &mut self.db;
        let usable = self.context.matrix_usable();
        match Policy::try_get(db) {
            None => {
                Policy::new(db, self.context.profile, usable, self.options.fuzzy);
            }
            Some(policy) => {
                if policy.profile(db) != self.context.profile {
                    policy.set_profile(db).to(self.context.profile);
                }
                if policy.matrix_usable(db) != usable {
                    policy.set_matrix_usable(db).to(usable);
                }
            }
        }
        match pending {
            Pending::All => {
                for (path, state) in &mut self.sources {
                    bind_source_file(db, path, state);
                }
                for (path, state) in &mut self.cards {
                    bind_card_file(db, path, state);
                }
                let ids = self.names_to_bind();
                for id in ids {
                    self.bind_name(&id);
                }
                self.bind_readings();
            }
            Pending::Some { sources, cards } => {
                let mut ids = Vec::new();
                for path in sources {
                    if let Some(state) = self.sources.get_mut(&path) {
                        bind_source_file(db, &path, state);
                        ids.push(state.id.clone());
                    }
                }
                for path in cards {
                    if let Some(state) = self.cards.get_mut(&path) {
                        bind_card_file(db, &path, state);
                    }
                }
                for id in ids {
                    self.bind_name(&id);
                }
            }
        }
    }

    fn bind_name(&mut self, id: &Arc<str>) {
        let file = self
            .by_id
            .get(id)
            .and_then(|path| self.sources.get(path))
            .and_then(|state| state.input);
        let (recorded, retracted, chunks) = self.context.marks(id);
        let binding = SourceBinding {
            file,
            recorded,
            retracted,
            retracted_chunks: chunks,
        };
        let name = self.db.names().source(&self.db, id);
        bind_source(&mut self.db, name, binding);
    }

    fn bind_readings(&mut self) {
        let mut ids: BTreeSet<Arc<str>> = self.db.names().reading_ids().into_iter().collect();
        ids.extend(
            self.context
                .matrix
                .iter()
                .flat_map(|rows| rows.keys().cloned()),
        );
        for id in ids {
            let allowed = self.context.allowed(&id).cloned();
            let name = self.db.names().reading(&self.db, &id);
            bind_reading(&mut self.db, name, allowed);
        }
    }

    fn names_to_bind(&self) -> Vec<Arc<str>> {
        let mut ids: BTreeSet<Arc<str>> = self.by_id.keys().cloned().collect();
        ids.extend(self.context.marked_ids());
        // An id that lost its file, or its mark, must be told so too.
        ids.extend(self.db.names().source_ids());
        ids.into_iter().collect()
    }
}

fn bind_source_file(db: &mut Database, path: &Arc<str>, state: &mut SourceState) {
    let Some(recipe) = &state.recipe else { return };
    let Some(input) = state.input else {
        state.input = Some(
            SourceFile::builder(
                path.clone(),
                state.file.status.clone(),
                recipe.clone(),
                state.title.clone(),
            )
            .path_durability(salsa::Durability::NEVER_CHANGE)
            .new(db),
        );
        return;
    };
    set_source_status(db, input, state.file.status.clone());
    if input.recipe(db) != recipe {
        input.set_recipe(db).to(recipe.clone());
    }
    if *input.title(db) != state.title {
        input.set_title(db).to(state.title.clone());
    }
}

fn bind_card_file(db: &mut Database, path: &Arc<str>, state: &mut CardState) {
    let Some(input) = state.input else {
        state.input = Some(
            CardFile::builder(
                path.clone(),
                state.file.status.clone(),
                state.folder_reading.clone(),
            )
            .path_durability(salsa::Durability::NEVER_CHANGE)
            .new(db),
        );
        return;
    };
    set_card_status(db, input, state.file.status.clone());
    if *input.folder_reading(db) != state.folder_reading {
        input
            .set_folder_reading(db)
            .to(state.folder_reading.clone());
    }
}
