//! HTML to the text of the document in reading order.
//!
//! Works on the stream of tokens, not on a tree: nothing recurses, and every character keeps its
//! place in the file. Blocks are separated by a blank line, lines (`br`, list items, table rows) by
//! a line feed, cells by a tab, buttons and fields from words by a space; other tags inside a line add
//! and remove nothing. Of ruby the base is kept. What a browser does not show, because of its element,
//! its `hidden` attribute or its own style, is no text; what is struck out is text and is marked as
//! such. No style sheet is read, so what one hides is text.

use std::borrow::Cow;
use std::collections::HashMap;
use std::convert::Infallible;

use html5gum::emitters::callback::{Callback, CallbackEmitter, CallbackEvent};
use html5gum::{Span, Tokenizer};

use super::encoding::{compose, decode};
use super::map::Layer;
use super::{Block, Document, DocumentError, ExtractOptions, Format, Made};
use crate::text::veil::{Veil, Veiled};

mod declared;
pub(super) mod elements;
mod script;
mod skip;
mod words;
use declared::declared_encoding;
use elements::{Role, hides, is_counted, role, strikes_or_hides};
use script::Script;
use skip::{Skip, Tag};

/// Reads an HTML file.
pub(super) fn read(bytes: &[u8], options: &ExtractOptions) -> Result<Document, DocumentError> {
    let decoded = decode(bytes, options.encoding.as_deref(), declared_encoding(bytes))?;
    let mut writer = Writer::new(&decoded.text, options.limits.depth);
    let mut emitter = CallbackEmitter::new(&mut writer);
    emitter.naively_switch_states(true);
    // Reading from memory cannot fail.
    let Ok(()) = Tokenizer::new_with_emitter(&*decoded.text, emitter).finish();
    if writer.too_deep {
        return Err(DocumentError::Damaged(format!(
            "more than {} elements are open at once",
            options.limits.depth
        )));
    }
    writer.close_block();
    let Writer {
        text,
        layer,
        blocks,
        title,
        veiled,
        ..
    } = writer;
    let title = title.split_ascii_whitespace().collect::<Vec<_>>().join(" ");
    let title = (!title.is_empty()).then(|| compose(Cow::Owned(title)).0.into());
    Made {
        text,
        layer,
        blocks,
        veiled,
        title,
        notices: Vec::new(),
        decoded,
    }
    .into_document(Format::Html)
}

/// What must stand between what is written and what comes next; the larger one wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Separator {
    None,
    Space,
    Cell,
    Line,
    Block,
}

impl Separator {
    fn text(self) -> &'static str {
        match self {
            Self::None => "",
            Self::Space => " ",
            Self::Cell => "\t",
            Self::Line => "\n",
            Self::Block => "\n\n",
        }
    }
}

/// A start tag, as far as it has been read.
#[derive(Default)]
struct StartTag {
    name: Vec<u8>,
    /// The attribute whose value comes next.
    attribute: Vec<u8>,
    /// Whether an attribute hides the element.
    hidden: bool,
}

impl StartTag {
    fn open(&mut self, name: &[u8]) {
        self.name.clear();
        self.name.extend_from_slice(name);
        self.hidden = false;
    }

    fn attribute(&mut self, name: &[u8]) {
        self.attribute.clear();
        self.attribute.extend_from_slice(name);
        self.hidden |= hides(name, b"");
    }

    fn value(&mut self, value: &[u8]) {
        self.hidden |= hides(&self.attribute, value);
    }
}

/// Whether an element is a block, whose end also ends what began to be struck out in it.
fn ends_struck(role: Role) -> bool {
    matches!(
        role,
        Role::Block | Role::Heading(_) | Role::Preformatted | Role::Item | Role::Cell
    )
}

struct Writer<'s> {
    source: &'s str,
    text: String,
    layer: Layer,
    blocks: Vec<Block>,
    title: String,
    separator: Separator,
    /// First byte of the white space that a pending space stands for.
    space_at: Option<usize>,
    /// The start tag that is being read.
    tag: StartTag,
    skipping: Option<Skip>,
    /// Open struck-out elements, and blocks that are open in them.
    struck: u32,
    blocks_in_struck: u32,
    veiled: Vec<Veiled>,
    in_head: bool,
    /// Inside a raised or lowered element.
    script: Option<Script>,
    in_title: bool,
    /// Open `pre` elements; the first line feed after the tag is no text.
    preformatted: u32,
    drop_line_feed: bool,
    heading: Option<u8>,
    open_block: Option<(usize, OpenKind)>,
    lists: u32,
    /// No item of the list, or no cell of the row, has begun yet.
    first_item: bool,
    first_cell: bool,
    /// An item or a cell has begun and holds no text yet: a block in it starts on the same line.
    fresh: bool,
    cells: u32,
    depth: u32,
    depth_limit: u32,
    too_deep: bool,
    entities: HashMap<&'s str, Box<str>>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum OpenKind {
    Heading(u8),
    Code,
    Paragraph,
}

impl<'s> Writer<'s> {
    fn new(source: &'s str, depth_limit: u32) -> Self {
        Self {
            source,
            text: String::with_capacity(source.len() / 2),
            layer: Layer::new(),
            blocks: Vec::new(),
            title: String::new(),
            separator: Separator::None,
            space_at: None,
            tag: StartTag::default(),
            skipping: None,
            struck: 0,
            blocks_in_struck: 0,
            veiled: Vec::new(),
            script: None,
            in_head: false,
            in_title: false,
            preformatted: 0,
            drop_line_feed: false,
            heading: None,
            open_block: None,
            lists: 0,
            first_item: true,
            first_cell: true,
            fresh: false,
            cells: 0,
            depth: 0,
            depth_limit,
            too_deep: false,
            entities: HashMap::new(),
        }
    }

    fn raise(&mut self, separator: Separator) {
        self.separator = self.separator.max(separator);
    }

    /// A boundary that an item or a cell swallows when it has just begun, and that is only a line
    /// inside a table.
    fn block_boundary(&mut self) {
        if self.fresh {
            return;
        }
        self.raise(if self.cells > 0 {
            Separator::Line
        } else {
            Separator::Block
        });
    }

    fn start_tag(&mut self, name: &[u8], hidden: bool) {
        self.drop_line_feed = false;
        if let Some(skip) = &mut self.skipping {
            if skip.start(name) == Tag::Inside {
                return;
            }
            self.skipping = None;
        }
        let role = role(name);
        let veil = strikes_or_hides(name, hidden);
        // What is hidden has no box, so it separates nothing.
        if hidden && veil == Some(Veil::Hidden) {
            self.skipping = Some(Skip::new(name));
            return;
        }
        match veil {
            Some(Veil::Struck) => self.struck += 1,
            _ => self.blocks_in_struck += u32::from(self.struck > 0 && ends_struck(role)),
        }
        if self.in_head {
            match role {
                Role::Title => {
                    self.in_title = self.title.is_empty();
                    return;
                }
                Role::Metadata => return,
                Role::Drop => {}
                _ => self.in_head = false,
            }
        }
        if is_counted(name) {
            self.depth += 1;
            self.too_deep |= self.depth > self.depth_limit;
        }
        if let Some(script) = Script::of(name) {
            self.script = Some(script);
        }
        match role {
            Role::Drop | Role::Annotation => self.skipping = Some(Skip::new(name)),
            Role::Widget => self.raise(Separator::Space),
            Role::Head => self.in_head = true,
            // A document without a head element may still begin with a title.
            Role::Title if self.title.is_empty() && self.text.is_empty() => self.in_title = true,
            // Of a drawing; shown when it is pointed at.
            Role::Title => self.skipping = Some(Skip::new(name)),
            Role::Heading(level) => {
                self.raise(Separator::Block);
                self.fresh = false;
                self.heading = Some(level);
            }
            Role::Preformatted => {
                self.raise(Separator::Block);
                self.fresh = false;
                self.preformatted += 1;
                self.drop_line_feed = true;
            }
            Role::List => {
                if self.lists == 0 {
                    self.block_boundary();
                } else {
                    self.raise(Separator::Line);
                }
                self.fresh = false;
                self.lists += 1;
                self.first_item = true;
            }
            Role::Item => {
                if self.first_item {
                    self.raise(Separator::Line);
                } else {
                    self.separator = Separator::Line;
                }
                self.first_item = false;
                self.fresh = true;
            }
            Role::Row => {
                self.raise(Separator::Line);
                self.first_cell = true;
                self.cells = 0;
            }
            Role::Cell => {
                if self.first_cell {
                    self.raise(Separator::Line);
                } else {
                    self.separator = Separator::Cell;
                }
                self.first_cell = false;
                self.cells = 1;
                self.fresh = true;
            }
            Role::Table | Role::Block | Role::Rule => {
                self.block_boundary();
            }
            Role::Break => self.raise(Separator::Line),
            Role::Metadata | Role::Inline => {}
        }
    }

    fn end_tag(&mut self, name: &[u8]) {
        self.drop_line_feed = false;
        if let Some(skip) = &mut self.skipping {
            match skip.end(name) {
                Tag::Inside => return,
                Tag::End => {
                    self.skipping = None;
                    return;
                }
                Tag::After => self.skipping = None,
            }
        }
        let role = role(name);
        if strikes_or_hides(name, false) == Some(Veil::Struck) {
            self.struck = self.struck.saturating_sub(1);
        } else if self.struck > 0 && ends_struck(role) {
            // What a block began ends with it.
            match self.blocks_in_struck.checked_sub(1) {
                Some(left) => self.blocks_in_struck = left,
                None => self.struck = 0,
            }
        }
        if self.struck == 0 {
            self.blocks_in_struck = 0;
        }
        if is_counted(name) {
            self.depth = self.depth.saturating_sub(1);
        }
        if Script::of(name).is_some() {
            self.script = None;
        }
        match role {
            Role::Head => self.in_head = false,
            Role::Title => self.in_title = false,
            Role::Heading(_) => {
                self.raise(Separator::Block);
                self.fresh = false;
                self.heading = None;
            }
            Role::Preformatted => {
                self.raise(Separator::Block);
                self.fresh = false;
                self.preformatted = self.preformatted.saturating_sub(1);
            }
            Role::List => {
                self.lists = self.lists.saturating_sub(1);
                self.first_item = false;
                self.fresh = false;
                if self.lists == 0 {
                    self.block_boundary();
                } else {
                    self.raise(Separator::Line);
                }
            }
            Role::Item => {
                self.fresh = false;
                self.raise(Separator::Line);
            }
            Role::Row => {
                self.cells = 0;
                self.fresh = false;
                self.raise(Separator::Line);
            }
            Role::Cell => {
                self.cells = 0;
                self.fresh = false;
                self.raise(Separator::Cell);
            }
            Role::Table => {
                self.cells = 0;
                self.fresh = false;
                self.raise(Separator::Block);
            }
            Role::Block => self.block_boundary(),
            // `</br>` is read as `<br>` by browsers.
            Role::Break => self.raise(Separator::Line),
            Role::Widget => self.raise(Separator::Space),
            Role::Rule | Role::Drop | Role::Annotation | Role::Metadata | Role::Inline => {}
        }
    }
}

impl Callback<Infallible, usize> for &mut Writer<'_> {
    fn handle_event(&mut self, event: CallbackEvent<'_>, span: Span<usize>) -> Option<Infallible> {
        match event {
            CallbackEvent::OpenStartTag { name } => self.tag.open(name),
            CallbackEvent::AttributeName { name } => self.tag.attribute(name),
            CallbackEvent::AttributeValue { value } => self.tag.value(value),
            CallbackEvent::CloseStartTag { .. } => {
                let tag = std::mem::take(&mut self.tag);
                self.start_tag(&tag.name, tag.hidden);
                // Its buffers serve the next one.
                self.tag = tag;
            }
            CallbackEvent::EndTag { name } => self.end_tag(name),
            CallbackEvent::String { value } => {
                // The source is a `str`, so the token is valid UTF-8.
                if let Ok(value) = std::str::from_utf8(value) {
                    self.string(value, span.start);
                }
            }
            _ => {}
        }
        None
    }
}

#[cfg(test)]
mod tests;
