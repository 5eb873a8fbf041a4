//! The ledger of a check: how many citations were looked at and what became of each.
//!
//! It is the last thing every check says. It counts; it does not decide anything.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::Severity;

/// Counts of one check. Every citation is in exactly one of the eight classes from `exact` to `skipped`.
///
/// A `fuzzy` citation is verified, as fuzzy. A `semantic` one is *not* verified: its words were not
/// found and only an evaluator of meaning spoke for it, so it is counted apart from both sides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Ledger {
    /// Cards looked at.
    pub cards: u64,
    /// Citations in them.
    pub citations: u64,
    /// Citations whose quote stands there character for character.
    pub exact: u64,
    /// Citations whose quote stands there after foldings.
    pub normalized: u64,
    /// Citations whose quote marks omissions and whose segments stand there in order.
    pub elided: u64,
    /// Citations whose quote differs by a small harmless edit, accepted on request.
    pub fuzzy: u64,
    /// Citations that only a semantic evaluator supports. Not verified.
    pub semantic: u64,
    /// Citations that were checked and do not hold.
    pub failed: u64,
    /// Citations that could not be checked: the source is missing, damaged or unreadable.
    pub unverifiable: u64,
    /// Citations that nobody checked.
    pub skipped: u64,
    /// Diagnostics of severity error.
    pub errors: u64,
    /// Diagnostics of severity warning.
    pub warnings: u64,
    /// Diagnostics that a baseline hides. They count as neither errors nor warnings; the citations
    /// behind them stay in their classes.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub hidden: u64,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl Ledger {
    /// Citations whose words were found: exact, normalized, elided and fuzzy.
    pub fn verified(&self) -> u64 {
        [self.exact, self.normalized, self.elided, self.fuzzy]
            .into_iter()
            .fold(0, u64::saturating_add)
    }

    /// Whether every citation is in exactly one class.
    pub fn is_balanced(&self) -> bool {
        let apart = [self.semantic, self.failed, self.unverifiable, self.skipped];
        apart.into_iter().fold(self.verified(), u64::saturating_add) == self.citations
    }

    /// Whether nothing at all was checked, which is not a success.
    pub fn is_empty(&self) -> bool {
        self.cards == 0 && self.citations == 0
    }

    /// Adds the counts of another ledger, for instance of another card.
    pub fn merge(&mut self, other: &Ledger) {
        let pairs: [(&mut u64, u64); 13] = [
            (&mut self.cards, other.cards),
            (&mut self.citations, other.citations),
            (&mut self.exact, other.exact),
            (&mut self.normalized, other.normalized),
            (&mut self.elided, other.elided),
            (&mut self.fuzzy, other.fuzzy),
            (&mut self.semantic, other.semantic),
            (&mut self.failed, other.failed),
            (&mut self.unverifiable, other.unverifiable),
            (&mut self.skipped, other.skipped),
            (&mut self.errors, other.errors),
            (&mut self.warnings, other.warnings),
            (&mut self.hidden, other.hidden),
        ];
        for (mine, theirs) in pairs {
            *mine = mine.saturating_add(theirs);
        }
    }

    /// Counts a diagnostic of this severity.
    pub fn count(&mut self, severity: Severity) {
        match severity {
            Severity::Error => self.errors = self.errors.saturating_add(1),
            Severity::Warning => self.warnings = self.warnings.saturating_add(1),
            Severity::Info => {}
        }
    }
}

impl std::ops::AddAssign for Ledger {
    fn add_assign(&mut self, other: Ledger) {
        self.merge(&other);
    }
}

impl std::ops::Add for Ledger {
    type Output = Ledger;

    fn add(mut self, other: Ledger) -> Ledger {
        self.merge(&other);
        self
    }
}

impl std::iter::Sum for Ledger {
    fn sum<I: Iterator<Item = Ledger>>(ledgers: I) -> Ledger {
        ledgers.fold(Ledger::default(), |sum, ledger| sum + ledger)
    }
}

/// The line a person reads; classes of verified citations that are empty are left out.
impl fmt::Display for Ledger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "checked {}, {}: {} verified",
            Counted(self.cards, "card"),
            Counted(self.citations, "citation"),
            self.verified()
        )?;
        let classes = [
            (self.exact, "exact"),
            (self.normalized, "normalized"),
            (self.elided, "elided"),
            (self.fuzzy, "fuzzy"),
        ];
        let mut before = " (";
        for (count, class) in classes.into_iter().filter(|(count, _)| *count > 0) {
            write!(f, "{before}{count} {class}")?;
            before = ", ";
        }
        if before == ", " {
            f.write_str(")")?;
        }
        if self.semantic > 0 {
            write!(f, ", {} semantic only", self.semantic)?;
        }
        write!(
            f,
            ", {} failed, {} unverifiable, {} skipped; {}, {}",
            self.failed,
            self.unverifiable,
            self.skipped,
            Counted(self.errors, "error"),
            Counted(self.warnings, "warning")
        )?;
        if self.hidden > 0 {
            write!(f, ", {} hidden by the baseline", self.hidden)?;
        }
        Ok(())
    }
}

/// A number with its noun in the singular or the plural.
struct Counted(u64, &'static str);

impl fmt::Display for Counted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = if self.0 == 1 { "" } else { "s" };
        write!(f, "{} {}{plural}", self.0, self.1)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

    use super::*;
    use proptest::prelude::*;

    fn ledger(counts: [u64; 12]) -> Ledger {
        let [
            cards,
            citations,
            exact,
            normalized,
            elided,
            fuzzy,
            semantic,
            failed,
            unverifiable,
            skipped,
            errors,
            warnings,
        ] = counts;
        Ledger {
            cards,
            citations,
            exact,
            normalized,
            elided,
            fuzzy,
            semantic,
            failed,
            unverifiable,
            skipped,
            errors,
            warnings,
            hidden: 0,
        }
    }

    #[test]
    fn what_a_baseline_hides_is_said_and_only_then() {
        let mut ledger = ledger([1, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0]);
        let keys = |ledger: &Ledger| serde_json::to_value(ledger).unwrap();
        assert!(keys(&ledger).get("hidden").is_none());
        ledger.hidden = 2;
        assert!(
            ledger
                .to_string()
                .ends_with("0 errors, 0 warnings, 2 hidden by the baseline")
        );
        assert_eq!(keys(&ledger)["hidden"], 2);
        assert!(ledger.is_balanced());
    }

    #[test]
    fn the_line_a_person_reads() {
        let table = [
            (
                ledger([24, 31, 27, 2, 0, 0, 0, 1, 1, 0, 1, 0]),
                "checked 24 cards, 31 citations: 29 verified (27 exact, 2 normalized), 1 failed, 1 unverifiable, 0 skipped; 1 error, 0 warnings",
            ),
            (
                ledger([1, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1]),
                "checked 1 card, 1 citation: 0 verified, 0 failed, 0 unverifiable, 1 skipped; 0 errors, 1 warning",
            ),
            (
                ledger([2, 5, 0, 0, 1, 2, 2, 0, 0, 0, 2, 2]),
                "checked 2 cards, 5 citations: 3 verified (1 elided, 2 fuzzy), 2 semantic only, 0 failed, 0 unverifiable, 0 skipped; 2 errors, 2 warnings",
            ),
            (
                Ledger::default(),
                "checked 0 cards, 0 citations: 0 verified, 0 failed, 0 unverifiable, 0 skipped; 0 errors, 0 warnings",
            ),
        ];
        for (ledger, line) in table {
            assert_eq!(ledger.to_string(), line);
            assert!(ledger.is_balanced());
        }
    }

    #[test]
    fn a_semantic_opinion_is_no_verification() {
        let ledger = ledger([1, 1, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0]);
        assert_eq!(ledger.verified(), 0);
    }

    #[test]
    fn a_lost_citation_unbalances_it() {
        assert!(!ledger([1, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0]).is_balanced());
    }

    proptest! {
        #[test]
        fn merging_commutes_and_keeps_the_balance(a: [u32; 12], b: [u32; 12]) {
            let balanced = |counts: [u32; 12]| {
                let mut ledger = ledger(counts.map(u64::from));
                ledger.citations = ledger.verified() + ledger.semantic + ledger.failed + ledger.unverifiable + ledger.skipped;
                ledger
            };
            let (a, b) = (balanced(a), balanced(b));
            prop_assert_eq!(a + b, b + a);
            prop_assert!((a + b).is_balanced());
            prop_assert_eq!((a + b).verified(), a.verified() + b.verified());
            prop_assert_eq!(a + Ledger::default(), a);
        }

        #[test]
        fn nothing_overflows(counts: [u64; 12]) {
            let ledger = ledger(counts);
            let sum: Ledger = [ledger, ledger, ledger].into_iter().sum();
            prop_assert!(sum.cards >= ledger.cards);
            let _ = (sum.is_balanced(), sum.to_string());
        }
    }
}
