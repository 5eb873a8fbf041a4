//! What becomes of text between tags: white space collapsed, character references read, every word with
//! the place it came from.

use std::borrow::Cow;
use std::convert::Infallible;
use std::ops::Range;

use html5gum::emitters::callback::{CallbackEmitter, CallbackEvent};
use html5gum::{Span, Tokenizer};

use super::super::encoding::compose;
use super::super::{Block, BlockKind, trim_end};
use super::{OpenKind, Separator, Writer};
use crate::text::veil::{Veil, Veiled};

impl<'s> Writer<'s> {
    /// A token of text. Its words are aligned with the source again, since the token says only
    /// where it starts: everything but a character reference stands for itself.
    pub(super) fn string(&mut self, value: &str, start: usize) {
        if self.in_title {
            self.title.push_str(value);
            return;
        }
        if self.skipping.is_some() {
            return;
        }
        if self.in_head {
            if value.trim_ascii().is_empty() {
                return;
            }
            self.in_head = false;
        }
        let mut rest = value;
        let mut at = start;
        if std::mem::take(&mut self.drop_line_feed)
            && let Some(stripped) = rest.strip_prefix('\n')
        {
            rest = stripped;
            at += 1;
        }
        while !rest.is_empty() {
            let raw = self.source.get(at..).unwrap_or_default();
            let plain = memchr::memchr2(b'&', b'<', raw.as_bytes())
                .unwrap_or(raw.len())
                .min(rest.len());
            if plain > 0
                && let (Some(words), Some(tail)) = (rest.get(..plain), rest.get(plain..))
            {
                self.plain_words(words, at);
                rest = tail;
                at += plain;
                continue;
            }
            if raw.starts_with('&') {
                let reference = reference(raw);
                let decoded = self.decode_reference(reference);
                if let Some(tail) = rest.strip_prefix(&*decoded) {
                    self.words(&decoded, at, Some(reference.len()));
                    rest = tail;
                    at += reference.len();
                    continue;
                }
            }
            // An empty tag `</>` inside text belongs to no token and ends none.
            if raw.starts_with("</>") && !rest.starts_with("</>") {
                at += 3;
                continue;
            }
            let Some(character) = rest.chars().next() else {
                break;
            };
            let length = character.len_utf8();
            let same = raw.starts_with(character);
            self.words(
                rest.get(..length).unwrap_or_default(),
                at,
                (!same).then_some(0),
            );
            rest = rest.get(length..).unwrap_or_default();
            at += if same { length } else { 0 };
        }
    }

    /// Text as it stands in the source. Raised and lowered digits and signs become the characters
    /// that Unicode has for them: without that, ten squared would read as one hundred and two.
    fn plain_words(&mut self, words: &str, at: usize) {
        let script = self.script.filter(|script| {
            !self.text.ends_with('[')
                && words
                    .trim()
                    .chars()
                    .all(|character| script.form(character).is_some())
        });
        let Some(script) = script else {
            self.words(words, at, None);
            return;
        };
        for (offset, character) in words.char_indices() {
            let length = character.len_utf8();
            match script.form(character) {
                Some(form) => {
                    let mut buffer = [0; 4];
                    self.words(form.encode_utf8(&mut buffer), at + offset, Some(length));
                }
                None => {
                    let word = words.get(offset..offset + length).unwrap_or_default();
                    self.words(word, at + offset, None);
                }
            }
        }
    }

    /// What a character reference stands for; itself if it is none.
    fn decode_reference(&mut self, reference: &'s str) -> Cow<'s, str> {
        if let Some(decoded) = self.entities.get(reference) {
            return Cow::Owned(decoded.to_string());
        }
        let mut decoded = String::new();
        let collect = |event: CallbackEvent<'_>, _: Span<()>| -> Option<Infallible> {
            if let CallbackEvent::String { value } = event {
                decoded.push_str(&String::from_utf8_lossy(value));
            }
            None
        };
        let Ok(()) = Tokenizer::new_with_emitter(reference, CallbackEmitter::new(collect)).finish();
        self.entities
            .insert(reference, decoded.clone().into_boxed_str());
        Cow::Owned(decoded)
    }

    /// Text at a place of the source. `made_from` is the length of a reference; without it the
    /// source is the text.
    fn words(&mut self, words: &str, at: usize, made_from: Option<usize>) {
        if self.preformatted > 0 {
            self.write(words, at, made_from);
            return;
        }
        let is_space = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | 0x0c);
        let bytes = words.as_bytes();
        let mut start = 0;
        while start < bytes.len() {
            let rest = bytes.get(start..).unwrap_or_default();
            let spaces = rest.iter().take_while(|byte| is_space(byte)).count();
            if spaces > 0 {
                if self.separator < Separator::Space {
                    self.separator = Separator::Space;
                    self.space_at = Some(at + start).filter(|_| made_from.is_none());
                }
                start += spaces;
                continue;
            }
            let length = rest.iter().take_while(|byte| !is_space(byte)).count();
            if let Some(word) = words.get(start..start + length) {
                let place = if made_from.is_some() { at } else { at + start };
                self.write(word, place, made_from);
            }
            start += length;
        }
    }

    fn write(&mut self, words: &str, at: usize, made_from: Option<usize>) {
        if words.is_empty() {
            return;
        }
        let mut separator = std::mem::replace(&mut self.separator, Separator::None);
        let space_at = self.space_at.take();
        if self.text.is_empty() {
            separator = Separator::None;
        }
        if separator == Separator::Block {
            self.close_block();
        }
        if separator == Separator::Space
            && let Some(space_at) = space_at
        {
            self.layer.push_same(self.text.len(), space_at, 1);
        }
        self.text.push_str(separator.text());
        if self.open_block.is_none() {
            let kind = if let Some(level) = self.heading {
                OpenKind::Heading(level)
            } else if self.preformatted > 0 {
                OpenKind::Code
            } else {
                OpenKind::Paragraph
            };
            self.open_block = Some((self.text.len(), kind));
        }
        match made_from {
            None => self.layer.push_same(self.text.len(), at, words.len()),
            Some(length) => self.layer.push(self.text.len(), at, 1, words.len(), length),
        }
        if self.struck > 0 {
            self.strike(self.text.len(), words.len());
        }
        self.text.push_str(words);
        self.fresh = false;
    }

    /// Marks `length` bytes from `start` on as struck out, with the space since the last mark.
    fn strike(&mut self, start: usize, length: usize) {
        let end = start + length;
        match self.veiled.last_mut() {
            Some(last)
                if self
                    .text
                    .get(last.range.end..start)
                    .is_some_and(|between| between.trim().is_empty()) =>
            {
                last.range.end = end;
            }
            _ => self.veiled.push(Veiled::new(start..end, Veil::Struck)),
        }
    }

    pub(super) fn close_block(&mut self) {
        let Some((start, kind)) = self.open_block.take() else {
            return;
        };
        let range: Range<usize> = trim_end(&self.text, start..self.text.len());
        let Some(words) = self
            .text
            .get(range.clone())
            .filter(|words| !words.is_empty())
        else {
            return;
        };
        let kind = match kind {
            OpenKind::Heading(level) => {
                // Generated manuals end a heading with a link to itself.
                let title = words.trim_end_matches(['¶', '\u{f0c1}']);
                let title = title.split_whitespace().collect::<Vec<_>>().join(" ");
                BlockKind::Heading {
                    level,
                    title: compose(Cow::Owned(title)).0.into(),
                }
            }
            OpenKind::Code => BlockKind::Code,
            OpenKind::Paragraph => BlockKind::Paragraph,
        };
        self.blocks.push(Block { range, kind });
    }
}

/// The longest thing at the start of the text that may be a character reference.
fn reference(raw: &str) -> &str {
    // The longest name in the standard's table has 32 characters; digits may go on.
    let bytes = raw.as_bytes();
    let length = 1 + bytes
        .iter()
        .skip(1)
        .take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'#')
        .count();
    let end = length + usize::from(bytes.get(length) == Some(&b';'));
    raw.get(..end).unwrap_or(raw)
}
