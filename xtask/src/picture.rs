//! `picture`: a terminal's text as an SVG that a browser and a README show alike.

use crate::outcome::Outcome;
use clap::Args;
use std::fmt::Write;
use std::fs;
use std::io::Read;
use std::path::PathBuf;

/// Pixels of a column and of a line for a 14 px monospace font (0.6 em wide in all common ones).
const COLUMN: f64 = 8.4;
const LINE: f64 = 19.0;
const MARGIN: f64 = 16.0;

/// Draw standard input as a terminal in SVG
#[derive(Args)]
pub struct Picture {
    /// The command, shown on the first line
    #[arg(long)]
    command: String,
    /// Where to write it
    #[arg(long)]
    out: PathBuf,
}

impl Picture {
    /// Draws.
    pub fn run(&self) -> Outcome {
        let mut text = String::new();
        std::io::stdin().read_to_string(&mut text)?;
        fs::write(&self.out, draw(&self.command, &text))?;
        Ok(())
    }
}

/// Words at the start of a line that stand out, as on a terminal.
const HEADINGS: &[&str] = &["WHO WAITED", "CAUSE", "TRY", "TRUST"];

fn draw(command: &str, text: &str) -> String {
    let lines: Vec<String> =
        std::iter::once(format!("$ {command}")).chain(text.lines().map(String::from)).collect();
    let columns = lines.iter().map(|l| l.chars().count()).max().unwrap_or(0);
    let width = columns as f64 * COLUMN + 2.0 * MARGIN;
    let height = lines.len() as f64 * LINE + 2.0 * MARGIN;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" width=\"{width:.0}\" \
         height=\"{height:.0}\" role=\"img\" aria-label=\"{}\">\n<style>text{{font:14px ui-monospace,Menlo,Consolas,monospace;\
         fill:#d8dee9;white-space:pre}}.h{{font-weight:bold;fill:#88c0d0}}.b{{fill:#ebcb8b}}.c{{fill:#a3be8c}}</style>\n\
         <rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"#20242c\"/>\n",
        escape(command)
    );
    for (i, line) in lines.iter().enumerate().filter(|(_, l)| !l.is_empty()) {
        let y = MARGIN + (i as f64 + 0.75) * LINE;
        let _ = writeln!(
            svg,
            "<text x=\"{MARGIN}\" y=\"{y:.1}\" xml:space=\"preserve\">{}</text>",
            spans(line, i == 0)
        );
    }
    svg + "</svg>\n"
}

/// A line with its heading or its bar coloured.
fn spans(line: &str, command: bool) -> String {
    if command {
        return format!("<tspan class=\"c\">{}</tspan>", escape(line));
    }
    if let Some(h) = HEADINGS.iter().find(|h| line.starts_with(**h)) {
        return format!("<tspan class=\"h\">{h}</tspan>{}", spans(&line[h.len()..], false));
    }
    match line.find('#') {
        Some(at) if line[at..].bytes().all(|b| b == b'#') => {
            format!("{}<tspan class=\"b\">{}</tspan>", escape(&line[..at]), &line[at..])
        }
        _ => escape(line),
    }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_cannot_become_markup() {
        let svg = draw("iowhy explain", "CAUSE  a < b & \"c\"\n");
        assert!(
            svg.contains("<tspan class=\"h\">CAUSE</tspan>  a &lt; b &amp; &quot;c&quot;</text>"),
            "{svg}"
        );
    }

    #[test]
    fn a_bar_is_coloured() {
        assert_eq!(
            spans("in the device 99 %  ###", false),
            "in the device 99 %  <tspan class=\"b\">###</tspan>"
        );
    }
}
