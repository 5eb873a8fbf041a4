//! Words that carry more weight than others when a quote is checked.

use std::collections::HashSet;
use std::sync::LazyLock;

use super::chars;

/// Negations and exceptions. What a quote leaves out must not hold one of these.
const NEGATIONS: &[&str] = &[
    "no",
    "not",
    "non",
    "none",
    "nor",
    "neither",
    "never",
    "nobody",
    "nothing",
    "nowhere",
    "cannot",
    "without",
    "unless",
    "except",
    "excepting",
    "excluding",
    "excludes",
    "excluded",
    "exclude",
    "exception",
    "exceptions",
    "barring",
    "only",
    "hardly",
    "scarcely",
    "barely",
    "rarely",
    "seldom",
    "unlikely",
    "false",
    "falsely",
    "denies",
    "denied",
    "refuted",
    // Other languages; only words that do not mean something else in English.
    "nicht",
    "kein",
    "keine",
    "keinen",
    "keinem",
    "keiner",
    "keines",
    "nie",
    "niemals",
    "ohne",
    "außer",
    "niet",
    "geen",
    "nooit",
    "zonder",
    "ne",
    "pas",
    "jamais",
    "sauf",
    "sans",
    "aucun",
    "aucune",
    "nunca",
    "jamás",
    "excepto",
    "salvo",
    "ningún",
    "ninguna",
    "não",
    "senza",
    "tranne",
    "не",
    "нет",
    "без",
    "кроме",
    "никогда",
];

/// Characters of Chinese and Japanese that negate.
const NEGATING_CHARACTERS: &[char] = &[
    '不', '没', '沒', '无', '無', '非', '未', '否', '勿', '莫', '除',
];

static NEGATION_SET: LazyLock<HashSet<&str>> =
    LazyLock::new(|| NEGATIONS.iter().copied().collect());

/// Whether `word`, as [`lower`] writes it, negates or excepts.
pub(super) fn is_negation(word: &str) -> bool {
    NEGATION_SET.contains(word) || word.ends_with("n't")
}

/// Writes `word` into `buffer` in lower case with straight apostrophes.
pub(super) fn lower<'b>(word: &str, buffer: &'b mut String) -> &'b str {
    buffer.clear();
    if word.is_ascii() {
        buffer.push_str(word);
        buffer.make_ascii_lowercase();
    } else {
        buffer.extend(
            word.chars()
                .flat_map(char::to_lowercase)
                .map(|c| if c == '’' { '\'' } else { c }),
        );
    }
    buffer
}

/// The negations and exceptions of `text`, in order.
pub(super) fn negations(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut buffer = String::new();
    let mut words = words(text).peekable();
    while let Some(word) = words.next() {
        // "No 5" counts.
        if word == "No"
            && words
                .peek()
                .is_some_and(|next| next.starts_with(|c: char| c.is_ascii_digit()))
        {
            continue;
        }
        let lower = lower(word, &mut buffer);
        let wide = !word.is_ascii()
            && (word.chars().any(|c| NEGATING_CHARACTERS.contains(&c))
                || lower.ends_with("ません"));
        if wide || is_negation(lower) {
            found.push(word.to_owned());
        }
    }
    found
}

/// The words of `text`: runs of word characters with the apostrophes within.
pub(super) fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !chars::is_wordish(c) && c != '\'' && c != '’')
        .map(|word| word.trim_matches(['\'', '’']))
        .filter(|word| !word.is_empty())
}

/// Words that an editorial insertion may not bring in: they would change what is said.
pub(super) fn weighs(word: &str) -> bool {
    const MODALS: &[&str] = &[
        "may",
        "might",
        "must",
        "should",
        "shall",
        "will",
        "would",
        "can",
        "could",
        "all",
        "every",
        "each",
        "any",
        "some",
        "most",
        "many",
        "few",
        "more",
        "less",
        "always",
        "often",
        "sometimes",
        "usually",
        "first",
        "last",
        "one",
        "two",
        "three",
        "four",
        "five",
        "six",
        "seven",
        "eight",
        "nine",
        "ten",
        "hundred",
        "thousand",
        "million",
        "half",
        "double",
        "twice",
        "increase",
        "decrease",
        "increased",
        "decreased",
        "if",
        "or",
    ];
    let mut buffer = String::new();
    let lower = lower(word, &mut buffer);
    is_negation(lower)
        || MODALS.contains(&lower)
        || word
            .chars()
            .any(|c| chars::is_digit(c) || NEGATING_CHARACTERS.contains(&c))
}

/// Words after which a number in brackets is a value and not a reference.
pub(super) fn introduces_value(word: &str) -> bool {
    const WORDS: &[&str] = &[
        "the",
        "a",
        "an",
        "these",
        "those",
        "all",
        "every",
        "range",
        "ranges",
        "interval",
        "intervals",
        "ci",
        "in",
        "of",
        "from",
        "between",
        "to",
        "by",
        "at",
        "is",
        "are",
        "was",
        "were",
        "be",
        "equals",
        "=",
        "∈",
        "≈",
        "set",
        "vector",
        "list",
        "array",
        "index",
        "step",
        "value",
        "values",
        "version",
        "section",
        "table",
        "figure",
        "page",
        "pages",
        "line",
        "lines",
        "level",
        "and",
        "or",
        "than",
        "with",
        "over",
        "within",
        "bounds",
        "domain",
        "about",
        "exactly",
        "only",
        "not",
        "least",
        "most",
    ];
    WORDS.contains(&word.to_lowercase().as_str())
}

/// Words to which a number is glued as a part of the name.
pub(super) fn takes_number(word: &str) -> bool {
    const WORDS: &[&str] = &[
        "base",
        "blake",
        "block",
        "chapter",
        "column",
        "core",
        "covid",
        "figure",
        "file",
        "float",
        "grade",
        "group",
        "http",
        "item",
        "layer",
        "level",
        "line",
        "mode",
        "model",
        "node",
        "option",
        "page",
        "part",
        "phase",
        "pint",
        "point",
        "port",
        "python",
        "release",
        "rule",
        "section",
        "sqlite",
        "stage",
        "step",
        "table",
        "task",
        "team",
        "test",
        "tier",
        "type",
        "uint",
        "unit",
        "user",
        "value",
        "version",
        "vitamin",
        "volume",
        "week",
        "year",
        "zone",
        "interleukin",
        "windows",
        "area",
        "class",
        "case",
        "ticket",
        "issue",
        "server",
        "host",
        "room",
        "sample",
        "site",
        "slot",
        "sensor",
        "channel",
        "band",
        "version",
        "round",
        "plan",
        "gate",
        "factor",
    ];
    WORDS.contains(&word)
}

/// Units of more than three letters, whose superscript is an exponent, and short ones whose case matters.
pub(super) fn is_unit(word: &str) -> bool {
    const UNITS: &[&str] = &[
        "acre",
        "bar",
        "byte",
        "bytes",
        "centimeter",
        "centimetre",
        "feet",
        "foot",
        "gram",
        "grams",
        "hour",
        "hours",
        "inch",
        "inches",
        "joule",
        "kelvin",
        "kilometer",
        "kilometers",
        "kilometre",
        "kilometres",
        "liter",
        "litre",
        "meter",
        "meters",
        "metre",
        "metres",
        "mile",
        "miles",
        "millimeter",
        "millimetre",
        "minute",
        "minutes",
        "mol",
        "mole",
        "newton",
        "pascal",
        "second",
        "seconds",
        "tesla",
        "volt",
        "volts",
        "watt",
        "watts",
        "yard",
        "yards",
        "mg",
        "pa",
        "mm",
        "km",
        "ml",
        "kg",
        "ms",
        "mw",
        "mv",
        "ma",
        "ph",
        "hz",
        "cm",
        "nm",
        "gb",
        "mb",
        "kb",
        "tb",
        "dm",
        "cd",
        "lm",
        "lx",
        "wb",
        "bq",
        "gy",
        "sv",
        "mhz",
        "ghz",
        "khz",
        "mpa",
        "kpa",
        "gpa",
        "mev",
        "kev",
        "gev",
        "mol",
        "kwh",
        "mwh",
        "dl",
        "pg",
        "ng",
        "pm",
        "fm",
        "pf",
        "nf",
        "mf",
        "rad",
    ];
    UNITS.contains(&word.to_lowercase().as_str())
}

/// Whether a superscript after `word` is an exponent: units, and the letters of formulas.
pub(super) fn takes_exponent(word: &str) -> bool {
    const LETTERS: &[&str] = &[
        "alpha", "beta", "gamma", "delta", "epsilon", "zeta", "theta", "kappa", "lambda", "sigma",
        "omega",
    ];
    is_unit(word) || LETTERS.contains(&word.to_lowercase().as_str())
}

/// Whether a quote may begin with `word` although the case of its first letter differs.
///
/// Single letters and units change their meaning with their case: `mW` is not `MW`.
pub(super) fn initial_may_differ(word: &str) -> bool {
    let mut letters = word.chars();
    letters.next();
    let rest = letters.as_str();
    if rest.is_empty() {
        return matches!(word, "a" | "A");
    }
    rest.chars().all(|c| !c.is_uppercase()) && !is_unit(word)
}

/// Beginnings of compounds that turn what follows into its opposite or something else.
pub(super) fn is_reversing_prefix(word: &str) -> bool {
    matches!(
        word.to_lowercase().as_str(),
        "non"
            | "un"
            | "anti"
            | "dis"
            | "mis"
            | "pseudo"
            | "quasi"
            | "ex"
            | "counter"
            | "nicht"
            | "no"
            | "never"
            | "not"
    )
}

/// Ends of compounds that turn what precedes into its opposite.
pub(super) fn is_reversing_suffix(word: &str) -> bool {
    matches!(
        word.to_lowercase().as_str(),
        "free" | "less" | "proof" | "negative" | "resistant" | "frei" | "los"
    )
}
