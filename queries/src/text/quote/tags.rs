//! Reading one link target, tag or entity of Markdown or HTML, from its first character on.

use super::chars;
use super::markup::Stand;

/// Longest tag or link target looked at, so that a hostile text stays linear.
const LONGEST: usize = 1000;

/// The length of `(target)` that begins `rest`, when the target can only be an address.
pub(super) fn link_target(rest: &str) -> Option<usize> {
    let reach = rest.as_bytes().get(..LONGEST).unwrap_or(rest.as_bytes());
    let len = memchr::memchr2(b')', b'\n', reach)?;
    let inner = rest.get(1..len)?;
    if rest.as_bytes().get(len) != Some(&b')') {
        return None;
    }
    let (address, title) = match inner.split_once(' ') {
        Some((address, title)) => (address, title.trim()),
        None => (inner, ""),
    };
    let is_address =
        address.contains(|c: char| c.is_alphabetic()) && address.contains(['/', '.', '#', ':']);
    let is_title =
        title.is_empty() || title.starts_with(['"', '\'']) && title.ends_with(['"', '\'']);
    (is_address && is_title).then_some(len + 1)
}

/// The length of `[reference]` that begins `rest`, when `inner` reads as the words of a link.
pub(super) fn reference(inner: &str, rest: &str) -> Option<usize> {
    let len = rest
        .bytes()
        .take(60)
        .position(|byte| matches!(byte, b']' | b'\n'))?;
    let label = rest.get(1..len)?;
    let words = inner.contains(|c: char| c.is_lowercase())
        && !inner.ends_with(|c: char| c.is_ascii_digit())
        && !inner.starts_with(['^', '@']);
    let plain = !label.is_empty()
        && label
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b" ._-".contains(&byte));
    (words && plain && rest.as_bytes().get(len) == Some(&b']')).then_some(len + 1)
}

/// Reads a tag after its `<`: its length including `>`, and what it stands for (`None`: an automatic link).
pub(super) fn read_tag(rest: &str) -> Option<(usize, Option<Stand>)> {
    let reach = rest.as_bytes().get(..LONGEST).unwrap_or(rest.as_bytes());
    let len = memchr::memchr2(b'>', b'<', reach)?;
    if rest.as_bytes().get(len) != Some(&b'>') {
        return None;
    }
    let inner = rest.get(..len)?;
    if ["http://", "https://", "mailto:"]
        .iter()
        .any(|scheme| inner.starts_with(scheme))
    {
        return (!inner.contains(chars::is_space)).then_some((len + 1, None));
    }
    let closing = inner.starts_with('/');
    let inner = inner.trim_start_matches('/').trim_end_matches('/');
    let name_len = inner
        .find(|c: char| !c.is_ascii_alphanumeric())
        .unwrap_or(inner.len());
    let (name, attributes) = inner.split_at_checked(name_len)?;
    if !attributes_only(attributes) {
        return None;
    }
    let stand = match name.to_ascii_lowercase().as_str() {
        "sup" if closing => Stand::ScriptEnd,
        "sub" if closing => Stand::ScriptEnd,
        "sup" => Stand::SuperscriptStart,
        "sub" => Stand::SubscriptStart,
        "a" | "abbr" | "b" | "bdi" | "big" | "cite" | "code" | "dfn" | "em" | "font" | "i"
        | "ins" | "kbd" | "mark" | "q" | "samp" | "small" | "span" | "strong" | "time" | "tt"
        | "u" | "var" | "wbr" => Stand::Nothing,
        "address" | "article" | "aside" | "blockquote" | "br" | "caption" | "dd" | "div" | "dl"
        | "dt" | "figcaption" | "figure" | "footer" | "h1" | "h2" | "h3" | "h4" | "h5" | "h6"
        | "header" | "hr" | "li" | "main" | "nav" | "ol" | "p" | "pre" | "section" | "table"
        | "tbody" | "td" | "tfoot" | "th" | "thead" | "tr" | "ul" => Stand::Gap,
        _ => return None,
    };
    Some((len + 1, Some(stand)))
}

/// Whether `text` is nothing but attributes with values, so that `a <b and c> d` is not a tag.
fn attributes_only(text: &str) -> bool {
    let mut rest = text.trim_start();
    if rest.len() == text.len() && !text.is_empty() {
        return false;
    }
    while !rest.is_empty() {
        let Some((name, value)) = rest.split_once('=') else {
            return false;
        };
        if name.is_empty()
            || !name
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"-_:".contains(&byte))
        {
            return false;
        }
        let end = match value.chars().next() {
            Some(quote @ ('"' | '\'')) => {
                match value.get(1..).and_then(|inner| inner.find(quote)) {
                    Some(end) => end + 2,
                    None => return false,
                }
            }
            Some(c) if !chars::is_space(c) => value.find(chars::is_space).unwrap_or(value.len()),
            _ => return false,
        };
        rest = value.get(end..).unwrap_or("").trim_start();
    }
    true
}

/// The character that the entity `&name;` stands for.
pub(super) fn entity_char(name: &str) -> Option<char> {
    if let Some(number) = name.strip_prefix('#') {
        let code = match number.strip_prefix(['x', 'X']) {
            Some(hex) => u32::from_str_radix(hex, 16).ok()?,
            None => number.parse().ok()?,
        };
        return char::from_u32(code).filter(|c| !c.is_control());
    }
    Some(match name {
        "amp" => '&',
        "lt" => '<',
        "gt" => '>',
        "quot" => '"',
        "apos" => '\'',
        "nbsp" | "ensp" | "emsp" | "thinsp" => '\u{a0}',
        "ndash" => '–',
        "mdash" => '—',
        "minus" => '−',
        "hellip" => '…',
        "lsquo" => '‘',
        "rsquo" => '’',
        "ldquo" => '“',
        "rdquo" => '”',
        "laquo" => '«',
        "raquo" => '»',
        "le" => '≤',
        "ge" => '≥',
        "ne" => '≠',
        "plusmn" => '±',
        "times" => '×',
        "middot" => '·',
        "deg" => '°',
        "micro" => 'µ',
        "euro" => '€',
        "pound" => '£',
        "yen" => '¥',
        "cent" => '¢',
        "copy" => '©',
        "reg" => '®',
        "sect" => '§',
        "para" => '¶',
        "shy" => '\u{ad}',
        "zwnj" => '\u{200c}',
        "zwj" => '\u{200d}',
        "auml" => 'ä',
        "ouml" => 'ö',
        "uuml" => 'ü',
        "Auml" => 'Ä',
        "Ouml" => 'Ö',
        "Uuml" => 'Ü',
        "szlig" => 'ß',
        "eacute" => 'é',
        "egrave" => 'è',
        "agrave" => 'à',
        "ccedil" => 'ç',
        "ntilde" => 'ñ',
        "alpha" => 'α',
        "beta" => 'β',
        "gamma" => 'γ',
        "delta" => 'δ',
        "mu" => 'μ',
        "sigma" => 'σ',
        "omega" => 'ω',
        "frac12" => '½',
        "frac14" => '¼',
        "frac34" => '¾',
        "sup1" => '¹',
        "sup2" => '²',
        "sup3" => '³',
        _ => return None,
    })
}
