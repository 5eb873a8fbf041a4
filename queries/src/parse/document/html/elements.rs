//! What each HTML element means for the text: a table, after the rendering section of the standard.

use crate::text::veil::Veil;

/// What an element does to the flow of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// Starts and ends a block.
    Block,
    /// A heading of a level.
    Heading(u8),
    /// Keeps its white space.
    Preformatted,
    /// A list of items.
    List,
    /// An item, on a line of its own.
    Item,
    /// A table.
    Table,
    /// A table row, on a line of its own.
    Row,
    /// A table cell.
    Cell,
    /// A line break.
    Break,
    /// A thematic break: separates blocks and has no content.
    Rule,
    /// The head: nothing in it but the title is read.
    Head,
    /// The title of the document.
    Title,
    /// An element of the head without text.
    Metadata,
    /// Dropped with its content, which no browser shows.
    Drop,
    /// A reading or its parentheses beside characters; dropped, so that the word under it stays whole.
    Annotation,
    /// A button, field or player: a box within the line, so that no word runs through it.
    Widget,
    /// Everything else: no effect.
    Inline,
}

/// Whether open elements of a name are counted against the limit of depth: containers whose end tag
/// may not be left out, so that an ordinary old page with unclosed tags is not taken for a bomb.
pub(super) fn is_counted(name: &[u8]) -> bool {
    matches!(
        name,
        b"article"
            | b"blockquote"
            | b"div"
            | b"dl"
            | b"ol"
            | b"section"
            | b"span"
            | b"table"
            | b"ul"
    )
}

/// The role of an element by its lower-case name.
pub(super) fn role(name: &[u8]) -> Role {
    match name {
        b"h1" => Role::Heading(1),
        b"h2" => Role::Heading(2),
        b"h3" => Role::Heading(3),
        b"h4" => Role::Heading(4),
        b"h5" => Role::Heading(5),
        b"h6" => Role::Heading(6),
        b"pre" | b"listing" | b"xmp" | b"plaintext" | b"textarea" => Role::Preformatted,
        b"ul" | b"ol" | b"dl" | b"menu" | b"dir" => Role::List,
        b"li" | b"dt" | b"dd" | b"option" => Role::Item,
        b"table" => Role::Table,
        b"tr" => Role::Row,
        b"td" | b"th" => Role::Cell,
        b"br" => Role::Break,
        b"hr" => Role::Rule,
        b"head" => Role::Head,
        b"title" => Role::Title,
        b"meta" | b"link" | b"base" | b"basefont" | b"bgsound" => Role::Metadata,
        b"script" | b"style" | b"template" | b"noscript" | b"iframe" | b"noembed" | b"noframes"
        | b"datalist" => Role::Drop,
        b"rt" | b"rtc" | b"rp" => Role::Annotation,
        b"button" | b"input" | b"meter" | b"progress" | b"audio" | b"video" | b"canvas"
        | b"object" | b"embed" => Role::Widget,
        b"address" | b"article" | b"aside" | b"blockquote" | b"body" | b"caption" | b"center"
        | b"details" | b"dialog" | b"div" | b"fieldset" | b"figcaption" | b"figure" | b"footer"
        | b"form" | b"header" | b"hgroup" | b"html" | b"legend" | b"main" | b"nav"
        | b"optgroup" | b"p" | b"search" | b"section" | b"select" | b"summary" | b"tbody"
        | b"tfoot" | b"thead" => Role::Block,
        _ => Role::Inline,
    }
}

/// Whether an element never has content.
fn is_void(name: &[u8]) -> bool {
    matches!(
        name,
        b"area"
            | b"base"
            | b"br"
            | b"col"
            | b"embed"
            | b"hr"
            | b"img"
            | b"input"
            | b"link"
            | b"meta"
            | b"param"
            | b"source"
            | b"track"
            | b"wbr"
    )
}

/// Whether an attribute hides its element: `hidden`, or a style that does. No style sheet is read,
/// and `aria-hidden` hides nothing from the eye.
pub(in super::super) fn hides(name: &[u8], value: &[u8]) -> bool {
    match name {
        b"hidden" => true,
        b"style" => value.split(|byte| *byte == b';').any(|declaration| {
            let plain: Vec<u8> = declaration
                .iter()
                .filter(|byte| !byte.is_ascii_whitespace())
                .map(u8::to_ascii_lowercase)
                .collect();
            let plain = plain.strip_suffix(b"!important").unwrap_or(&plain);
            matches!(
                plain,
                b"display:none" | b"visibility:hidden" | b"visibility:collapse"
            )
        }),
        _ => false,
    }
}

/// Why the content of an element is not said, if it is not.
pub(in super::super) fn strikes_or_hides(name: &[u8], hidden: bool) -> Option<Veil> {
    match name {
        name if is_void(name) => None,
        _ if hidden || role(name) == Role::Drop => Some(Veil::Hidden),
        b"del" | b"s" | b"strike" => Some(Veil::Struck),
        _ => None,
    }
}
