//! Writes drawings as SVG 1.1: one self-contained file without scripts, fonts or references.
//!
//! Rectangles of one colour are one path: each of 20,000 cells takes 20 bytes instead of 60.

use crate::scene::{Anchor, Colour, Item, Scene};
use std::fmt::Write;

/// The drawing as an SVG file.
pub fn svg(scene: &Scene) -> String {
    wrap(scene, &items(&scene.frame), &items(&scene.data), "")
}

/// An SVG file from its parts: the frame, the data, and what is drawn over both.
pub(crate) fn wrap(scene: &Scene, frame: &str, data: &str, over: &str) -> String {
    let Scene { width, height, .. } = scene;
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" role=\"img\" font-family=\"system-ui, 'Noto Sans', sans-serif\">\n\
         <title>{}</title>\n<rect width=\"100%\" height=\"100%\" fill=\"{}\"/>\n{frame}{data}{over}</svg>\n",
        escape(&scene.title),
        hex(scene.paper),
    )
}

/// Items as SVG elements, one per line.
pub(crate) fn items(items: &[Item]) -> String {
    let mut out = String::new();
    items.iter().for_each(|item| one(&mut out, item));
    out
}

fn one(out: &mut String, item: &Item) {
    // Writing to a string does not fail.
    let _ = match item {
        Item::Rects { fill, rects } if !rects.is_empty() => {
            let _ = write!(out, "<path fill=\"{}\"{} d=\"", hex(*fill), opacity("fill", *fill));
            for [x, y, w, h] in rects {
                let _ = write!(out, "M{} {}h{}v{}h-{}z", n(*x), n(*y), n(*w), n(*h), n(*w));
            }
            writeln!(out, "\"/>")
        }
        Item::Lines { stroke, width, dashed, lines } if !lines.is_empty() => {
            let dash = if *dashed { " stroke-dasharray=\"5 3\"" } else { "" };
            let alpha = opacity("stroke", *stroke);
            let _ = write!(
                out,
                "<path fill=\"none\" stroke=\"{}\"{alpha} stroke-width=\"{}\"{dash} stroke-linejoin=\"round\" d=\"",
                hex(*stroke),
                n(*width)
            );
            for line in lines {
                for (i, (x, y)) in line.iter().enumerate() {
                    let _ = write!(out, "{}{} {}", if i == 0 { "M" } else { "L" }, n(*x), n(*y));
                }
            }
            writeln!(out, "\"/>")
        }
        Item::Text { at, text, size, fill, anchor, bold } => {
            let anchor = match anchor {
                Anchor::Start => "",
                Anchor::Middle => " text-anchor=\"middle\"",
                Anchor::End => " text-anchor=\"end\"",
            };
            let bold = if *bold { " font-weight=\"600\"" } else { "" };
            writeln!(
                out,
                "<text x=\"{}\" y=\"{}\" font-size=\"{}\" fill=\"{}\"{anchor}{bold}>{}</text>",
                n(at.0),
                n(at.1),
                n(*size),
                hex(*fill),
                escape(text)
            )
        }
        _ => Ok(()),
    };
}

/// A length rounded to 0.1 points, which is finer than screens show.
fn n(v: f32) -> String {
    let text = format!("{v:.1}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_string)
}

fn hex(c: Colour) -> String {
    format!("#{:02x}{:02x}{:02x}", c.r, c.g, c.b)
}

fn opacity(what: &str, c: Colour) -> String {
    if c.a < 1.0 {
        format!(" {what}-opacity=\"{:.2}\"", c.a)
    } else {
        String::new()
    }
}

/// Escapes text for XML 1.0, which forbids most control characters. Names of tasks are arbitrary.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}
