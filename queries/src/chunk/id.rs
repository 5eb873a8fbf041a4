//! Chunk ids: `<source id>:p<start page>:<ordinal>`.

/// The parts of a chunk id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ChunkIdParts<'a> {
    /// Id of the source.
    pub source_id: &'a str,
    /// Page on which the chunk begins, from 1.
    pub start_page: u32,
    /// Place among the source's chunks, from 0.
    pub ordinal: u32,
}

/// The id of a chunk: the page with at least three digits, the ordinal with at least four.
#[must_use]
pub fn chunk_id(source_id: &str, start_page: u32, ordinal: u32) -> String {
    format!("{source_id}:p{start_page:03}:{ordinal:04}")
}

/// Whether a text has the shape `^[a-z0-9_]+:p\d+:\d+$` that the contract asks of a cited id.
#[must_use]
pub fn has_chunk_id_shape(id: &str) -> bool {
    split(id).is_some()
}

/// Takes an id apart. Numbers need not be padded as [`chunk_id`] pads them; nothing when the
/// shape is wrong or a number does not fit.
#[must_use]
pub fn parse_chunk_id(id: &str) -> Option<ChunkIdParts<'_>> {
    let (source_id, page, ordinal) = split(id)?;
    Some(ChunkIdParts {
        source_id,
        start_page: page.parse().ok()?,
        ordinal: ordinal.parse().ok()?,
    })
}

fn split(id: &str) -> Option<(&str, &str, &str)> {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let (rest, ordinal) = id.rsplit_once(':')?;
    let (source_id, page) = rest.split_once(":p")?;
    let source_fits = !source_id.is_empty()
        && source_id
            .bytes()
            .all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_'));
    (source_fits && digits(page) && digits(ordinal)).then_some((source_id, page, ordinal))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

    use super::*;

    #[test]
    fn ids_are_padded_and_grow() {
        assert_eq!(chunk_id("sample", 1, 0), "sample:p001:0000");
        assert_eq!(chunk_id("s_2", 1234, 56789), "s_2:p1234:56789");
        assert_eq!(
            parse_chunk_id("s_2:p1234:56789"),
            Some(ChunkIdParts {
                source_id: "s_2",
                start_page: 1234,
                ordinal: 56789
            })
        );
        assert_eq!(parse_chunk_id("a:p1:2").unwrap().ordinal, 2);
    }

    #[test]
    fn other_shapes_are_refused() {
        for bad in [
            "", "a", "a:p1", ":p1:2", "a:1:2", "a:p:2", "a:p1:", "A:p1:2", "a-b:p1:2", "a:p1:2\n",
            "a:p1:+2", "a:p+1:2", "a:p1:2:3", "a:p-1:2", "a b:p1:2", "a:p١:2", "é:p1:2",
        ] {
            assert!(!has_chunk_id_shape(bad), "{bad:?}");
            assert_eq!(parse_chunk_id(bad), None, "{bad:?}");
        }
        // The shape is right, the number is none of ours.
        assert!(has_chunk_id_shape("a:p99999999999:0000"));
        assert_eq!(parse_chunk_id("a:p99999999999:0000"), None);
    }
}
