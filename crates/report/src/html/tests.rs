//! Checks the page as a browser's parser reads it.

use super::pack::unpack;
use super::*;
use crate::json::to_json;
use explain::{Explanation, Subject};
use life::IoTracker;
use proptest::prelude::*;
use scraper::{Html, Selector};
use serde_json::Value;
use stats::{Facts, Pictures};
use testkit::Script;
use trace::{Action, Batch, Bytes, DevId, Event, Flags, Nanos, Quality, Sector, Tid};

fn shown(batches: &[Batch], label: &str) -> Shown {
    let events = batches.iter().map(|b| b.events.len() as u64).sum();
    let subject = Subject {
        sources: vec!["blktrace".into()],
        quality: Quality { events, ..Quality::default() },
        ..Subject::default()
    };
    let (mut pictures, mut tracker) = (Pictures::default(), IoTracker::default());
    batches.iter().for_each(|b| tracker.feed(b, &mut pictures));
    let explanation = Explanation::new(subject, Facts::of(batches));
    let mut events = Events::of_slowest(&explanation, &pictures);
    batches.iter().for_each(|b| events.gather(b));
    Shown { label: label.into(), explanation, pictures, events }
}

/// Requests spread over `devices` devices, each with its own place and latency, by tasks with these names.
fn busy(devices: u32, requests: u64, names: &[&str]) -> Vec<Batch> {
    let mut events: Vec<(Event, usize)> = vec![];
    for n in 0..requests {
        let mixed = n.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let dev = DevId::new(8, (n % u64::from(devices)) as u32);
        let kind = [Flags::READ, Flags::WRITE, Flags::WRITE.with(Flags::SYNC)][(mixed >> 20) as usize % 3];
        let (at, length) = (n * 40_000, 1_000 << ((mixed >> 8) % 20));
        let event = Event {
            dev,
            flags: kind,
            sector: Sector((mixed >> 24) & !7),
            bytes: Bytes(4096),
            tid: Tid(1 + (n % 300) as u32),
            ..Event::default()
        };
        for (action, time) in [
            (Action::Queue, at),
            (Action::Get, at + 100),
            (Action::Issue, at + 300),
            (Action::Complete, at + length),
        ] {
            events.push((Event { action, time: Nanos(time), ..event }, n as usize));
        }
    }
    events.sort_by_key(|(e, _)| e.time);
    let mut batches = vec![Batch::default()];
    for (tid, name) in names.iter().cycle().take(300).enumerate() {
        let detail = batches[0].store(name.as_bytes());
        batches[0].events.push(Event {
            action: Action::TaskName,
            tid: Tid(1 + tid as u32),
            detail,
            ..Event::default()
        });
    }
    for chunk in events.chunks(Batch::EVENTS) {
        let mut batch = Batch::default();
        batch.events.extend(chunk.iter().map(|(e, _)| *e));
        batches.push(batch);
    }
    batches
}

fn data_of(page: &Html) -> Value {
    let script = Selector::parse("script#data").unwrap();
    let text: String = page.select(&script).next().unwrap().text().collect();
    serde_json::from_str(&text).unwrap()
}

#[track_caller]
fn assert_sound(text: &str) -> Html {
    let page = Html::parse_document(text);
    assert!(page.errors.is_empty(), "{:?}", page.errors);
    let count = |what: &str| page.select(&Selector::parse(what).unwrap()).count();
    assert_eq!(count("script"), 2, "the data and the page's own script");
    assert_eq!(
        count("[src], link, img, iframe, object, embed, base, form, [onerror], [onload], [onclick]"),
        0
    );
    assert_eq!(count("html[lang], body, main, title"), 4);
    let ids: Vec<&str> =
        page.select(&Selector::parse("[id]").unwrap()).filter_map(|e| e.attr("id")).collect();
    assert_eq!(ids.iter().collect::<std::collections::BTreeSet<_>>().len(), ids.len(), "{ids:?}");
    page
}

#[test]
fn its_numbers_are_those_of_explain() {
    let shown = shown(&busy(2, 3000, &["fio", "dd"]), "recording");
    let page = assert_sound(&html(std::slice::from_ref(&shown)));
    let data = data_of(&page);
    let capture = &data["captures"][0];
    assert_eq!(capture["explain"], serde_json::to_value(to_json(&shown.explanation)).unwrap());
    // The heat maps hold what `explain` counted.
    let mut of_op = std::collections::BTreeMap::new();
    for group in capture["groups"].as_array().unwrap() {
        let numbers = unpack(group["heat"].as_str().unwrap());
        let (mut at, mut columns) = (0, 0);
        let sum = of_op.entry((group["device"].clone().to_string(), group["op"].to_string())).or_insert(0);
        while at < numbers.len() {
            let buckets = numbers[at] as usize;
            *sum += (0..buckets).map(|b| numbers[at + 2 + 2 * b]).sum::<u64>();
            at += 1 + 2 * buckets;
            columns += 1;
        }
        assert_eq!(group["columns"], columns);
        assert_eq!(unpack(group["depth"].as_str().unwrap()).len(), columns);
    }
    let mut told = 0;
    for op in capture["explain"]["operations"].as_array().unwrap().iter().filter(|o| o["level"] == "request")
    {
        let key = (op["name"].to_string(), op["op"].to_string());
        assert_eq!(op["count"], of_op[&key], "{key:?}");
        told += op["count"].as_u64().unwrap();
    }
    assert_eq!(told, 3000);
    // The slowest has its events, from queue to completion.
    let slow = &capture["slow"][0];
    let actions: Vec<_> = slow["events"].as_array().unwrap().iter().map(|e| e[1].as_str().unwrap()).collect();
    assert_eq!(actions, ["Q", "G", "D", "C"]);
    let spent: u64 = slow["segments"].as_array().unwrap().iter().map(|s| s[1].as_u64().unwrap()).sum();
    assert_eq!(slow["ns"], spent);
}

#[test]
fn names_cannot_become_markup() {
    let long = format!("<b>{}", "n".repeat(64 << 10));
    let names = [
        "</script><script>alert(1)</script>",
        long.as_str(),
        "<img src=x onerror=alert(1)>",
        "a\u{1b}[31m\u{202e}b",
        "&#60;b&#62;\"'",
    ];
    let label = "</title><script>alert(2)</script>";
    let mut shown = shown(&busy(1, 400, &names), label);
    shown.explanation.subject.quality.note("</li><svg onload=alert(3)>".repeat(3000));
    let text = html(&[shown]);
    let page = assert_sound(&text);
    assert!(page.select(&Selector::parse("svg").unwrap()).next().is_none());
    let heading: String = page.select(&Selector::parse("h2").unwrap()).next().unwrap().text().collect();
    assert_eq!(heading, label);
    let tasks: Vec<_> = data_of(&page)["captures"][0]["places"][0]["who"]
        .as_array()
        .unwrap()
        .iter()
        .map(|w| w["task"].clone())
        .collect();
    assert!(tasks.iter().any(|t| t == names[0]), "{tasks:?}");
    assert!(tasks.iter().all(|t| t.as_str().is_some_and(|t| t.len() < 5000)), "64 KiB are cut");
    assert!(!text.contains('\u{1b}') && !text.contains('\u{202e}'));
}

#[test]
fn a_page_is_never_larger_than_it_may_be() {
    let names: Vec<String> = (0..300).map(|n| format!("</script>{n:0>54}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let batches = busy(20, 60_000, &names);
    let captures: Vec<Shown> = (0..4).map(|n| shown(&batches, &format!("recording {n}"))).collect();
    let told: Vec<PageInput> = captures.iter().map(PageInput::of).collect();
    assert!(drawn(&told, Detail::FULL).len() > MOST_BYTES, "this must be too much, or it shows nothing");
    let text = html(&captures);
    assert!(text.len() <= MOST_BYTES, "{}", text.len());
    let page = assert_sound(&text);
    assert_eq!(data_of(&page)["captures"].as_array().unwrap().len(), 4);
}

#[test]
fn the_answer_stands_before_the_pictures_and_these_before_the_causes() {
    let shown = shown(&busy(2, 3000, &["fio", "dd"]), "recording");
    let sentence = escape(&crate::answer::line(&shown.explanation, &explain::Answer::of(&shown.explanation)));
    let text = html(std::slice::from_ref(&shown));
    let at = |what: &str| text.find(what).unwrap_or_else(|| panic!("{what} is not there"));
    let order = [at(&sentence), at("id=\"first\""), at("class=\"verdict\""), at("id=\"pictures\"")];
    assert!(order.is_sorted(), "{order:?}");
}

/// The lost time is on the page twice, as a matrix and as a flame graph; each row and frame names its victim.
#[test]
fn waits_are_a_matrix_and_a_flame_graph() {
    let shown = shown(&busy(2, 3000, &["fio", "dd"]), "recording");
    let page = assert_sound(&html(std::slice::from_ref(&shown)));
    let all = |what: &str| -> Vec<String> {
        let selector = Selector::parse(what).unwrap();
        page.select(&selector).filter_map(|e| e.attr("data-victim").map(str::to_string)).collect()
    };
    let blame = explain::Blame::of(&shown.explanation);
    let lost: Vec<&str> = blame.victims.iter().filter(|v| v.lost.0 > 0).map(|v| v.name.as_str()).collect();
    assert!(!lost.is_empty());
    assert_eq!(all("table.blame tr"), lost);
    let flame = all(".flame > div");
    assert!(!flame.is_empty() && lost.iter().all(|name| flame.iter().any(|f| f == name)), "{flame:?}");
    let widths: f64 = page
        .select(&Selector::parse(".flame .f0").unwrap())
        .filter_map(|e| e.attr("style")?.split_once("width:")?.1.split_once('%')?.0.parse::<f64>().ok())
        .sum();
    assert!((95.0..100.01).contains(&widths), "{widths}");
}

#[test]
fn nothing_is_a_page_too() {
    assert_sound(&html(&[shown(&[], "nothing")]));
    let queued = Script::of("0 Q R 8+8\n1 G R 8+8");
    assert_sound(&html(&[shown(&queued.batches(10), "in flight")]));
}

#[test]
fn the_script_is_the_one_that_its_hash_allows() {
    assert!(!SCRIPT.contains("</script") && !SCRIPT.contains("<!--"));
    assert!(SCRIPT.contains("uPlot"), "the licence of what is in it stands in it");
    assert_eq!(SCRIPT_HASH.trim().len(), 44);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Any events, at any time of the clock.
    #[test]
    fn any_events_are_a_page(script in testkit::hostile::script(150), late in any::<bool>()) {
        let late = if late { u64::MAX - (1 << 42) } else { 0 };
        let shown = shown(&script.after(Nanos(late)).batches(40), "hostile");
        let page = assert_sound(&html(&[shown]));
        prop_assert_eq!(&data_of(&page)["schema"], "iowhy.page/1");
    }
}
