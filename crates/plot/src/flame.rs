//! The table of waits as a flame graph, drawn by inferno: victims at the bottom, above each the waits it was in, at the top the
//! culprit; the width is the time.
//!
//! With a second recording, colours show differences: red frames have more time here, blue ones more there. Recordings rarely
//! have the same length, so the other one's time is scaled to this one's sum: the comparison is of shares.

use inferno::flamegraph::color::BackgroundColor;
use inferno::flamegraph::{self, Options, TextTruncateDirection};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::io;
use trace::Nanos;

/// The contents of a flame graph.
pub struct Flame<'a> {
    /// The title.
    pub title: &'a str,
    /// The line below the title.
    pub about: &'a str,
    /// Time by stack, as `victim;wait;...;culprit`.
    pub stacks: &'a BTreeMap<String, Nanos>,
    /// The stacks of the recording to compare with; `None`: no comparison.
    pub other: Option<&'a BTreeMap<String, Nanos>>,
    /// The width, in points.
    pub width: u32,
}

/// Draws the flame graph as SVG. `Err` if there is no time to draw.
pub fn flame(f: &Flame) -> io::Result<String> {
    let text = lines(f.stacks, f.other);
    let mut options = Options::default();
    options.title = f.title.into();
    options.subtitle = Some(f.about.into());
    options.image_width = Some(f.width as usize);
    options.bgcolors = Some(BackgroundColor::Grey);
    // The same unit as in `export --to folded`. inferno's factor for other units would make differences wrong.
    options.count_name = "ns".into();
    options.name_type = "Wait:".into();
    options.text_truncate_direction = TextTruncateDirection::Right;
    // The same recording gives the same bytes.
    options.deterministic = true;
    let mut svg = Vec::new();
    flamegraph::from_lines(&mut options, text.lines(), &mut svg)?;
    String::from_utf8(svg).map_err(io::Error::other)
}

/// One line per stack in inferno's input format; if two recordings are compared, with the other's time first.
fn lines(stacks: &BTreeMap<String, Nanos>, other: Option<&BTreeMap<String, Nanos>>) -> String {
    let mut text = String::new();
    let Some(other) = other else {
        for (stack, time) in stacks {
            let _ = writeln!(text, "{stack} {}", time.0);
        }
        return text;
    };
    let sum = |all: &BTreeMap<String, Nanos>| all.values().map(|time| u128::from(time.0)).sum::<u128>();
    let (here, there) = (sum(stacks), sum(other).max(1));
    let scaled = |time: &Nanos| (u128::from(time.0) * here / there) as u64;
    let mut both: BTreeMap<&str, (u64, u64)> =
        other.iter().map(|(stack, time)| (stack.as_str(), (scaled(time), 0))).collect();
    for (stack, time) in stacks {
        both.entry(stack).or_default().1 = time.0;
    }
    for (stack, (before, now)) in both {
        let _ = writeln!(text, "{stack} {before} {now}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stacks(all: &[(&str, u64)]) -> BTreeMap<String, Nanos> {
        all.iter().map(|(stack, ns)| (stack.to_string(), Nanos(*ns * 1_000_000))).collect()
    }

    fn draw(stacks: &BTreeMap<String, Nanos>, other: Option<&BTreeMap<String, Nanos>>) -> String {
        flame(&Flame { title: "<t>", about: "a & b", stacks, other, width: 960 }).unwrap()
    }

    #[test]
    fn it_is_well_formed_and_always_the_same() {
        let all = stacks(&[
            ("x<y reads on sda;read;behind others;cp: read", 30),
            ("x<y reads on sda;read;served", 10),
        ]);
        let svg = draw(&all, None);
        assert_eq!(svg, draw(&all, None));
        let options = roxmltree::ParsingOptions { allow_dtd: true, ..Default::default() };
        let document = roxmltree::Document::parse_with_options(&svg, options).unwrap();
        let titles: Vec<&str> =
            document.descendants().filter(|n| n.has_tag_name("title")).filter_map(|n| n.text()).collect();
        assert!(titles.contains(&"x<y reads on sda (40,000,000 ns, 100.00%)"), "{titles:?}");
        assert!(titles.contains(&"cp: read (30,000,000 ns, 75.00%)"), "{titles:?}");
    }

    #[test]
    fn differences_are_of_shares() {
        let (here, there) = (stacks(&[("a", 30), ("b", 10)]), stacks(&[("a", 2), ("c", 2)]));
        assert_eq!(lines(&here, Some(&there)), "a 20000000 30000000\nb 0 10000000\nc 20000000 0\n");
        let svg = draw(&here, Some(&there));
        assert!(svg.contains("a (30,000,000 ns, 75.00%; +25.00%)"), "{svg}");
    }

    #[test]
    fn nothing_to_draw_is_said() {
        assert!(
            flame(&Flame { title: "", about: "", stacks: &stacks(&[]), other: None, width: 960 }).is_err()
        );
    }
}
