//! The encoding that an HTML file says it has.

use encoding_rs::Encoding;

/// Bytes in which HTML wants the declaration of the encoding to stand.
const PRESCAN: usize = 1024;

/// The encoding that a `meta` element or an XML declaration near the start names.
pub(super) fn declared_encoding(bytes: &[u8]) -> Option<&'static Encoding> {
    let head = bytes
        .get(..bytes.len().min(PRESCAN))
        .unwrap_or_default()
        .to_ascii_lowercase();
    let is_xml = head.trim_ascii_start().starts_with(b"<?xml");
    let markers: [(&[u8], bool); 2] = [(b"charset", true), (b"encoding", is_xml)];
    markers
        .into_iter()
        .filter(|(_, applies)| *applies)
        .flat_map(|(marker, _)| {
            memchr::memmem::find_iter(&head, marker)
                .map(|at| at + marker.len())
                .collect::<Vec<_>>()
        })
        .find_map(|at| {
            let value = head.get(at..)?.trim_ascii_start().strip_prefix(b"=")?;
            let value = value.trim_ascii_start().trim_prefix_byte(b"\"'");
            let end = value
                .iter()
                .position(|byte| !(byte.is_ascii_alphanumeric() || b"-_:.".contains(byte)))
                .unwrap_or(value.len());
            Encoding::for_label(value.get(..end)?)
        })
}

/// Drops one leading byte if it is one of a set.
trait TrimPrefixByte {
    fn trim_prefix_byte(&self, set: &[u8]) -> &Self;
}

impl TrimPrefixByte for [u8] {
    fn trim_prefix_byte(&self, set: &[u8]) -> &Self {
        match self {
            [first, rest @ ..] if set.contains(first) => rest,
            other => other,
        }
    }
}
