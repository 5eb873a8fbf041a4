//! To come.
use super::{Chunks, DocumentView, WindowParams};
pub(super) fn chunk(d: &DocumentView<'_>, _: &WindowParams) -> Chunks {
    super::finish_slices(d, Vec::new())
}
