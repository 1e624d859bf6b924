//! Pictures in a terminal: heat maps in blocks of 256 colours, histograms and rates in eighths of blocks; without colours
//! or blocks in ASCII, where a darker letter means more.
//!
//! ```text
//!   1 s |      .:#:.     |      each letter is a stretch of time and of latency
//! 10 ms | ..:+*#@#*+:... |
//!       0 s          30 s
//! ```

use crate::colours::Scheme;
use crate::palette::palette;
use crate::picture::{Axis, Bar, Layer, Panel, Picture};
use crate::scene::Colour;
use std::fmt::Write;

/// The capabilities of the terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Terminal {
    /// Columns of a line.
    pub width: usize,
    /// Whether it has 256 colours.
    pub colours: bool,
    /// Whether it shows block characters (UTF-8).
    pub blocks: bool,
}

/// Lines of a chart.
const ROWS: usize = 14;
/// Lines of a chart over time without cells or marks.
const RATE_ROWS: usize = 5;
/// Columns of the labels of the vertical axis.
const LEFT: usize = 11;
/// Columns of a bar's label.
const NAME: usize = 44;
/// Maximal number of characters of a name.
const MOST_LETTERS: usize = 200;
/// Letters of a heat map, from few to many.
const ASCII: &[u8] = b".:-=+*#%@";
const EIGHTHS: [char; 8] =
    ['\u{2581}', '\u{2582}', '\u{2583}', '\u{2584}', '\u{2585}', '\u{2586}', '\u{2587}', '\u{2588}'];
const UPPER_HALF: char = '\u{2580}';
/// Letters of the parts of bars, if there are no colours.
const PARTS: &[u8] = b"#=-+*o:%x.";
/// Letters that distinguish tasks and directions if there are no colours.
const LETTERS: &[u8] = b"ABCDEFGHIJKL";

/// Draws the picture as lines of text.
pub fn terminal(picture: &Picture, terminal: Terminal) -> String {
    let mut out = format!("{}\n{}\n", plain(&picture.title), plain(&picture.about));
    for panel in &picture.panels {
        out.push('\n');
        match panel {
            Panel::Bars { title, bars, legend } => {
                let _ = writeln!(out, "{}", plain(title));
                bars.iter().for_each(|bar| one_bar(&mut out, bar, legend, terminal));
                for (words, colour) in legend {
                    let sign = painted(&sign_of(*colour, legend, terminal), *colour, terminal);
                    let _ = writeln!(out, "{:NAME$} {sign} {words}", "");
                }
            }
            Panel::Chart { title, x, y, layers, .. } => {
                let _ = writeln!(out, "{}", plain(title));
                chart(&mut out, x, y, layers, terminal);
            }
        }
    }
    out
}

fn chart(out: &mut String, x: &Axis, y: &Axis, layers: &[Layer], terminal: Terminal) {
    let width = terminal.width.saturating_sub(LEFT + 2).max(10);
    let mut drawn = false;
    for layer in layers {
        match layer {
            Layer::Heat(cells) => {
                heat(out, x, y, cells, width, terminal);
                foot(out, x, width);
                drawn = true;
            }
            Layer::Columns { colour, columns, .. } => {
                rows_of(out, columns, *colour, terminal);
                drawn = true;
            }
            _ => {}
        }
    }
    let marks: Vec<&Layer> = layers.iter().filter(|l| matches!(l, Layer::Marks { .. })).collect();
    if !marks.is_empty() {
        places(out, x, y, &marks, width, terminal);
        foot(out, x, width);
    } else if !drawn {
        for layer in layers {
            if let Layer::Line { label, colour, points, .. } = layer {
                let _ = writeln!(out, "  {}", plain(label));
                rate(out, x, y, points, *colour, width, terminal);
            }
        }
        foot(out, x, width);
    }
    for layer in layers {
        if let Layer::Level(_, words) = layer {
            let _ = writeln!(out, "{:LEFT$} {words}", "");
        }
    }
}

/// Draws a heat map; with colours and blocks, each line has two rows of cells.
fn heat(
    out: &mut String,
    x: &Axis,
    y: &Axis,
    cells: &[([f64; 2], [f64; 2], f64)],
    width: usize,
    terminal: Terminal,
) {
    let fine = terminal.colours && terminal.blocks;
    let rows = if fine { ROWS * 2 } else { ROWS };
    let mut grid = vec![vec![0.0f64; width]; rows];
    for (at, value, n) in cells {
        let column = place(x, (at[0] + at[1]) / 2.0, width);
        // The middle of a cell on a logarithmic axis is the geometric mean.
        let row = place(y, (value[0] * value[1]).sqrt(), rows);
        grid[rows - 1 - row][column] += n;
    }
    let most = grid.iter().flatten().fold(1.0f64, |a, b| a.max(*b)).ln_1p();
    let share = |n: f64| (n > 0.0).then(|| n.ln_1p() / most);
    let each = rows / ROWS;
    for line in 0..ROWS {
        let words = axis_words(y, ROWS, line);
        let _ = write!(out, "{words:>LEFT$}|");
        let (upper, lower) = (&grid[line * each], &grid[line * each + each - 1]);
        for (upper, lower) in upper.iter().zip(lower) {
            match (fine, share(*upper), share(*lower)) {
                (true, None, None) | (false, None, _) => out.push(' '),
                (true, upper, lower) => {
                    let colour = |s: Option<f64>| s.map(|s| palette(Scheme::Dark.heat(s)));
                    match (colour(upper), colour(lower)) {
                        (Some(a), Some(b)) => {
                            let _ = write!(out, "\x1b[38;5;{a};48;5;{b}m{UPPER_HALF}\x1b[0m");
                        }
                        (Some(a), None) => {
                            let _ = write!(out, "\x1b[38;5;{a}m{UPPER_HALF}\x1b[0m");
                        }
                        (_, b) => {
                            let _ = write!(out, "\x1b[38;5;{}m\u{2584}\x1b[0m", b.unwrap_or(0));
                        }
                    }
                }
                (false, Some(share), _) => {
                    out.push(ASCII[(share * (ASCII.len() - 1) as f64).round() as usize] as char);
                }
            }
        }
        out.push_str("|\n");
    }
}

/// Draws the columns of a histogram as horizontal bars.
fn rows_of(out: &mut String, columns: &[(f64, f64, f64)], colour: Colour, terminal: Terminal) {
    let most = columns.iter().map(|c| c.2).fold(1.0, f64::max);
    for (from, to, n) in columns {
        let span = format!("{} to {}", units::words::ns(*from as u64), units::words::ns(*to as u64));
        let room = terminal.width.saturating_sub(24 + 12).max(10);
        let bar = bar(n / most, room, terminal);
        let number = units::words::count(*n as u64);
        let _ = writeln!(out, "{span:>23} {} {number}", painted(&bar, colour, terminal));
    }
}

/// Draws a rate over time in eighths of blocks.
fn rate(
    out: &mut String,
    x: &Axis,
    y: &Axis,
    points: &[(f64, Option<f64>)],
    colour: Colour,
    width: usize,
    terminal: Terminal,
) {
    // Each column shows its maximum, so that peaks are not lost. A column without a point repeats the one before.
    let mut heights = vec![None::<f64>; width];
    for (at, value) in points {
        let column = place(x, *at, width);
        if let Some(value) = value {
            heights[column] = Some(heights[column].unwrap_or(0.0).max(y.place(*value)));
        }
    }
    let mut last = 0.0;
    let heights: Vec<f64> = heights
        .into_iter()
        .map(|h| {
            last = h.unwrap_or(last);
            last
        })
        .collect();
    for line in 0..RATE_ROWS {
        let words = match line {
            0 => format!("{} ", (y.words)(y.range.1)),
            line if line + 1 == RATE_ROWS => format!("{} ", (y.words)(y.range.0)),
            _ => String::new(),
        };
        let base = (RATE_ROWS - 1 - line) as f64;
        let row: String = heights
            .iter()
            .map(|h| {
                let filled = (h * RATE_ROWS as f64 - base).clamp(0.0, 1.0);
                match (terminal.blocks, (filled * 8.0).round() as usize) {
                    (_, 0) => ' ',
                    (true, eighths) => EIGHTHS[eighths - 1],
                    (false, eighths) if eighths > 3 => '#',
                    (false, _) => '.',
                }
            })
            .collect();
        let _ = writeln!(out, "{words:>LEFT$}|{}|", painted(&row, colour, terminal));
    }
}

/// Draws places on the device over time; each cell shows the task with the most marks in it.
fn places(out: &mut String, x: &Axis, y: &Axis, marks: &[&Layer], width: usize, terminal: Terminal) {
    let mut grid: Vec<Vec<Option<(usize, u32)>>> = vec![vec![None; width]; ROWS];
    for (who, layer) in marks.iter().enumerate() {
        let Layer::Marks { at, size, .. } = layer else { continue };
        let mut mine = vec![vec![0u32; width]; ROWS];
        for (t, value) in at {
            mine[ROWS - 1 - place(y, value + size.1 / 2.0, ROWS)][place(x, t + size.0 / 2.0, width)] += 1;
        }
        for (row, line) in mine.into_iter().enumerate() {
            for (column, n) in line.into_iter().enumerate().filter(|(_, n)| *n > 0) {
                let cell = &mut grid[row][column];
                if cell.is_none_or(|(_, most)| n > most) {
                    *cell = Some((who, n));
                }
            }
        }
    }
    let letter = |who: usize| LETTERS.get(who).map_or('?', |l| *l as char);
    for (line, row) in grid.iter().enumerate() {
        let _ = write!(out, "{:>LEFT$}|", axis_words(y, ROWS, line));
        for cell in row {
            match cell {
                None => out.push(' '),
                Some((who, _)) => match marks[*who] {
                    Layer::Marks { colour, crosses, .. } if terminal.colours => {
                        let sign = match (terminal.blocks, crosses) {
                            (_, true) => "x",
                            (true, false) => "\u{25a0}",
                            (false, false) => "o",
                        };
                        out.push_str(&painted(sign, *colour, terminal));
                    }
                    _ => out.push(letter(*who)),
                },
            }
        }
        out.push_str("|\n");
    }
    for (who, layer) in marks.iter().enumerate() {
        if let Layer::Marks { label, colour, .. } = layer {
            if !label.is_empty() {
                let sign =
                    if terminal.colours { painted("#", *colour, terminal) } else { letter(who).to_string() };
                let _ = writeln!(out, "{:LEFT$} {sign} {}", "", plain(label));
            }
        }
    }
}

fn one_bar(out: &mut String, bar: &Bar, legend: &[(String, Colour)], terminal: Terminal) {
    let room = terminal.width.saturating_sub(NAME + 16).max(10);
    let label: String = plain(&bar.label).chars().take(NAME).collect();
    let _ = write!(out, "{label:NAME$} ");
    let mut so_far = 0.0;
    let whole = bar.length * room as f64;
    for (part, colour) in &bar.parts {
        let (from, to) = (so_far * whole, (so_far + part) * whole);
        so_far += part;
        let n = to.round() as usize - from.round() as usize;
        let sign = sign_of(*colour, legend, terminal);
        out.push_str(&painted(&sign.repeat(n), *colour, terminal));
    }
    let _ = writeln!(out, " {}", bar.value);
}

/// The character of a bar's part: a block if colours distinguish the parts, else a letter for each.
fn sign_of(colour: Colour, legend: &[(String, Colour)], terminal: Terminal) -> String {
    if terminal.colours {
        return if terminal.blocks { "\u{2588}" } else { "#" }.to_string();
    }
    let place = legend.iter().position(|(_, c)| *c == colour).unwrap_or(0);
    PARTS.get(place).map_or('?', |p| *p as char).to_string()
}

/// A bar that fills `share` of the room, rounded up to 1/8 of a column.
fn bar(share: f64, room: usize, terminal: Terminal) -> String {
    const LEFT_EIGHTHS: [&str; 8] =
        ["", "\u{258f}", "\u{258e}", "\u{258d}", "\u{258c}", "\u{258b}", "\u{258a}", "\u{2589}"];
    let eighths = (share.clamp(0.0, 1.0) * room as f64 * 8.0).ceil() as usize;
    if terminal.blocks {
        return "\u{2588}".repeat(eighths / 8) + LEFT_EIGHTHS[eighths % 8];
    }
    "#".repeat(eighths.div_ceil(8))
}

fn painted(text: &str, colour: Colour, terminal: Terminal) -> String {
    if terminal.colours && !text.is_empty() {
        format!("\x1b[38;5;{}m{text}\x1b[0m", palette(colour))
    } else {
        text.to_string()
    }
}

/// Replaces characters that would move the cursor, change colours or turn the direction of writing: names of tasks are
/// arbitrary.
fn plain(text: &str) -> String {
    let harmful = |c: char| c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    text.chars().take(MOST_LETTERS).map(|c| if harmful(c) { '?' } else { c }).collect()
}

fn place(axis: &Axis, value: f64, of: usize) -> usize {
    ((axis.place(value) * of as f64) as usize).min(of - 1)
}

/// The label beside a line: that of the round value in it, if there is one.
fn axis_words(y: &Axis, rows: usize, line: usize) -> String {
    let here = |(value, _): &(f64, String)| rows - 1 - place(y, *value, rows) == line;
    y.ticks(rows / 2).into_iter().find(here).map_or(String::new(), |(_, words)| format!("{words} "))
}

/// Draws the labels of the horizontal axis.
fn foot(out: &mut String, x: &Axis, width: usize) {
    let mut line = vec![' '; LEFT + 1 + width + 8];
    for (value, words) in x.ticks(width / 14) {
        let at = LEFT + 1 + place(x, value, width);
        if line[at.saturating_sub(1)..(at + words.len()).min(line.len())].iter().all(|c| *c == ' ') {
            words.chars().enumerate().for_each(|(i, c)| {
                if let Some(place) = line.get_mut(at + i) {
                    *place = c;
                }
            });
        }
    }
    let _ = writeln!(out, "{}", line.into_iter().collect::<String>().trim_end());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picture::Scale;

    fn axis(range: (f64, f64), scale: Scale) -> Axis {
        Axis { scale, range, words: |v| format!("{v}"), binary: false }
    }

    fn shown(layers: Vec<Layer>, terminal_is: Terminal) -> String {
        let (x, y) = (axis((0.0, 20.0), Scale::Linear), axis((1.0, 10_000.0), Scale::Log));
        let panels = vec![Panel::Chart { title: "reads".into(), x, y, layers, height: 1.0 }];
        let picture = Picture { title: "t".into(), about: "a".into(), panels, over_time: true };
        terminal(&picture, terminal_is)
    }

    #[test]
    fn plain_ascii_where_there_is_nothing_else() {
        let cells = vec![([0.0, 1.0], [1.0, 2.0], 1.0), ([19.0, 20.0], [9000.0, 9900.0], 100.0)];
        let plain = Terminal { width: 40, colours: false, blocks: false };
        let text = shown(vec![Layer::Heat(cells.clone())], plain);
        assert!(text.is_ascii());
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[4].starts_with("     10000 | ") && lines[4].ends_with(" @|"), "{}", lines[4]);
        assert!(lines[17].contains("|.") || lines[17].contains("|:"), "{}", lines[17]);
        let coloured = shown(vec![Layer::Heat(cells)], Terminal { colours: true, blocks: true, ..plain });
        assert!(coloured.contains("\x1b[38;5;"));
    }
}
