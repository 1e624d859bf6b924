//! What limits the size of requests: `max_sectors_kb`, from settings in the texts or from the author's words.
//!
//! If the texts have two limits of one device, the runs under each show which is faster. The size that the device
//! reports as optimal (`optimal_io_size`) is quoted beside them. A limit alone proves nothing.

use super::place::{runs, In};
use super::say::{number, times};
use super::settings::{all, of_device, Set};
use crate::proof::proof;
use crate::remedy::Action;
use crate::thresholds::counters_request_limit::{AT_LIMIT, SAME_RATE};
use crate::thresholds::counters_request_size::SMALLER;
use crate::verdict::{Confidence, Verdict};
use tooltext::{Claim, Number, Row, ToolOutput};
use trace::{Bytes, Nanos};
use units::words::size;

pub(super) const NAME: &str = "request-size";

const LIMIT: &str = "queue/max_sectors_kb";
const OPTIMAL: &str = "queue/optimal_io_size";

/// How the limit of a device compares with its mean request size in bytes; `None` if no text has the limit, or requests exceed it.
pub(super) fn cut(outputs: &[ToolOutput], place: In, device: &str, mean: f64) -> Option<String> {
    let set = of_device(outputs, place, Some(device), LIMIT)?;
    let limit = set.number()? * 1024.0;
    let says = match mean {
        size if size > limit * 1.02 => return None,
        size if size >= AT_LIMIT * limit => "its requests are as large as that allows",
        _ => "so another limit keeps its requests small",
    };
    Some(format!("{}: {}, {}: {says}", place.name(), set.words(), size(Bytes(limit as u64))))
}

/// Judges by different limits of one device in the texts, and by the rates under each.
pub(super) fn set(so_far: Option<Verdict>, outputs: &[ToolOutput]) -> Option<Verdict> {
    let told: Vec<(Set, f64)> =
        all(outputs, LIMIT).into_iter().filter_map(|s| Some((s, s.number()? * 1024.0))).collect();
    let least = told.iter().min_by(|a, b| a.1.total_cmp(&b.1));
    let of_same = |least: &&(Set, f64)| {
        let same = told.iter().filter(|other| other.0.device() == least.0.device());
        same.max_by(|a, b| a.1.total_cmp(&b.1)).copied()
    };
    let Some((&least, most)) = least.and_then(|l| Some((l, of_same(&l)?))) else { return so_far };
    let optimal =
        all(outputs, OPTIMAL).into_iter().find(|s| s.device() == least.0.device() && s.number() > Some(0.0));
    let device = least.0.device();
    let kib = |bytes: f64| size(Bytes(bytes as u64));
    if most.1 < SMALLER * least.1 {
        // A single limit matters only beside another finding.
        let beyond = optimal.and_then(|o| Some((o, o.number()?))).filter(|(_, o)| most.1 > *o);
        return so_far.map(|v| match beyond {
            Some((o, bytes)) => v.because(proof!(
                "{most}, {most2}, {most3} as much as the device reports as optimal: {what}, {kib}",
                most = most.0.words(),
                most2 = kib(most.1),
                most3 = times(most.1 / bytes),
                what = o.words(),
                kib = kib(bytes)
            )),
            None => v,
        });
    }
    let mut text = format!(
        "the limit is {} in one case ({}) and {} in the other ({})",
        kib(least.1),
        least.0.words(),
        kib(most.1),
        most.0.words()
    );
    if let Some((o, bytes)) = optimal.and_then(|o| Some((o, o.number()?))) {
        text += &format!("; the device reports {} as optimal ({})", kib(bytes), o.words());
    }
    let rates = rates(outputs, device, [least.1, most.1]);
    let faster = rates.first().map(|r| if r.small.value >= r.large.value { least.1 } else { most.1 });
    let differ =
        rates.iter().any(|r| (r.small.value / r.large.value).max(r.large.value / r.small.value) >= SAME_RATE);
    let mut v = match so_far {
        Some(v) => v,
        None if differ => Verdict::found(NAME, Nanos(0), Confidence::Medium),
        None => Verdict::cannot_tell(
            NAME,
            "which limit is faster: the same run of fio or dd under each, with `iostat -x` beside it",
        ),
    };
    v = v.because(text);
    for r in &rates {
        v = v.because(proof!(
            "{what}: {small} with {least} ({at}), {large} with {most} ({at2})",
            what = r.what,
            small = number(r.small),
            least = kib(least.1),
            at = r.at[0],
            large = number(r.large),
            most = kib(most.1),
            at2 = r.at[1]
        ));
    }
    let Some(faster) = faster.filter(|_| differ) else { return Some(v) };
    Some(v.try_proven("the limit that was faster there", Action::set(device, LIMIT, faster / 1024.0)))
}

/// The same tool's rate under the smaller and the larger limit.
struct Rates {
    what: String,
    small: Number,
    large: Number,
    at: [String; 2],
}

fn rates(outputs: &[ToolOutput], device: &str, limits: [f64; 2]) -> Vec<Rates> {
    let limit = |place: &In| {
        of_device(outputs, *place, Some(device), LIMIT).and_then(|s| s.number()).map(|kib| kib * 1024.0)
    };
    let under =
        |wanted: f64| runs(outputs).filter(move |place| limit(place) == Some(wanted)).collect::<Vec<In>>();
    let (small, large) = (under(limits[0]), under(limits[1]));
    let bandwidths = |place: In| -> Vec<(String, Number)> {
        let rows = place.run.readings.iter().flat_map(|r| r.rows.iter().map(move |row| (r.tool, row)));
        let of = |(tool, row): (&str, &Row)| {
            let all = row.values.iter().filter(|(name, _)| *name == "bw" || name.ends_with(".bw"));
            all.map(|(name, n)| {
                (
                    format!("{tool} {} {}", row.of, name.trim_end_matches("bw").trim_end_matches('.'))
                        .trim()
                        .to_owned(),
                    n,
                )
            })
            .collect::<Vec<_>>()
        };
        rows.flat_map(of).collect()
    };
    let mut found: Vec<Rates> = vec![];
    for a in &small {
        for (what, rate) in bandwidths(*a) {
            let same = large.iter().flat_map(|b| bandwidths(*b).into_iter().map(move |n| (b, n)));
            let other = same.into_iter().find(|(_, (name, _))| *name == what);
            if let Some((b, (_, other))) = other.filter(|_| found.iter().all(|r| r.what != what)) {
                found.push(Rates { what, small: rate, large: other, at: [a.at(rate), b.at(other)] });
            }
        }
    }
    found
}

/// Request sizes that the author states, beside those that were sent.
pub(super) fn stated(so_far: Option<Verdict>, output: &ToolOutput) -> Option<Verdict> {
    let claimed = |of: &str| output.claims.iter().filter(|c| c.of == of).collect::<Vec<&Claim>>();
    let sizes = claimed("request size");
    let (Some(least), Some(most)) = (
        sizes.iter().min_by(|a, b| a.from.total_cmp(&b.from)),
        sizes.iter().max_by(|a, b| a.from.total_cmp(&b.from)),
    ) else {
        return so_far;
    };
    if most.from < SMALLER * least.from {
        return so_far;
    }
    let kib = |c: &Claim| size(Bytes(c.from as u64));
    let mut text = format!(
        "the limit (max_sectors_kb) is {} in one case and {} in the other ({})",
        kib(least),
        kib(most),
        output.at(most.at)
    );
    if let Some(optimal) = claimed("optimal request size").first() {
        text += &format!("; the device reports {} as optimal ({})", kib(optimal), output.at(optimal.at));
    }
    let mut v = so_far.unwrap_or_else(|| Verdict::found(NAME, Nanos(0), Confidence::Low));
    v = v.because(text);
    for run in &output.runs {
        // The largest request that was sent, and how often.
        let rows = || run.of("blkparse").flat_map(|r| r.rows.iter()).filter(|r| r.get("at.D").is_some());
        let Some(largest) = rows().filter_map(|r| r.get("bytes")).max_by(|a, b| a.value.total_cmp(&b.value))
        else {
            continue;
        };
        if [least.from, most.from].contains(&largest.value) {
            let n = rows().filter(|r| r.value("bytes") == Some(largest.value)).count();
            let place = In { output, run };
            v = v.because(proof!(
                "{device}: {n} of the requests sent have {largest} ({at})",
                device = place.name(),
                n = Text(n.to_string()),
                largest = number(largest),
                at = Source(place.at(largest).to_string())
            ));
        }
    }
    let best = claimed("optimal request size")
        .first()
        .map_or(String::new(), |o| format!("; or the {} that the device reports as optimal", kib(o)));
    Some(v.try_proven(
        format!(
            "the smaller limit, which was faster there{best}; large sequential I/O takes more \
             requests"
        ),
        Action::set("DEV", LIMIT, least.from / 1024.0),
    ))
}
