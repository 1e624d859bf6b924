//! Checks the page as a browser's parser reads it.

use super::*;
use crate::compare::compare;
use crate::result::{Found, Latency, Remedy, Step};
use scraper::{Html, Selector};

/// A name that tries to become markup.
const HOSTILE: &str =
    "</style></title><script>alert(1)</script><img src=x onerror=alert(1)>\"'&\u{1b}[2J\u{202e}";

/// A checkup in which every text from outside is hostile.
fn hostile() -> Checkup {
    let text = || HOSTILE.to_string();
    let remedy =
        Remedy { what: text(), command: text(), cause: text(), scenario: 1, gain_ns: 5, action: None };
    let found = Found {
        cause: text(),
        title: text(),
        share: 0.5,
        confidence: text(),
        evidence: vec![text()],
        remedies: vec![remedy.clone()],
    };
    let latency = Latency { count: 1_234, p50_ns: 2_000_000, p99_ns: 9_000_000, ..Latency::default() };
    let measured = vec![Measured { job: text(), op: text(), latency, ..Measured::default() }];
    let step = Step { name: text(), job: text(), measured, causes: vec![found], ..Step::default() };
    let finding = Finding {
        name: text(),
        step: text(),
        says: text(),
        measured_ns: 9_000_000,
        expected_ns: 3_000_000,
        causes: vec![text()],
    };
    let mut c = Checkup {
        when: text(),
        kernel: text(),
        fio: text(),
        settings: [(text(), text())].into(),
        not_seen: vec![text()],
        remedies: vec![remedy],
        scenarios: vec![Scenario {
            number: 1,
            name: text(),
            about: text(),
            verdict: "suffers".into(),
            steps: vec![step],
            findings: vec![finding],
            good: vec![text()],
            remarks: vec![text()],
        }],
        ..Checkup::default()
    };
    (c.place.dir, c.place.fstype, c.place.options) = (text().into(), text(), text());
    c.place.disk = Some(text());
    c.probe.floor.p50_ns = 1_000_000;
    c
}

fn texts(page: &Html, selector: &str) -> Vec<String> {
    page.select(&Selector::parse(selector).unwrap()).map(|e| e.text().collect()).collect()
}

#[test]
fn it_is_well_formed_and_hostile_names_are_only_text() {
    let (then, now) = (Checkup::default(), hostile());
    let html = html(&now, Some((&compare(&then, &now), &then)));
    let page = Html::parse_document(&html);
    assert!(page.errors.is_empty(), "{:?}", page.errors);
    // Nothing is loaded and nothing runs: no such elements, and no event handlers.
    for node in page.tree.values().filter_map(|n| n.as_element()) {
        assert!(!["script", "img", "iframe", "link", "a", "form"].contains(&node.name()), "{}", node.name());
        assert!(node.attrs().all(|(name, _)| !name.starts_with("on")), "{node:?}");
    }
    assert_eq!(texts(&page, "style").len(), 1);
    assert!(texts(&page, "h1")[0].contains("<script>alert(1)</script>"));
    assert!(!html.contains('\u{1b}') && !html.contains('\u{202e}'));
}

#[test]
fn it_says_what_the_result_says() {
    let c = hostile();
    let page = Html::parse_document(&html(&c, None));
    assert_eq!(texts(&page, ".verdict"), ["Problems found in 1 of 1 scenarios"]);
    assert_eq!(texts(&page, ".finding td"), ["9 ms", "3 ms"]);
    assert!(texts(&page, ".cause p")[0].contains("explains 50 % of the time of its slowest operations"));
    // The step's row has its measurements, and their ratio to a read of the quiet disk.
    let cells = texts(&page, ".scenario > table td");
    assert!(["1,234", "2 ms", "9 ms", "x2"].iter().all(|w| cells.iter().any(|c| c == w)), "{cells:?}");
    assert_eq!(texts(&page, ".try li pre").len(), 1);
    assert_eq!(texts(&page, ".since").len(), 0);
}

#[test]
fn a_clean_bill_and_what_could_not_be_told() {
    let of = |verdicts: &[&str]| {
        let scenarios = verdicts.iter().map(|v| Scenario { verdict: (*v).into(), ..Scenario::default() });
        let c = Checkup { scenarios: scenarios.collect(), ..Checkup::default() };
        texts(&Html::parse_document(&html(&c, None)), ".verdict").concat()
    };
    assert!(of(&["good", "good"]).starts_with("No problems found"));
    assert_eq!(of(&["good", "cannot-tell"]), "No problems found, but 1 of 2 scenarios could not be judged");
    assert_eq!(of(&["suffers", "cannot-tell"]), "Problems found in 1 of 2 scenarios");
}
