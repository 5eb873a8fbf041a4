//! Raised and lowered text: its digits and signs are no plain ones.

/// Which way an element moves its text.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Script {
    Raised,
    Lowered,
}

impl Script {
    /// What an element of a name does.
    pub(super) fn of(name: &[u8]) -> Option<Self> {
        match name {
            b"sup" => Some(Script::Raised),
            b"sub" => Some(Script::Lowered),
            _ => None,
        }
    }

    /// The raised or lowered form of a digit or sign; letters have none that a reader would miss.
    pub(super) fn form(self, character: char) -> Option<char> {
        let forms = match self {
            Script::Raised => "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾",
            Script::Lowered => "₀₁₂₃₄₅₆₇₈₉₊₋₋₌₍₎",
        };
        let place = "0123456789+-−=()"
            .chars()
            .position(|plain| plain == character)?;
        forms.chars().nth(place)
    }
}
