//! PDF. (To come.)

use super::{Document, DocumentError, ExtractOptions};

/// Reads a PDF file.
pub(super) fn read(_: &[u8], _: &ExtractOptions) -> Result<Document, DocumentError> {
    Err(DocumentError::UnknownKind)
}
