//! To come.
use super::{CacgParams, Chunks, DocumentView};
pub(super) fn chunk(_: &DocumentView<'_>, _: &CacgParams) -> Chunks {
    Chunks::default()
}
