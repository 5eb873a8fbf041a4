//! Superscripts, subscripts and declared changes of case: characters that stand for others.

/// Above or below the line.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Script {
    Super,
    Sub,
}

/// `[T]` before a letter: the letter, and the bytes of the bracketed form.
pub(super) fn declared_case(rest: &str) -> Option<(char, usize)> {
    let mut chars = rest.chars().skip(1);
    let letter = chars.next().filter(|c| c.is_alphabetic())?;
    let closes = chars.next() == Some(']');
    let goes_on = chars.next().is_some_and(char::is_alphabetic);
    (closes && goes_on).then_some((letter, letter.len_utf8() + 2))
}

/// Superscript and subscript characters, with their plain forms.
pub(super) fn script_char(c: char) -> Option<(Script, char)> {
    Some(match c {
        '²' => (Script::Super, '2'),
        '³' => (Script::Super, '3'),
        '¹' => (Script::Super, '1'),
        '⁰' => (Script::Super, '0'),
        'ⁱ' => (Script::Super, 'i'),
        '⁴'..='⁹' => (Script::Super, digit(c, '⁴', '4')),
        '⁺' => (Script::Super, '+'),
        '⁻' => (Script::Super, '-'),
        '⁼' => (Script::Super, '='),
        '⁽' => (Script::Super, '('),
        '⁾' => (Script::Super, ')'),
        'ⁿ' => (Script::Super, 'n'),
        'ᵗ' => (Script::Super, 't'),
        'ʰ' => (Script::Super, 'h'),
        'ˢ' => (Script::Super, 's'),
        'ʳ' => (Script::Super, 'r'),
        'ᵈ' => (Script::Super, 'd'),
        '₀'..='₉' => (Script::Sub, digit(c, '₀', '0')),
        '₊' => (Script::Sub, '+'),
        '₋' => (Script::Sub, '-'),
        '₌' => (Script::Sub, '='),
        '₍' => (Script::Sub, '('),
        '₎' => (Script::Sub, ')'),
        'ₐ' => (Script::Sub, 'a'),
        'ₑ' => (Script::Sub, 'e'),
        'ₒ' => (Script::Sub, 'o'),
        'ₓ' => (Script::Sub, 'x'),
        'ₙ' => (Script::Sub, 'n'),
        'ₘ' => (Script::Sub, 'm'),
        _ => return None,
    })
}

fn digit(c: char, first: char, plain: char) -> char {
    char::from_u32(plain as u32 + (c as u32).saturating_sub(first as u32)).unwrap_or(c)
}
