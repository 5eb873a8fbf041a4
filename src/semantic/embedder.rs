//! The project's embedder, as `index.embedder` of kb.toml names it.

use std::path::Path;

use kbc_queries::embed::{self, Embedder, StaticTable};
use kbc_queries::parse::settings::Embedder as Setting;

use crate::workspace::door;

/// Largest file of a model that is read, in bytes.
const MODEL_LIMIT: u64 = 2 << 30;

/// Opens the embedder of a project with this root.
///
/// # Errors
/// A sentence that says why there is none.
pub fn open(setting: &Setting, root: &Path) -> Result<Box<dyn Embedder>, String> {
    match setting {
        Setting::Builtin => embed::builtin()
            .map(|table| Box::new(table) as Box<dyn Embedder>)
            .map_err(|error| error.to_string()),
        Setting::Dir(path) => open_folder(&root.join(&**path)),
        Setting::Ollama(_) | Setting::OpenAi { .. } => Err(format!(
            "`index.embedder = \"{setting}\"` asks a server, which is not available yet; use `builtin` or `dir:PATH`"
        )),
    }
}

/// A static model in a folder: `model.safetensors`, `tokenizer.json` and, if there is one,
/// `config.json`.
fn open_folder(folder: &Path) -> Result<Box<dyn Embedder>, String> {
    let read = |name: &str| {
        let path = folder.join(name);
        door::read(&path, MODEL_LIMIT)
            .map_err(|failure| format!("{} cannot be read: {failure}", path.display()))
    };
    let config = if folder.join("config.json").exists() {
        read("config.json")?
    } else {
        b"{}".to_vec()
    };
    let name = folder
        .file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default();
    StaticTable::from_files(
        &name,
        read("model.safetensors")?,
        &read("tokenizer.json")?,
        &config,
    )
    .map(|table| Box::new(table) as Box<dyn Embedder>)
    .map_err(|error| format!("{}: {error}", folder.display()))
}
