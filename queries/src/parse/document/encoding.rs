//! Bytes to text with LF line ends, and text to NFC, with the layers that lead back.
//!
//! Knows nothing of formats: an HTML declaration is found by the HTML reader and handed in.

use std::borrow::Cow;

use encoding_rs::{DecoderResult, Encoding, UTF_8, UTF_16BE, UTF_16LE};
use unicode_normalization::char::canonical_combining_class;
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

use super::map::{FileMap, Layer};
use super::{DocumentError, Notice};

/// Text with LF line ends, not yet NFC.
#[derive(Debug)]
pub(crate) struct Decoded<'a> {
    pub(crate) text: Cow<'a, str>,
    pub(crate) map: FileMap,
    pub(crate) encoding: &'static str,
    pub(crate) guessed: bool,
}

impl Decoded<'_> {
    /// The notice that a guess deserves.
    pub(crate) fn notice(&self) -> Option<Notice> {
        self.guessed.then_some(Notice::EncodingGuessed {
            label: self.encoding,
        })
    }
}

/// How many well-formed multi-byte sequences for each malformed one make a file damaged UTF-8
/// rather than text in some other encoding.
const DAMAGED_UTF8_RATIO: usize = 8;

/// Decodes a whole file.
///
/// A byte order mark decides first, then `label` (from the settings), then valid UTF-8, then
/// `declared` (from inside the file), then a guess. Errors: an unknown label, bytes that the chosen
/// encoding does not have, binary content, nothing but white space.
pub(crate) fn decode<'a>(
    bytes: &'a [u8],
    label: Option<&str>,
    declared: Option<&'static Encoding>,
) -> Result<Decoded<'a>, DocumentError> {
    let marked = Encoding::for_bom(bytes);
    let (encoding, skip, guessed) = if let Some((encoding, length)) = marked {
        (encoding, length, false)
    } else if let Some(label) = label {
        let encoding = Encoding::for_label(label.trim().as_bytes()).ok_or_else(|| {
            DocumentError::UnknownEncoding {
                label: label.to_owned(),
            }
        })?;
        (encoding, 0, false)
    } else if let Some(declared) = declared
        && !declared.is_ascii_compatible()
    {
        // ISO-2022-JP is made of ASCII bytes, so it would pass for UTF-8. A declaration of UTF-16
        // that could be read cannot be true: HTML says to read UTF-8 then.
        let encoding = if declared == UTF_16LE || declared == UTF_16BE {
            UTF_8
        } else {
            declared
        };
        (encoding, 0, false)
    } else {
        match std::str::from_utf8(bytes) {
            Ok(text) => {
                return finish(Cow::Borrowed(text), FileMap::identity(), UTF_8, false);
            }
            Err(error) => {
                if is_damaged_utf8(bytes) {
                    return Err(DocumentError::UndecodableText {
                        encoding: UTF_8.name(),
                        offset: error.valid_up_to(),
                    });
                }
                if let Some(declared) = declared {
                    (declared, 0, false)
                } else if memchr::memchr(0, bytes).is_some() {
                    return Err(DocumentError::binary());
                } else {
                    (guess(bytes), 0, true)
                }
            }
        }
    };
    let body = bytes.get(skip..).unwrap_or_default();
    let mut map = FileMap::identity();
    let text: Cow<'a, str> = if encoding == UTF_8 {
        let text = std::str::from_utf8(body).map_err(|error| DocumentError::UndecodableText {
            encoding: UTF_8.name(),
            offset: skip + error.valid_up_to(),
        })?;
        if skip > 0 {
            let mut layer = Layer::new();
            layer.push_same(0, skip, text.len());
            map.push(layer);
        }
        Cow::Borrowed(text)
    } else {
        let (text, layer) = if encoding == UTF_16LE {
            decode_utf16(body, skip, encoding, u16::from_le_bytes)?
        } else if encoding == UTF_16BE {
            decode_utf16(body, skip, encoding, u16::from_be_bytes)?
        } else {
            decode_by_byte(body, skip, encoding)?
        };
        map.push(layer);
        Cow::Owned(text)
    };
    finish(text, map, encoding, guessed)
}

fn finish<'a>(
    text: Cow<'a, str>,
    mut map: FileMap,
    encoding: &'static Encoding,
    guessed: bool,
) -> Result<Decoded<'a>, DocumentError> {
    if memchr::memchr(0, text.as_bytes()).is_some() || (guessed && is_mostly_control(&text)) {
        return Err(DocumentError::binary());
    }
    if text.chars().all(char::is_whitespace) {
        return Err(DocumentError::Empty);
    }
    let text = match line_feeds(&text) {
        Some((changed, layer)) => {
            map.push(layer);
            Cow::Owned(changed)
        }
        None => text,
    };
    Ok(Decoded {
        text,
        map,
        encoding: encoding.name(),
        guessed,
    })
}

/// Whether more than one character in fifty is a control that text does not use.
fn is_mostly_control(text: &str) -> bool {
    let controls = text
        .bytes()
        .filter(|byte| *byte < 0x20 && !matches!(byte, b'\t' | b'\n' | b'\r' | 0x0c | 0x1b))
        .count();
    controls > text.len() / 50
}

fn is_damaged_utf8(bytes: &[u8]) -> bool {
    let (mut good, mut bad) = (0usize, 0usize);
    for chunk in bytes.utf8_chunks() {
        good += chunk.valid().bytes().filter(|byte| *byte >= 0xc0).count();
        bad += usize::from(!chunk.invalid().is_empty());
    }
    good >= bad.saturating_mul(DAMAGED_UTF8_RATIO)
}

fn guess(bytes: &[u8]) -> &'static Encoding {
    let mut detector = chardetng::EncodingDetector::new(chardetng::Iso2022JpDetection::Deny);
    detector.feed(bytes, true);
    detector.guess(None, chardetng::Utf8Detection::Deny)
}

/// UTF-16 by hand, because the decoder does not say which bytes made which character.
fn decode_utf16(
    body: &[u8],
    skip: usize,
    encoding: &'static Encoding,
    unit: fn([u8; 2]) -> u16,
) -> Result<(String, Layer), DocumentError> {
    let undecodable = |offset: usize| DocumentError::UndecodableText {
        encoding: encoding.name(),
        offset: skip + offset,
    };
    let (pairs, rest) = body.as_chunks::<2>();
    if !rest.is_empty() {
        return Err(undecodable(body.len() - rest.len()));
    }
    let mut text = String::with_capacity(body.len());
    let mut layer = Layer::new();
    let mut offset = 0;
    for character in char::decode_utf16(pairs.iter().map(|pair| unit(*pair))) {
        let character = character.map_err(|_| undecodable(offset))?;
        let length = character.len_utf16() * 2;
        layer.push(text.len(), skip + offset, 1, character.len_utf8(), length);
        text.push(character);
        offset += length;
    }
    Ok((text, layer))
}

/// Any other encoding, byte by byte: whatever comes out after a byte was made from the bytes since
/// the last time something came out.
fn decode_by_byte(
    body: &[u8],
    skip: usize,
    encoding: &'static Encoding,
) -> Result<(String, Layer), DocumentError> {
    let mut decoder = encoding.new_decoder_without_bom_handling();
    let mut text = String::with_capacity(body.len() + body.len() / 2);
    let mut layer = Layer::new();
    let mut output = [0u8; 32];
    let mut pending = 0;
    for (index, byte) in body.iter().enumerate() {
        let last = index + 1 == body.len();
        // ASCII outside a sequence stands for itself in every encoding but ISO-2022-JP.
        if byte.is_ascii() && pending == index && !last && encoding.is_ascii_compatible() {
            layer.push_same(text.len(), skip + index, 1);
            text.push(char::from(*byte));
            pending = index + 1;
            continue;
        }
        let mut source: &[u8] = std::slice::from_ref(byte);
        loop {
            let (result, read, written) =
                decoder.decode_to_utf8_without_replacement(source, &mut output, last);
            if let Some(made) = output.get(..written)
                && let Ok(made) = std::str::from_utf8(made)
                && !made.is_empty()
            {
                let length = index + 1 - pending;
                layer.push(text.len(), skip + pending, 1, made.len(), length);
                text.push_str(made);
                pending = index + 1;
            }
            match result {
                DecoderResult::InputEmpty => break,
                DecoderResult::OutputFull => source = source.get(read..).unwrap_or_default(),
                DecoderResult::Malformed(..) => {
                    return Err(DocumentError::UndecodableText {
                        encoding: encoding.name(),
                        offset: skip + pending.min(index),
                    });
                }
            }
        }
    }
    Ok((text, layer))
}

/// CRLF and CR to LF; `None` when there is no CR.
fn line_feeds(text: &str) -> Option<(String, Layer)> {
    let bytes = text.as_bytes();
    memchr::memchr(b'\r', bytes)?;
    let mut result = String::with_capacity(text.len());
    let mut layer = Layer::new();
    let mut start = 0;
    for at in memchr::memchr_iter(b'\r', bytes) {
        let Some(line) = text.get(start..at) else {
            continue;
        };
        layer.push_same(result.len(), start, line.len());
        result.push_str(line);
        if bytes.get(at + 1) == Some(&b'\n') {
            // The LF itself is kept with the next piece.
            start = at + 1;
        } else {
            layer.push_same(result.len(), at, 1);
            result.push('\n');
            start = at + 1;
        }
    }
    if let Some(line) = text.get(start..) {
        layer.push_same(result.len(), start, line.len());
        result.push_str(line);
    }
    Some((result, layer))
}

/// Text to NFC; the text itself when it is NFC already, which is checked first and is fast.
pub(crate) fn compose(text: Cow<'_, str>) -> (Cow<'_, str>, Option<Layer>) {
    if text.is_ascii() || is_nfc_quick(text.chars()) == IsNormalized::Yes {
        return (text, None);
    }
    let mut result = String::with_capacity(text.len());
    let mut layer = Layer::new();
    let mut composed = String::new();
    // A segment runs from one character that never combines with what stands before it to the
    // next; segments normalise independently of each other.
    let mut start = 0;
    let mut needs_work = false;
    let mut flush = |segment: &str, at: usize, needs_work: bool| {
        if needs_work {
            composed.clear();
            composed.extend(segment.nfc());
            if composed != segment {
                layer.push(result.len(), at, 1, composed.len(), segment.len());
                result.push_str(&composed);
                return;
            }
        }
        layer.push_same(result.len(), at, segment.len());
        result.push_str(segment);
    };
    for (at, character) in text.char_indices() {
        if is_boundary(character) {
            if at > start {
                // A segment that needs no work may be long: it grows until one that does.
                if needs_work {
                    flush(text.get(start..at).unwrap_or_default(), start, true);
                    start = at;
                    needs_work = false;
                }
            }
        } else if !needs_work {
            // Only the last character of the untouched stretch takes part.
            let stretch = text.get(start..at).unwrap_or_default();
            let split = stretch
                .char_indices()
                .next_back()
                .map_or(at, |(index, _)| start + index);
            if split > start {
                flush(text.get(start..split).unwrap_or_default(), start, false);
                start = split;
            }
            needs_work = true;
        }
    }
    flush(text.get(start..).unwrap_or_default(), start, needs_work);
    if result == *text {
        return (text, None);
    }
    (Cow::Owned(result), Some(layer))
}

/// Whether NFC never changes the character nor joins it to what stands before it.
fn is_boundary(character: char) -> bool {
    character.is_ascii()
        || (canonical_combining_class(character) == 0
            && is_nfc_quick(std::iter::once(character)) == IsNormalized::Yes)
}
