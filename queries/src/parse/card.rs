//! A `cacg.v0` card's bytes to a card with spans.
