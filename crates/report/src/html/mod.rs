//! The page of `report --html`: one file that needs nothing else, for a ticket or a mail.
//!
//! ```text
//! Explanation --> markup  (verdict in plain HTML)  --+
//! Pictures    --> data    (JSON, packed rows)      --+--> page
//!                 page.js, page.css (built from ../../page, embedded) --+
//! ```
//!
//! The script is built from `crates/report/page` by esbuild and committed, so that cargo needs no Node;
//! `scripts/check-page` checks that the committed file matches the sources. The page's Content-Security-Policy forbids it to load
//! anything, and allows only that one script, by its hash.

mod compared;
pub(crate) mod data;
mod detail;
mod escape;
mod events;
mod markup;
mod opening;
mod pack;
mod shown;
mod waits;

pub use detail::MOST_BYTES;
pub use escape::escape;
pub use events::Events;
pub use shown::Shown;

use detail::Detail;
use shown::PageInput;

const SCRIPT: &str = include_str!("built/page.js");
const SCRIPT_HASH: &str = include_str!("built/page.js.sha256");
const STYLE: &str = include_str!("built/page.css");

/// Maximal number of times that the detail is halved; after that hardly anything but the verdict is left.
const MOST_ROUNDS: usize = 12;

/// The page: at most [`MOST_BYTES`], whatever was recorded.
pub fn html(captures: &[Shown]) -> String {
    let told: Vec<PageInput> = captures.iter().map(PageInput::of).collect();
    let [before, after] = around(&told);
    let mut detail = Detail::FULL;
    let mut drawn = drawn(&told, detail);
    for _ in 0..MOST_ROUNDS {
        if before.len() + drawn.len() + after.len() <= MOST_BYTES {
            break;
        }
        detail = detail.halved();
        drawn = self::drawn(&told, detail);
    }
    before + &drawn + &after
}

/// The JSON from which the script draws the pictures.
fn drawn(told: &[PageInput], detail: Detail) -> String {
    let mut data = serde_json::to_value(data::page(told, detail)).unwrap_or_default();
    escape::tame(&mut data);
    escape::json(&data)
}

/// The page before and after that JSON; neither part depends on the detail.
fn around(told: &[PageInput]) -> [String; 2] {
    let captures: Vec<&Shown> = told.iter().map(|t| t.shown).collect();
    let labels: Vec<&str> = captures.iter().map(|c| c.label.as_str()).collect();
    let openings: String = told.iter().enumerate().map(|(i, t)| opening::opening(t, i)).collect();
    let verdicts: String = told.iter().enumerate().map(|(i, t)| markup::verdict(t, i)).collect();
    let before = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; \
         style-src 'unsafe-inline'; script-src 'sha256-{hash}'; base-uri 'none'; form-action 'none'\">\n\
         <title>iowhy: {title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n\
         <header><h1>iowhy</h1><p class=\"tag\">where the time of this I/O went</p></header>\n\
         <main>\n{compared}<div class=\"openings\">\n{openings}</div>\n<div id=\"first\"></div>\n<div class=\"verdicts\">\n{verdicts}</div>\n<div id=\"pictures\"><noscript><p>The pictures need JavaScript; all findings are above.</p></noscript></div>\n</main>\n\
         <script type=\"application/json\" id=\"data\">",
        compared = compared::compared(&captures),
        hash = SCRIPT_HASH.trim(),
        title = escape(&labels.join(", ")),
    );
    [before, format!("</script>\n<script>{SCRIPT}</script>\n</body>\n</html>\n")]
}

#[cfg(test)]
mod tests;
