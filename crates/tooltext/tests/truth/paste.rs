//! What happens to a text on its way: what loses nothing, and what does.

use crate::Random;

/// A way to paste.
pub type Paste = fn(&str) -> String;
/// A way to lose something.
pub type Damage = fn(&str, &mut Random) -> String;

pub const HARMLESS: [(&str, Paste); 12] = [
    ("as it is", str::to_owned),
    ("quoted", |text| each(text, |line| format!("> {line}"))),
    ("quoted three times", |text| each(text, |line| format!(">> > {line}"))),
    ("with Windows' line ends", |text| text.replace('\n', "\r\n")),
    ("indented", |text| each(text, |line| format!("    {line}"))),
    ("with tabs", |text| text.replace("  ", "\t")),
    ("with blanks that do not break", |text| text.replace("  ", "\u{a0} ")),
    ("without more than one blank", |text| {
        each(text, |line| line.split_whitespace().collect::<Vec<_>>().join(" "))
    }),
    ("broken at 78", |text| broken(text, 78)),
    ("broken at 76 and quoted", |text| each(&broken(text, 76), |line| format!("> {line}"))),
    ("in a page", |text| {
        let escaped = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        format!("<html><body><p>Hi,</p><pre>\n{escaped}</pre></body></html>")
    }),
    ("between words", |text| {
        format!("Hi all,\n\nthis is what I see since Monday:\n\n```\n{text}```\n\nAny idea? Best, Ada\n")
    }),
];

pub const DAMAGES: [(&str, Damage); 7] = [
    ("a word is lost", |text, random| {
        let mut n = random.below(words(text));
        words_changed(text, |word| {
            n = n.wrapping_sub(1);
            if n == usize::MAX {
                String::new()
            } else {
                word.to_owned()
            }
        })
    }),
    ("a line is lost", |text, random| {
        let lost = random.below(text.lines().count());
        let rest: Vec<&str> = text.lines().enumerate().filter(|(i, _)| *i != lost).map(|(_, l)| l).collect();
        rest.join("\n") + "\n"
    }),
    ("the rest is lost", |text, random| {
        let mut left = random.below(words(text));
        words_changed(text, |word| {
            left = left.saturating_sub(1);
            if left == 0 {
                String::new()
            } else {
                word.to_owned()
            }
        })
    }),
    ("the beginning is lost", |text, random| {
        let mut lost = random.below(words(text));
        words_changed(text, |word| {
            lost = lost.saturating_sub(1);
            if lost > 0 {
                String::new()
            } else {
                word.to_owned()
            }
        })
    }),
    ("a number is not known", |text, random| {
        let mut n = random.below(words(text));
        words_changed(text, |word| {
            n = n.wrapping_sub(1);
            let number = word.starts_with(|c: char| c.is_ascii_digit());
            if n == usize::MAX && number {
                "n/a".to_owned()
            } else {
                word.to_owned()
            }
        })
    }),
    ("a remark stands behind a line", |text, random| {
        let which = random.below(text.lines().count());
        let remark = ["   <-- 99 here!", "  # 12 ms?", "  (1)"][random.below(3)];
        let lines = text.lines().enumerate();
        lines.map(|(i, l)| format!("{l}{}\n", if i == which { remark } else { "" })).collect()
    }),
    ("a remark stands between two lines", |text, random| {
        let which = random.below(text.lines().count());
        let remark =
            ["...\n", "[ 20 more ]\n", "and 30 minutes later, after 2 tries:\n", "\n"][random.below(4)];
        let lines = text.lines().enumerate();
        lines.map(|(i, l)| format!("{l}\n{}", if i == which { remark } else { "" })).collect()
    }),
];

fn each(text: &str, change: impl Fn(&str) -> String) -> String {
    text.lines().map(|line| change(line) + "\n").collect()
}

fn words(text: &str) -> usize {
    text.split_whitespace().count()
}

/// The text with each word changed, blanks and ends of lines as they are.
fn words_changed(text: &str, mut change: impl FnMut(&str) -> String) -> String {
    text.split_inclusive(char::is_whitespace)
        .map(|part| {
            let word = part.trim_end();
            let blank = &part[word.len()..];
            if word.is_empty() {
                part.to_owned()
            } else {
                change(word) + blank
            }
        })
        .collect()
}

/// As a mailer breaks lines: at blanks, none longer than `width` if it can be.
fn broken(text: &str, width: usize) -> String {
    each(text, |line| {
        if line.len() <= width {
            return line.to_owned();
        }
        let mut lines = vec![String::new()];
        let mut blanks = String::new();
        for part in line.split_inclusive(' ') {
            let last = lines.last_mut().unwrap();
            let word = part.trim_end();
            if word.is_empty() {
                blanks.push(' ');
                continue;
            }
            if !last.trim().is_empty() && last.len() + blanks.len() + word.len() > width {
                lines.push(word.to_owned());
            } else {
                last.push_str(&blanks);
                last.push_str(word);
            }
            " ".repeat(part.len() - word.len()).clone_into(&mut blanks);
        }
        lines.join("\n")
    })
}
