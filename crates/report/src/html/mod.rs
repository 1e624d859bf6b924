//! The page of `report --html`: one file that needs nothing else, for a ticket or a mail.
//!
//! ```text
//! Explanation --> markup  (verdict in plain HTML)  --+
//! Pictures    --> data    (JSON, packed rows)      --+--> page
//!                 page.js, page.css (built from ../../page, embedded) --+
//! ```
//!
//! The script is built from `crates/report/page` by esbuild and committed, so that cargo needs no Node;
//! `scripts/check-page` proves that the committed file is what the sources give. The page forbids itself to load
//! anything (its Content-Security-Policy) and runs that one script only, known by its hash.

mod compared;
pub(crate) mod data;
mod detail;
mod escape;
mod events;
mod markup;
mod opening;
mod pack;
mod waits;

pub use detail::MOST_BYTES;
pub use escape::escape;
pub use events::Events;

use detail::Detail;
use explain::{pictured, Explanation};
use stats::Pictures;

const SCRIPT: &str = include_str!("built/page.js");
const SCRIPT_HASH: &str = include_str!("built/page.js.sha256");
const STYLE: &str = include_str!("built/page.css");

/// Reducing the detail has an end: then hardly anything is left but the verdict.
const MOST_ROUNDS: usize = 12;

/// A capture to be shown.
pub struct Shown {
    /// What it is called.
    pub label: String,
    /// What is said of it.
    pub explanation: Explanation,
    /// What happened when.
    pub pictures: Pictures,
    /// The events of the slowest requests, if it was read a second time.
    pub events: Events,
}

/// The page: at most [`MOST_BYTES`], whatever was recorded.
pub fn html(captures: &[Shown]) -> String {
    let mut detail = Detail::FULL;
    let mut made = page(captures, detail);
    for _ in 0..MOST_ROUNDS {
        if made.len() <= MOST_BYTES {
            break;
        }
        detail = detail.halved();
        made = page(captures, detail);
    }
    made
}

fn page(captures: &[Shown], detail: Detail) -> String {
    let placed: Vec<_> = captures.iter().map(|c| (c, pictured::places(&c.explanation))).collect();
    let mut data = serde_json::to_value(data::page(&placed, detail)).unwrap_or_default();
    escape::tame(&mut data);
    let labels: Vec<&str> = captures.iter().map(|c| c.label.as_str()).collect();
    let openings: String = captures.iter().enumerate().map(|(i, c)| opening::opening(c, i)).collect();
    let verdicts: String = captures.iter().enumerate().map(|(i, c)| markup::verdict(c, i)).collect();
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; \
         style-src 'unsafe-inline'; script-src 'sha256-{hash}'; base-uri 'none'; form-action 'none'\">\n\
         <title>iowhy: {title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n\
         <header><h1>iowhy</h1><p class=\"tag\">where the time of this I/O went</p></header>\n\
         <main>\n{compared}<div class=\"openings\">\n{openings}</div>\n<div id=\"first\"></div>\n<div class=\"verdicts\">\n{verdicts}</div>\n<div id=\"pictures\"><noscript><p>The pictures need JavaScript; all findings are above.</p></noscript></div>\n</main>\n\
         <script type=\"application/json\" id=\"data\">{data}</script>\n<script>{SCRIPT}</script>\n</body>\n</html>\n",
        compared = compared::compared(captures),
        hash = SCRIPT_HASH.trim(),
        title = escape(&labels.join(", ")),
        data = escape::json(&data),
    )
}

#[cfg(test)]
mod tests;
