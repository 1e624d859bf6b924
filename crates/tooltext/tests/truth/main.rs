//! Numbers that are known before they are printed: what each tool prints of random ones, and what mailers and people do to it. All of
//! them are read as what they are; of a text that was damaged no other number is read.

mod forms;
mod paste;

use forms::{Form, FORMS};
use std::collections::HashMap;
use tooltext::ToolOutput;

/// Numbers that are the same in every run.
pub struct Random(u64);

impl Random {
    /// A number below a bound.
    pub fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % bound.max(1)
    }
}

/// What a number is of, what it is called, and how often which value is there.
type Numbers = HashMap<(String, String), Vec<f64>>;

/// A text and the numbers in it.
struct Printed {
    text: String,
    numbers: Numbers,
}

fn printed(form: &Form, random: &mut Random) -> Printed {
    let mut all = Printed { text: form.head.to_owned(), numbers: Numbers::new() };
    for row in 0..form.rows {
        let words = [
            ("of", format!("{}{row}", ["sd", "nvme", "vd", "md"][random.below(4)])),
            ("task", ["postgres", "kworker/u8:1", "jbd2/sda1-8", "rsync"][random.below(4)].to_owned()),
            ("pid", (1000 + random.below(9000)).to_string()),
        ];
        let filled = |pattern: &str| {
            words
                .iter()
                .fold(pattern.to_owned(), |text, (name, word)| text.replace(&format!("{{{name}}}"), word))
        };
        let called = filled(form.called);
        let pattern = filled(form.row);
        let mut rest = pattern.as_str();
        while let Some((before, after)) = rest.split_once('{') {
            let (token, after) = after.split_once('}').unwrap();
            all.text.push_str(before);
            rest = after;
            let Some((name, number)) = token.split_once('*') else {
                all.text.push_str(&(100 + random.below(900)).to_string());
                continue;
            };
            let (number, bounds) = number.split_once('@').unwrap_or((number, "0-9999"));
            let (factor, places) = number.rsplit_once('.').unwrap();
            let (least, most) = bounds.split_once('-').unwrap();
            let [least, most] = [least, most].map(|n| n.parse::<usize>().unwrap());
            let places: usize = places.parse().unwrap();
            let whole = least + random.below(most - least + 1);
            let digits = match places {
                0 => whole.to_string(),
                _ => format!("{whole}.{:0places$}", random.below(10usize.pow(places as u32))),
            };
            let value = digits.parse::<f64>().unwrap() * factor.parse::<f64>().unwrap();
            all.text.push_str(&digits);
            all.numbers.entry((called.clone(), name.to_owned())).or_default().push(value);
        }
        all.text.push_str(rest);
    }
    all
}

fn read(text: &str, tool: &str) -> Numbers {
    let mut all = Numbers::new();
    let output = ToolOutput::read("text", text.as_bytes());
    for row in
        output.runs.iter().flat_map(|run| &run.readings).filter(|r| is(tool, r.tool)).flat_map(|r| &r.rows)
    {
        let mut put =
            |name: &str, value| all.entry((row.of.clone(), name.to_owned())).or_default().push(value);
        row.values.iter().for_each(|(name, n)| put(name, n.value));
        row.histogram.iter().for_each(|b| put(&format!("hist {}", b.from), b.count.value));
    }
    all
}

/// A histogram without its first line is nobody's.
fn is(tool: &str, read: &str) -> bool {
    tool == read || tool == "biolatency" && read == "histogram"
}

fn same(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.abs().max(b.abs())
}

/// How many numbers that were read are as they were printed; those that are not, and those of names that were printed and not read.
fn compared(truth: &Numbers, read: &Numbers) -> (usize, Vec<String>, Vec<String>) {
    let names: std::collections::HashSet<&str> = truth.keys().map(|(_, name)| name.as_str()).collect();
    let (mut right, mut wrong, mut missing) = (0, vec![], vec![]);
    for ((of, name), values) in read.iter().filter(|((_, name), _)| names.contains(name.as_str())) {
        let key = (of.clone(), name.clone());
        // A row that lost its name may have another; it is of its own numbers, though.
        let mut left: Vec<f64> = match truth.get(&key) {
            Some(values) => values.clone(),
            None => truth.iter().filter(|((_, n), _)| n == name).flat_map(|(_, v)| v.clone()).collect(),
        };
        for value in values {
            match left.iter().position(|l| same(*l, *value)) {
                Some(at) => {
                    left.remove(at);
                    right += 1;
                }
                None => wrong.push(format!("{of} {name} {value}")),
            }
        }
    }
    for ((of, name), values) in truth {
        let many = read.get(&(of.clone(), name.clone())).map_or(0, Vec::len);
        if many < values.len() {
            missing.push(format!("{of} {name}"));
        }
    }
    (right, wrong, missing)
}

/// Numbers in all forms in which people paste them.
#[test]
fn what_is_read_is_what_was_printed() {
    let mut random = Random(1);
    let mut all = 0;
    let mut bad = vec![];
    for form in &FORMS {
        for (how, paste) in paste::HARMLESS {
            let truth = printed(form, &mut random);
            let text = paste(&truth.text);
            let (right, wrong, missing) = compared(&truth.numbers, &read(&text, form.tool));
            all += right;
            if !(wrong.is_empty() && missing.is_empty()) {
                bad.push(format!("{} {how}: wrong {wrong:?}, missing {missing:?}\n{text}", form.tool));
            }
        }
    }
    assert!(bad.is_empty(), "{} of them:\n{}", bad.len(), bad.join("\n"));
    assert!(all >= 5000, "{all}");
}

/// A word is lost, a line, the rest; a cell says that it is not known; remarks stand between.
#[test]
fn of_what_is_damaged_no_other_number_is_read() {
    let mut random = Random(2);
    let mut all = 0;
    let mut bad = vec![];
    for form in &FORMS {
        for round in 0..ROUNDS {
            let truth = printed(form, &mut random);
            let (how, damage) = paste::DAMAGES[round % paste::DAMAGES.len()];
            let (_, paste) = paste::HARMLESS[random.below(paste::HARMLESS.len())];
            let text = paste(&damage(&truth.text, &mut random));
            let (right, wrong, _) = compared(&truth.numbers, &read(&text, form.tool));
            all += right;
            if !wrong.is_empty() {
                bad.push(format!("{} {how}: {wrong:?}\n{text}", form.tool));
            }
        }
    }
    assert!(bad.is_empty(), "{} of them:\n{}", bad.len(), bad.join("\n"));
    assert!(all >= 20_000, "{all}");
}

/// Damaged texts of each form.
const ROUNDS: usize = 84;
