//! The salsa database of the program: the queries' [`Db`] over a [`System`].

use std::sync::Arc;

use kbc_queries::Db;
use kbc_queries::documents::Documents;
use kbc_queries::input::Names;
use kbc_queries::system::System;

/// Bytes of extracted documents that are kept at hand. Text is read again beyond that.
const DOCUMENT_BUDGET: usize = 24 << 20;

/// Told the name of every query as it is executed.
pub type Observer = Arc<dyn Fn(&str) + Send + Sync>;

/// The database. Cheap to clone: clones share everything and are handed to worker threads.
#[salsa::db]
#[derive(Clone)]
pub struct Database {
    storage: salsa::Storage<Self>,
    system: Arc<dyn System>,
    documents: Arc<Documents>,
    names: Arc<Names>,
}

impl Database {
    /// An empty database over `system`; `observer`, if any, hears of every executed query.
    pub fn new(system: Arc<dyn System>, observer: Option<Observer>) -> Self {
        let callback = observer.map(|observer| {
            Box::new(move |event: salsa::Event| {
                if let salsa::EventKind::WillExecute { database_key } = event.kind {
                    salsa::with_attached_database(|db| {
                        observer(
                            db.ingredient_debug_name(database_key.ingredient_index())
                                .as_ref(),
                        );
                    });
                }
            }) as Box<dyn Fn(salsa::Event) + Send + Sync>
        });
        Database {
            storage: salsa::Storage::new(callback),
            system,
            documents: Arc::new(Documents::new(DOCUMENT_BUDGET)),
            names: Arc::default(),
        }
    }
}

#[salsa::db]
impl salsa::Database for Database {}

#[salsa::db]
impl Db for Database {
    fn system(&self) -> &dyn System {
        &*self.system
    }

    fn documents(&self) -> &Documents {
        &self.documents
    }

    fn names(&self) -> &Names {
        &self.names
    }
}
