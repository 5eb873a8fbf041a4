//! One made-up Markdown document.

use crate::vocabulary::{Random, Vocabulary};

/// A Markdown document of at least `bytes` bytes: headings, paragraphs (one in four with hard line
/// breaks, one in eight with typesetter's punctuation), lists, code, tables.
pub fn markdown(vocabulary: &Vocabulary, random: &mut Random, bytes: usize) -> String {
    let mut text = String::with_capacity(bytes + 4_096);
    heading(vocabulary, random, 1, &mut text);
    while text.len() < bytes {
        heading(vocabulary, random, 2, &mut text);
        for _ in 0..random.between(2, 4) {
            match random.below(16) {
                0 => table(vocabulary, random, &mut text),
                1 => code(vocabulary, random, &mut text),
                2 | 3 => list(vocabulary, random, &mut text),
                4 => heading(vocabulary, random, 3, &mut text),
                _ => paragraph(vocabulary, random, &mut text),
            }
        }
    }
    text
}

fn heading(vocabulary: &Vocabulary, random: &mut Random, level: usize, text: &mut String) {
    text.extend(std::iter::repeat_n('#', level));
    text.push(' ');
    let words = random.between(3, 7);
    vocabulary.phrase(random, words, text);
    text.push_str("\n\n");
}

fn paragraph(vocabulary: &Vocabulary, random: &mut Random, text: &mut String) {
    let curly = random.chance(12);
    let mut words = String::new();
    for place in 0..random.between(3, 7) {
        if place > 0 {
            words.push(' ');
        }
        vocabulary.sentence(random, curly, &mut words);
    }
    if random.chance(25) {
        wrap(&words, 80, text);
    } else {
        text.push_str(&words);
    }
    text.push_str("\n\n");
}

fn wrap(words: &str, width: usize, text: &mut String) {
    let mut column = 0;
    for word in words.split(' ') {
        if column > 0 && column + word.len() >= width {
            text.push('\n');
            column = 0;
        } else if column > 0 {
            text.push(' ');
            column += 1;
        }
        text.push_str(word);
        column += word.len();
    }
}

fn list(vocabulary: &Vocabulary, random: &mut Random, text: &mut String) {
    let numbered = random.chance(30);
    for item in 1..=random.between(3, 7) {
        if numbered {
            text.push_str(&format!("{item}. "));
        } else {
            text.push_str("- ");
        }
        vocabulary.sentence(random, false, text);
        text.push('\n');
    }
    text.push('\n');
}

fn code(vocabulary: &Vocabulary, random: &mut Random, text: &mut String) {
    text.push_str("```text\n");
    for _ in 0..random.between(3, 10) {
        text.push_str(vocabulary.word(random));
        text.push_str(" = ");
        text.push_str(&random.below(100_000).to_string());
        text.push_str("; ");
        text.push_str(vocabulary.word(random));
        text.push_str("()\n");
    }
    text.push_str("```\n\n");
}

fn table(vocabulary: &Vocabulary, random: &mut Random, text: &mut String) {
    let columns = random.between(2, 4);
    for row in 0..random.between(4, 9) {
        for _ in 0..columns {
            text.push_str("| ");
            vocabulary.phrase(random, 2, text);
            text.push(' ');
        }
        text.push_str("|\n");
        if row == 0 {
            text.push_str(&"|---".repeat(columns));
            text.push_str("|\n");
        }
    }
    text.push('\n');
}
