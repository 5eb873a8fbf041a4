//! To come.
use super::{ChunkError, Chunks, DocumentView, UnitParams, UnitPattern};
pub(super) fn compile(_: &[UnitPattern]) -> Result<(), ChunkError> {
    Ok(())
}
pub(super) fn chunk(_: &DocumentView<'_>, _: &UnitParams) -> Result<Chunks, ChunkError> {
    Ok(Chunks::default())
}
