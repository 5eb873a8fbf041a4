//! Normal forms with offset maps, word boundaries, line index and the quote matcher.
