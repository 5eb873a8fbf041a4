//! The order in which a quote is looked for, and what is made of what is found.

use std::ops::Range;

use unicode_normalization::UnicodeNormalization;

use super::evidence::Evidence;
use super::fold::Folded;
use super::nearest;
use super::places::{self, Found};
use super::variants;
use super::verdict::{Flag, Folding, Foldings, MatchClass, Nearest, Verdict};
use super::walk::Hit;
use super::{Matcher, Options, Profile, Quote, boundary, chars, cue, elide, fuzzy, veiled};

/// What was found less well than needed, kept until nothing better turns up.
#[derive(Default)]
struct Fallback {
    outside: Option<Hit>,
    cut: Option<(Hit, MatchClass)>,
}

impl Fallback {
    fn keep(&mut self, found: Found, class: MatchClass) {
        if self.outside.is_none() {
            self.outside = found.outside.into_iter().next();
        }
        if self.cut.is_none() {
            self.cut = found.cut.into_iter().next().map(|hit| (hit, class));
        }
    }
}

/// A quote being checked.
struct Check<'m, 't, 'q> {
    matcher: &'m Matcher<'t>,
    quote: &'q Quote<'q>,
    /// The quoted words without white space around them.
    text: &'q str,
    evidence: Evidence,
    options: Options,
}

pub(super) fn check(matcher: &Matcher<'_>, quote: &Quote<'_>, options: Options) -> Verdict {
    let text = trimmed(quote.text);
    let evidence = Evidence::of(text);
    if evidence.is_empty() {
        return Verdict::absent(vec![Flag::TooShort], None);
    }
    let verdict = Check {
        matcher,
        quote,
        text,
        evidence,
        options,
    }
    .run();
    let missing = matches!(
        verdict.class(),
        MatchClass::Absent | MatchClass::OutsidePages
    );
    if !missing {
        return verdict;
    }
    veiled::verdict(matcher, quote, options).unwrap_or(verdict)
}

pub(super) fn trimmed(text: &str) -> &str {
    text.trim_matches(|c| chars::is_space(c) || chars::is_invisible(c))
}

impl Check<'_, '_, '_> {
    fn run(&self) -> Verdict {
        let mut fallback = Fallback::default();
        let found = places::exact(self.matcher, self.text);
        if !found.good.is_empty() {
            return self.settle(found.good, MatchClass::Exact);
        }
        fallback.keep(found, MatchClass::Exact);

        let folded = Folded::new(self.text, true);
        // Quotation marks around the whole quote belong to the card.
        let bare = variants::unquoted(self.text);
        let (good, insertions) = self.folded(&folded, bare, &mut fallback);
        if let Some(good) = good {
            return self.settle(good, MatchClass::Normalized);
        }
        let bare = bare.unwrap_or(self.text);
        let elided = elide::check(self.matcher, self.quote, bare, self.options);
        if let elide::Elided::Verdict(mut verdict) = elided {
            self.add_cue(&mut verdict);
            return verdict;
        }
        if let Some(hit) = fallback.outside {
            let spans = vec![hit.span];
            return Verdict::found(
                MatchClass::OutsidePages,
                hit.foldings,
                spans,
                false,
                Vec::new(),
                true,
            );
        }
        if let Some((hit, class)) = fallback.cut {
            return self.cut(hit, class);
        }
        if let Some(verdict) = self.by_the_contract() {
            return verdict;
        }
        if self.options.fuzzy
            && let Some((source, alignment)) = nearest::align(self.matcher, &folded)
        {
            if let Some(mut verdict) = fuzzy::check(self.matcher, &folded, &source, &alignment) {
                self.add_cue(&mut verdict);
                return verdict;
            }
            // To lay it on its place once is enough.
            if matches!(elided, elide::Elided::No | elide::Elided::Verdict(_)) {
                let nearest = nearest::of_alignment(&source, &folded, &alignment);
                return Verdict::absent(Vec::new(), nearest);
            }
        }
        self.absent(&folded, insertions, elided)
    }

    /// Looks for the folded quote and its variants; also, whether words in brackets were made optional.
    fn folded(
        &self,
        folded: &Folded<'_>,
        bare: Option<&str>,
        fallback: &mut Fallback,
    ) -> (Option<Vec<Hit>>, bool) {
        let mut look = |quote: &Folded<'_>, folding: Option<Folding>| {
            let mut found = places::normalized(self.matcher, quote);
            for hit in &mut found.good {
                hit.foldings = folding.map_or(hit.foldings, |folding| hit.foldings.with(folding));
            }
            if !found.good.is_empty() {
                return Some(found.good);
            }
            fallback.keep(found, MatchClass::Normalized);
            None
        };
        if let Some(good) = look(folded, None) {
            return (Some(good), false);
        }
        // Asterisks and backslashes may be meant as such.
        if self
            .text
            .contains(['*', '_', '`', '\\', '<', '>', '&', '|', '['])
            && let Some(good) = look(&Folded::literal_quote(self.text), None)
        {
            return (Some(good), false);
        }
        if self.text.contains(['|', '>'])
            && let Some(good) = look(&Folded::off_lines_quote(self.text), None)
        {
            return (Some(good), false);
        }
        let inner = bare.map(|bare| Folded::new(bare, true));
        if let Some(inner) = &inner
            && let Some(good) = look(inner, Some(Folding::Quotes))
        {
            return (Some(good), false);
        }
        match variants::with_insertions(inner.unwrap_or_else(|| folded.clone())) {
            Some(edited) => (look(&edited, None), true),
            None => (None, false),
        }
    }

    /// Makes a verdict of the places where the quote stands.
    fn settle(&self, mut hits: Vec<Hit>, class: MatchClass) -> Verdict {
        let strict = self.options.profile == Profile::Strict;
        let mut flags = Vec::new();
        let mut refused = false;
        let beside = places::in_context(self.matcher, self.quote, &hits);
        let fits = beside.iter().any(|&beside| beside);
        if fits {
            let mut beside = beside.into_iter();
            hits.retain(|_| beside.next().unwrap_or(false));
        } else {
            flags.push(Flag::ContextDiffers);
        }
        let count = hits.len();
        let Some(hit) = hits.into_iter().next() else {
            return Verdict::absent(flags, None);
        };
        let has_context = fits && (self.quote.prefix.is_some() || self.quote.suffix.is_some());
        if !self.evidence.is_enough() && !has_context {
            flags.push(Flag::TooShort);
        }
        if count > 1 {
            flags.push(Flag::Ambiguous { count });
            refused |= strict;
        }
        if !hit.inserted.is_empty() {
            flags.push(Flag::Editorial {
                inserted: hit.inserted,
            });
        }
        if self.is_only_title() {
            flags.push(Flag::OnlyTitle);
        }
        let crosses = hit.span.end > self.matcher.passage().cited.end;
        let mut verdict =
            Verdict::found(class, hit.foldings, vec![hit.span], crosses, flags, refused);
        self.add_cue(&mut verdict);
        verdict
    }

    fn add_cue(&self, verdict: &mut Verdict) {
        if let Some(cover) = verdict.cover()
            && let Some(flag) = cue::find(self.matcher.passage().text, &cover)
        {
            verdict.add_flag(flag);
        }
    }

    fn is_only_title(&self) -> bool {
        let Some(title) = self.matcher.passage().title else {
            return false;
        };
        // Most quotes are much longer than a title.
        if self.text.len() > 2 * title.len() + 64 {
            return false;
        }
        let solid = |text: &str| -> String {
            let folded = Folded::new(text, false);
            let letters = folded
                .items
                .iter()
                .filter_map(|item| item.char())
                .filter(|c| c.is_alphanumeric());
            letters.flat_map(char::to_lowercase).collect()
        };
        let quote = solid(self.text);
        !quote.is_empty() && quote == solid(title)
    }

    /// The quote stands there, but begins or ends inside a word.
    fn cut(&self, hit: Hit, class: MatchClass) -> Verdict {
        let mut hit = hit;
        let source = &self.matcher.source().folded;
        if hit.items.is_empty() {
            hit.items = source.index_of(hit.span.start)..source.index_of(hit.span.end);
        }
        let word = boundary::cut_word(source, &hit.items);
        let refused = self.options.profile == Profile::Strict;
        let mut flags = vec![Flag::InsideWord { word }];
        if !self.evidence.is_enough() {
            flags.push(Flag::TooShort);
        }
        let crosses = hit.span.end > self.matcher.passage().cited.end;
        Verdict::found(class, hit.foldings, vec![hit.span], crosses, flags, refused)
    }

    /// What the card-graph contract accepts and nothing above does: its own normal form of the quote
    /// is a part of the chunk. It joins words and numbers at a hyphen before a line break.
    fn by_the_contract(&self) -> Option<Verdict> {
        if self.options.profile != Profile::Cacg {
            return None;
        }
        let passage = self.matcher.passage();
        let normal = crate::text::normalize::normalize(self.quote.text);
        let from = passage.cited.start.max(passage.window.start);
        let reach = passage.text.get(from..passage.window.end)?;
        let at = from + memchr::memmem::find(reach.as_bytes(), normal.as_bytes())?;
        let taken = || veiled::takes_from(passage, &(at..at + normal.len()));
        if normal.is_empty() || at >= passage.cited.end || taken() {
            return None;
        }
        let text = self.quote.text;
        let mut foldings = Foldings::of(Folding::Space);
        if text.contains('-') && text.contains('\n') {
            foldings = foldings.with(Folding::Hyphenation);
        }
        if text.contains(|c: char| ('\u{fb00}'..='\u{fb06}').contains(&c)) {
            foldings = foldings.with(Folding::Ligature);
        }
        if !text.nfc().eq(text.chars()) {
            foldings = foldings.with(Folding::Canonical);
        }
        let span = at..at + normal.len();
        let source = &self.matcher.source().folded;
        let items = source.index_of(span.start)..source.index_of(span.end);
        let flags = if boundary::is_whole(source, &items) {
            Vec::new()
        } else {
            vec![Flag::InsideWord {
                word: boundary::cut_word(source, &items),
            }]
        };
        let crosses = span.end > passage.cited.end;
        Some(Verdict::found(
            MatchClass::Normalized,
            foldings,
            vec![span],
            crosses,
            flags,
            false,
        ))
    }

    fn absent(&self, folded: &Folded<'_>, insertions: bool, elided: elide::Elided) -> Verdict {
        let plain = |folded: &Folded<'_>| nearest::nearest(self.matcher, folded);
        match elided {
            elide::Elided::SegmentTooShort => {
                Verdict::absent(vec![Flag::TooShort], plain(folded).filter(|_| !insertions))
            }
            elide::Elided::Refused { span, decides } => Verdict::absent(
                Vec::new(),
                Some(Nearest {
                    span,
                    decides: decides.to_owned(),
                    close: false,
                }),
            ),
            elide::Elided::Missing { segment } => {
                let nearest = plain(&Folded::new(&segment, true)).map(|nearest| Nearest {
                    decides: format!("the segment \"{segment}\" {}", nearest.decides),
                    close: false,
                    ..nearest
                });
                Verdict::absent(Vec::new(), nearest)
            }
            elide::Elided::No | elide::Elided::Verdict(_) => {
                Verdict::absent(Vec::new(), plain(folded))
            }
        }
    }
}

pub(super) fn find_all(matcher: &Matcher<'_>, quote: &Quote<'_>) -> Vec<Range<usize>> {
    let text = trimmed(quote.text);
    if Evidence::of(text).is_empty() {
        return Vec::new();
    }
    let mut hits = places::exact(matcher, text).good;
    if hits.is_empty() {
        hits = places::normalized(matcher, &Folded::new(text, true)).good;
    }
    let beside = places::in_context(matcher, quote, &hits);
    hits.into_iter()
        .zip(beside)
        .filter(|(_, beside)| *beside)
        .map(|(hit, _)| hit.span)
        .collect()
}
