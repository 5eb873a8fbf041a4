//! Classes of characters that the matcher distinguishes.

use unicode_normalization::char::is_combining_mark;

/// A letter, digit, mark or low line: what words are made of.
pub(super) fn is_wordish(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_alphanumeric() || c == '_';
    }
    c.is_alphanumeric() || is_combining_mark(c)
}

/// A decimal digit of any script, or a number sign such as `½`.
pub(super) fn is_digit(c: char) -> bool {
    c.is_ascii_digit() || (!c.is_ascii() && c.is_numeric() && !is_spaceless(c))
}

/// Scripts that write words without spaces: Han, Kana, Thai, Lao, Khmer, Myanmar, Tibetan and the like.
pub(super) fn is_spaceless(c: char) -> bool {
    c >= '\u{0e00}'
        && matches!(c,
        '\u{0e00}'..='\u{0eff}'      // Thai, Lao
        | '\u{0f00}'..='\u{0fff}'    // Tibetan
        | '\u{1000}'..='\u{109f}'    // Myanmar
        | '\u{1780}'..='\u{17ff}'    // Khmer
        | '\u{1950}'..='\u{19df}'    // Tai Le, New Tai Lue
        | '\u{1a20}'..='\u{1aaf}'    // Tai Tham
        | '\u{2e80}'..='\u{2fdf}'    // radicals
        | '\u{3005}'..='\u{3007}'
        | '\u{3021}'..='\u{3029}'
        | '\u{3041}'..='\u{30ff}'    // Hiragana, Katakana
        | '\u{31f0}'..='\u{31ff}'
        | '\u{3400}'..='\u{4dbf}'
        | '\u{4e00}'..='\u{9fff}'
        | '\u{aa60}'..='\u{aa7f}'
        | '\u{a9e0}'..='\u{a9ff}'
        | '\u{f900}'..='\u{faff}'
        | '\u{ff66}'..='\u{ff9f}'    // half-width Katakana
        | '\u{20000}'..='\u{323af}')
}

/// Punctuation of Chinese and Japanese, beside which a line break means nothing.
pub(super) fn is_wide_punctuation(c: char) -> bool {
    matches!(c, '\u{3001}'..='\u{3003}' | '\u{3008}'..='\u{3011}' | '\u{3014}'..='\u{301f}' | '\u{ff01}'..='\u{ff0f}' | '\u{ff1a}'..='\u{ff20}')
}

/// Zero-width characters, byte order marks and bidi marks: what `invisible` folds away.
///
/// The bidi overrides U+202D and U+202E are not among them: they change the order in which digits
/// are seen. Nor are the invisible operators, which stand for a multiplication.
pub(super) fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}' | '\u{202a}'..='\u{202c}'
        | '\u{2066}'..='\u{2069}' | '\u{061c}' | '\u{fe0e}' | '\u{fe0f}')
}

/// Signs that say how a number compares.
pub(super) fn is_comparison(c: char) -> bool {
    matches!(
        c,
        '<' | '>'
            | '≤'
            | '≥'
            | '≦'
            | '≧'
            | '⩽'
            | '⩾'
            | '≠'
            | '≈'
            | '≃'
            | '≅'
            | '~'
            | '∼'
            | '±'
            | '≪'
            | '≫'
            | '∓'
            | '≮'
            | '≯'
    )
}

/// Currency signs.
pub(super) fn is_currency(c: char) -> bool {
    matches!(c, '$' | '¢' | '£' | '¤' | '¥' | '\u{20a0}'..='\u{20cf}')
}

/// Signs that belong to the number before them.
pub(super) fn follows_number(c: char) -> bool {
    matches!(c, '%' | '‰' | '‱' | '°' | '′' | '″' | '℃' | '℉' | '٪')
}

/// White space as the matcher sees it.
pub(super) fn is_space(c: char) -> bool {
    crate::text::normalize::is_space(c)
}

/// A superscript digit.
pub(super) fn is_superscript_digit(c: char) -> bool {
    matches!(c, '¹' | '²' | '³' | '⁰' | '⁴'..='⁹')
}

/// A mark that belongs to the character before it.
pub(super) fn is_mark(c: char) -> bool {
    !c.is_ascii() && is_combining_mark(c)
}
