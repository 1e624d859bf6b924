//! The answer in one sentence of at most 160 characters, to be pasted into a chat.

use super::arrays;
use super::words::{confidence, device, lost, operations, operations_of, the_slowest, who};
use causes::{Answer as Judged, Verdict};
use explain::answer::{is_limit, share_of_slowest, Answer, Kind, Sufferer};
use explain::blame::Which;
use explain::{Explanation, Lack};
use life::Class;
use operation::{called, By, Kind as OpKind, Scope};
use stats::Device;
use std::collections::BTreeMap;
use trace::{DevId, Nanos};
use units::words::{count, counted, percent, time, whose};

/// The longest sentence, in characters; `answer.line` in JSON promises this.
const LONGEST: usize = 160;

/// Causes without lost time: each operation takes as long as it takes alone.
const OWN_PACE: [&str; 2] = ["cold-reads", "slow-device"];

/// Causes of avoidable reads: if little of their time is lost, their cost is the time that they take alone.
const READS: [&str; 2] = ["swap", "page-fault-read"];

/// The smallest part that is shown; a smaller one would read `0.0 %`.
const LEAST: f64 = 0.0005;

/// A p99 hides the longest operations if they took at least this many times as long.
const HIDDEN: u64 = 10;

/// The sentence, cut at [`LONGEST`].
pub fn line(e: &Explanation, a: &Answer) -> String {
    let text = match (a.kind, a.victims.first()) {
        _ if e.is_of_texts() => of_texts(e, a),
        _ if e.lack.is_some() && a.kind != Kind::Cause => lacking(e),
        (_, None) => nothing(e, a),
        (Kind::Cause, Some(v)) => of_cause(e, a, v),
        (Kind::Healthy, Some(v)) => healthy(e, a, v),
        (Kind::Unknown, Some(v)) => unknown(e, v),
    };
    shorten(text)
}

/// What the recording lacks for an answer.
fn lacking(e: &Explanation) -> String {
    let words = e.lack.as_ref().map_or(String::new(), |lack| lack.words(&|dev| e.name(dev)));
    match e.lack {
        Some(Lack::Work { .. }) => {
            format!("Nothing was slow: {words}; for waits above the block layer: iowhy record")
        }
        Some(Lack::AnyIo) if e.subject.window.is_some() => {
            "Cannot tell: no I/O in the part of the recording that --window asks for".into()
        }
        _ => format!("Cannot tell: {words}"),
    }
}

fn nothing(e: &Explanation, a: &Answer) -> String {
    if let Some(none) = e.subject.scope.as_ref().and_then(Scope::no_such_operation) {
        return format!("Nothing to explain: {}: {}", none.what, none.there);
    }
    if let Some(text) = not_recorded(e).or_else(|| of_the_kernel(e)).or_else(|| below_another(e)) {
        return text;
    }
    if a.kind == Kind::Healthy {
        let watched = e.subject.watched.unwrap_or(e.facts.recorded());
        return format!("Nothing was slow: in {} no task waited for a disk", time(watched));
    }
    match e.facts.duration() {
        all if e.subject.scope.is_some() => {
            format!("Nothing to explain: in {} nothing that matches waited for a disk of this host (waits for NFS or FUSE are not seen)", time(all))
        }
        Nanos(0) => "Cannot tell: no I/O was completed in this recording.".into(),
        all => format!(
            "Cannot tell: in {} no task was seen waiting for I/O; record operations: iowhy record",
            time(all)
        ),
    }
}

/// If the filter selects only work of the kernel itself: says that no task waits in that.
fn of_the_kernel(e: &Explanation) -> Option<String> {
    let asked = e.subject.scope.as_ref()?.asking().of(By::Op);
    let own = [OpKind::JournalCommit, OpKind::Writeback].map(called);
    let op = asked.first().filter(|_| asked.iter().all(|op| own.contains(op)))?;
    Some(format!("Nothing to explain: {op} is the kernel's own work: iowhy slow --op {op}; who waited for it: without --op"))
}

/// If the filter selects a device below another one: says that tasks wait for the upper one.
fn below_another(e: &Explanation) -> Option<String> {
    let scope = e.subject.scope.as_ref().filter(|scope| !scope.asking().of(By::Device).is_empty())?;
    let mut asked = e.facts.devices.iter().filter(|d| scope.shows_device(d.id));
    let (device, upper) = asked.find_map(|d| Some((e.name(d.id), e.name(d.upper?))))?;
    Some(format!(
        "Nothing to explain: tasks wait for {upper}, which lies on {device}: iowhy explain --device {upper}; its own requests: iowhy report --device {device}"
    ))
}

/// If the filter selects a device that was not recorded: says so.
fn not_recorded(e: &Explanation) -> Option<String> {
    let (scope, only) = (e.subject.scope.as_ref()?, &e.subject.only);
    let asked = scope.asking().of(By::Device);
    let seen = || e.facts.devices.iter().any(|d| scope.shows_device(d.id));
    (!only.is_empty() && !asked.is_empty() && !seen()).then(|| {
        let asked = asked.join(" and ");
        format!("Cannot tell: {asked} was not recorded, only {}; iowhy record --device", only.join(" and "))
    })
}

/// The sentence for texts: counters show no victim, so it begins with the name of the text.
fn of_texts(e: &Explanation, a: &Answer) -> String {
    let files: Vec<&str> = e.texts.outputs.iter().map(|m| m.file.as_str()).collect();
    let of = match files[..] {
        [one] => one.to_string(),
        _ => counted(files.len() as u64, "text", "texts"),
    };
    if let Some(trouble) = arrays::headline(e, a) {
        return format!("{of}: {trouble}");
    }
    let settings: usize = e.texts.outputs.iter().map(|m| m.settings.len()).sum();
    if a.cause.is_none() && !e.texts.is_measured() && settings > 0 {
        let settings = counted(settings as u64, "setting", "settings");
        return format!(
            "{of}: {settings} and no measurement; give it beside a recording: iowhy explain CAPTURE {of}"
        );
    }
    let title = a.cause.and_then(causes::title_by_counters);
    match (a.cause, title) {
        (Some(cause), Some(title)) => format!("{of}: {cause} ({}): {title}", confidence(a.confidence)),
        (Some(cause), None) => format!("{of}: {cause} ({})", confidence(a.confidence)),
        (None, _) => suspected(e, &of).unwrap_or_else(|| match explain::texts::tools(&e.texts.outputs)[..] {
            ["top"] => format!("{of}: top's screen shows no cause; who does I/O: pidstat -d 1 10 or iotop -boa -n 10 | iowhy explain -"),
            _ => format!("{of}: counters alone show no cause; to find one: iowhy record"),
        }),
    }
}

/// A cause that texts suggest but cannot prove; `None` if no sentence about it is short enough.
fn suspected(e: &Explanation, of: &str) -> Option<String> {
    let open = e.verdicts.iter().filter(|v| v.verdict == Judged::CannotTell);
    let said = open.filter_map(|v| Some((v, v.evidence.first()?.sentence())));
    // The proof has the name of the text, too. What speaks against a cause is no reason to suspect it.
    let sentences = said.flat_map(|(v, proof)| {
        // Of some causes only the kernel's log tells.
        let usual = if causes::is_in_recordings(v.cause) { "iowhy record" } else { "dmesg -T" };
        let record = v.confirmed_by.unwrap_or(usual);
        let suspected = format!("{proof}; suspected: {}; to confirm it: {record}", v.cause);
        let only = format!("{proof}; to find the cause: {record}");
        let short = format!("{of}: suspected: {}; to confirm it: {record}", v.cause);
        let only = [format!("{of}: {only}"), only];
        match v.refutes.is_empty() {
            true => [vec![format!("{of}: {suspected}"), suspected], only.into(), vec![short]].concat(),
            false => [only.into(), vec![proof]].concat(),
        }
    });
    sentences.into_iter().find(|text| text.chars().count() <= LONGEST)
}

/// Whose lost time it is, if the answer covers only the slowest operations; else empty.
fn by_the_slowest(e: &Explanation, v: &Sufferer) -> String {
    match e.subject.which {
        Which::All => String::new(),
        Which::Slowest => format!(" by {}", the_slowest(e, v)),
    }
}

/// What a cause explains of a victim's time, as the answer words it.
#[derive(Clone, Copy)]
enum Part {
    /// No time was lost: each operation took as long as it takes alone.
    OwnPace,
    /// It sets the pace: how long an operation would take without it is unknown, so hardly any time counts as lost.
    Pace,
    /// It held requests back before they were seen: for this part of the time, none was in the device.
    HeldBack(f64),
    /// This part of the time of its slowest operations.
    OfSlowest(f64),
    /// This part of the time that all its operations lost.
    OfLost(f64),
    /// This part of the time of all its operations: alone on the device they would take most of it as well.
    OfAll(f64),
}

impl Part {
    fn of(e: &Explanation, v: &Sufferer, cause: &str) -> Part {
        let verdict = e.verdicts.iter().find(|verdict| verdict.cause == cause);
        let of_slowest = verdict.and_then(|verdict| share_of_slowest(e, v, verdict)).unwrap_or(0.0);
        let throughout =
            verdict.and_then(|verdict| verdict.throughout.iter().find(|(group, _)| *group == v.group));
        match (v.share_of(cause), throughout) {
            _ if verdict.is_some_and(|verdict| !concerns(verdict, v)) => Part::OfLost(v.share_of(cause)),
            _ if OWN_PACE.contains(&cause) || READS.contains(&cause) && v.lost_little() => Part::OwnPace,
            // A limit makes bios wait before their first event.
            (0.0, Some((_, held))) => Part::HeldBack(*held),
            _ if is_limit(cause) && v.lost_little() => Part::Pace,
            (of_lost, Some((_, of_all))) if of_all * v.time.0 as f64 > 2.0 * of_lost * v.lost.0 as f64 => {
                Part::OfAll(*of_all)
            }
            // It made some operations slow, but explains little of all of them.
            (of_lost, _) if of_slowest > 2.0 * of_lost => Part::OfSlowest(of_slowest),
            (of_lost, _) => Part::OfLost(of_lost),
        }
    }
}

/// Whether a cause claims time of a victim, or sets its pace.
fn concerns(verdict: &Verdict, v: &Sufferer) -> bool {
    let its = |group: usize| group == v.group;
    verdict.claims.iter().any(|claim| its(claim.group))
        || verdict.throughout.iter().any(|(group, _)| its(*group))
        || verdict.claims.is_empty() && verdict.throughout.is_empty()
}

/// What a cause explains, with what it is a share of: first the share in the sentence, then the other measure. `None` if it has no
/// share of either.
///
/// Example: `59 % of the 127 s that fio's reads lost, 98 % of the time of the slowest 1 %`.
pub(crate) fn explains(e: &Explanation, a: &Answer, verdict: &Verdict) -> Option<String> {
    let every = |share: f64| format!("{} of the slowest operations' time, over all victims", percent(share));
    let Some(v) = a.victims.first() else { return (verdict.share > 0.0).then(|| every(verdict.share)) };
    let whose = format!("{} {}", whose(&v.task), operations(e, v));
    let slowest = share_of_slowest(e, v, verdict).filter(|share| *share > 0.0);
    let those = the_slowest(e, v);
    let slowest = |of: &str| slowest.map(|share| format!("{} of the time of {those}{of}", percent(share)));
    let who_lost = match e.subject.which {
        Which::All => whose.clone(),
        Which::Slowest => format!("{those} of {whose}"),
    };
    let part = v.share_of(verdict.cause);
    let the = if v.is_bound { "" } else { "the " };
    let of_lost = format!("{} of {the}{} that {who_lost} lost", percent(part), lost(v));
    let (first, second) = match Part::of(e, v, verdict.cause) {
        Part::OwnPace => (Some(format!("the {} of {whose}, at device speed", time(v.time))), slowest("")),
        Part::Pace => (Some(format!("the rate of {whose}, {} in all", time(v.time))), Some(of_lost)),
        Part::HeldBack(part) => (
            Some(format!("{} of the time, in which none of {whose} was in the device", percent(part))),
            slowest(""),
        ),
        Part::OfAll(part) => {
            (Some(format!("{} of the {} of {whose}", percent(part), time(v.time))), slowest(""))
        }
        Part::OfSlowest(_) => (slowest(&format!(" of {whose}")), (part > 0.0).then_some(of_lost)),
        Part::OfLost(part) if part >= LEAST => (Some(of_lost), slowest("")),
        Part::OfLost(_) if verdict.share >= LEAST => {
            (Some(every(verdict.share)), Some(format!("none of what {who_lost} lost")))
        }
        Part::OfLost(_) => return None,
    };
    let told: Vec<String> = first.into_iter().chain(second).collect();
    Some(told.join(", "))
}

fn of_cause(e: &Explanation, a: &Answer, v: &Sufferer) -> String {
    let sure = confidence(a.confidence);
    let cause = a.cause.unwrap_or("no known cause");
    let seen = a.root.map_or(String::new(), |root| format!(", because of {root}"));
    let behind = a.culprit.as_ref().map_or(String::new(), |c| format!(" behind {}", who(c)));
    let [p50, p99, longest] = v.latency;
    let most = match (v.still_out, v.begun_before) {
        (0, false) => time(longest),
        (0, true) => format!("{} or more", time(longest)),
        _ => format!("{} (unfinished)", time(longest)),
    };
    let how = match v.count {
        1 => format!("took {most}"),
        100.. => format!("took {} (p50), {} (p99)", time(p50), time(p99)),
        _ => format!("took {} (p50), up to {most}", time(p50)),
    };
    let is_hidden = v.count >= 100 && (longest.0 >= HIDDEN.saturating_mul(p99.0) || v.still_out > 0);
    let up_to = if is_hidden { format!(", up to {most}") } else { String::new() };
    let of_what = match Part::of(e, v, cause) {
        Part::OwnPace => format!("{} in all, at device speed", time(v.time)),
        Part::Pace => format!("{}, all at that limit", time(v.time)),
        Part::HeldBack(part) => format!("in the device for {} of the time", percent(1.0 - part)),
        Part::OfAll(part) => format!("{} of {} in all", percent(part), time(v.time)),
        Part::OfSlowest(part) => format!("{} of {}", percent(part), the_slowest(e, v)),
        Part::OfLost(part) => format!("{} of {} lost{}", percent(part), lost(v), by_the_slowest(e, v)),
    };
    let text = |up_to: &str, of_what: &str| {
        let (whose, what, on) = (whose(&v.task), operations_of(e, v), device(e, v));
        format!("{whose} {what} on {on} {how}{up_to}{behind}: {cause}{seen} ({sure}){of_what}")
    };
    let of_what = format!(", {of_what}");
    // What is left out here is on the screen below the sentence.
    let all = [text(&up_to, &of_what), text("", &of_what), text("", "")];
    all.into_iter().find(|whole| whole.chars().count() <= LONGEST).unwrap_or_else(|| text("", ""))
}

fn healthy(e: &Explanation, a: &Answer, v: &Sufferer) -> String {
    if let Some(served) = served(e).filter(|_| v.is_thin && e.facts.operations.is_empty()) {
        return served;
    }
    let nothing = if a.too_little.is_some() { "Nothing to act on" } else { "Nothing was slow" };
    let (whose, what, on) = (whose(&v.task), operations_of(e, v), device(e, v));
    let [p50, p99, longest] = v.latency.map(time);
    match v.count {
        1 => format!("{nothing}: {whose} {what} on {on} took {longest}"),
        n if n >= 100 => {
            format!(
                "{nothing}: {whose} {} {what} on {on} took {p50} (p50), {p99} (p99), at most {longest}",
                count(n)
            )
        }
        n => format!("{nothing}: {whose} {} {what} on {on} took {p50} (p50), at most {longest}", count(n)),
    }
}

/// What the device with the most reads did, if no task that waited for them was seen.
fn served(e: &Explanation) -> Option<String> {
    let reads = e.facts.devices.iter().map(|d| (d, &d.phases(Class::Read).q2c));
    let (device, q2c) = reads.max_by_key(|(_, q2c)| q2c.count()).filter(|(_, q2c)| !q2c.is_empty())?;
    Some(format!(
        "Nothing was slow: {} served {} reads in {} (p50), at most {}; for waits above the block layer: iowhy record",
        e.name(device.id),
        count(q2c.count()),
        time(Nanos(q2c.quantile(0.5))),
        time(Nanos(q2c.max()))
    ))
}

/// What the device completed while a victim's operation did not end.
fn meanwhile(e: &Explanation, v: &Sufferer) -> String {
    let dev = e.focus.groups.get(v.group).map(|group| group.dev);
    let mut by_task = BTreeMap::<u32, u64>::new();
    for (key, phases) in e.facts.cells.iter().filter(|(key, _)| Some(key.dev) == dev) {
        *by_task.entry(key.task).or_default() += phases.count;
    }
    let all: u64 = by_task.values().sum();
    let is_seen = dev.is_some_and(|dev| e.facts.device(dev).is_some_and(Device::has_requests));
    match by_task.into_iter().max_by_key(|(_, n)| *n) {
        None if is_seen => "meanwhile it completed nothing".into(),
        None => "what it did meanwhile was not seen".into(),
        Some((task, n)) => format!(
            "meanwhile it completed {}, {} of them of {}",
            counted(all, "request", "requests"),
            percent(n as f64 / all.max(1) as f64),
            e.facts.tasks.name(task)
        ),
    }
}

fn unknown(e: &Explanation, v: &Sufferer) -> String {
    if e.facts.operations.is_empty() {
        let few =
            if v.is_thin { "hardly any I/O that a task waited for" } else { "block events show no cause" };
        return format!("Cannot tell: {few}; for waits above the block layer: iowhy record");
    }
    if v.waits_without_end() {
        return format!(
            "Cannot tell: {} of {} {} on {} had not ended after {}; {}: record longer",
            count(v.still_out),
            whose(&v.task),
            operations(e, v),
            device(e, v),
            time(v.latency[2]),
            meanwhile(e, v)
        );
    }
    if v.is_mostly_unexplained() {
        let (whose, what, on) = (whose(&v.task), operations(e, v), device(e, v));
        let dev = e.focus.groups.get(v.group).map(|group| group.dev).filter(|dev| *dev != DevId(0));
        let has_none = dev.is_some_and(|dev| !e.facts.device(dev).is_some_and(Device::has_io));
        let why = match sees_wakes(e) {
            true if has_none => format!("is not known: no I/O of {on} was recorded; record {on}, too"),
            true => "shows in no event: a lock, or a sleep; where they slept: iowhy slow".into(),
            false => "was not recorded; record it: iowhy record, or trace-cmd with sched:sched_waking".into(),
        };
        return format!(
            "Cannot tell: what {whose} {what} on {on} waited for ({} in all) {why}",
            time(v.lost)
        );
    }
    format!(
        "No known cause: {} {} on {} lost {}{} (p99 {})",
        whose(&v.task),
        operations(e, v),
        device(e, v),
        lost(v),
        by_the_slowest(e, v),
        time(v.latency[1])
    )
}

/// Whether the recording shows which task wakes which.
fn sees_wakes(e: &Explanation) -> bool {
    let mut kept = e.facts.operations.groups.values().flat_map(|group| group.slowest.all());
    kept.any(|kept| !kept.account.hops.is_empty())
}

fn shorten(text: String) -> String {
    match text.char_indices().nth(LONGEST) {
        None => text,
        Some(_) => {
            let cut: String = text.chars().take(LONGEST - 3).collect();
            format!("{}...", cut.rsplit_once(' ').map_or(cut.as_str(), |(head, _)| head))
        }
    }
}
