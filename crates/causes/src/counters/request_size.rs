//! The same transfer is slower in smaller requests: each request has a fixed cost besides that of its bytes.
//!
//! Two rows of iostat for the same kind of load, both with a full queue, give two points of `time = fixed + sectors *
//! slope`; a third is predicted from them and compared with its measurement. The time of a request is `svctm`, or, if
//! iostat no longer prints that, the busy time divided by the number of requests.
//!
//! **Refuted** if the time of a sector is the same for small and large requests.

use super::place::In;
use super::request_limit::{cut, set, stated, NAME};
use super::say::{plain, quantity};
use super::thresholds::evidence::REQUESTS;
use crate::proof::proof;
use crate::thresholds::counters_request_size::SMALLER;
use crate::thresholds::counters_request_size::{BUSY_QUEUE, DEARER};
use crate::verdict::{Confidence, Verdict};
use tooltext::{Row, ToolOutput, Unit};
use trace::{Bytes, Nanos};
use units::words::size;

const SECTOR: f64 = 512.0;

/// A device's writes, or its reads, in one run.
struct Flow<'a> {
    place: In<'a>,
    row: &'a Row,
    of: &'static str,
    /// Bytes a second, requests a second, bytes per request, and nanoseconds of device time per request.
    bandwidth: f64,
    rate: f64,
    size: f64,
    service: f64,
}

pub(super) fn judge(outputs: &[ToolOutput]) -> Option<Verdict> {
    let mut verdict = None;
    for output in outputs {
        let flows: Vec<Flow> = output.runs.iter().filter_map(|run| flow(In { output, run })).collect();
        let small = flows.iter().min_by(|a, b| a.size.total_cmp(&b.size));
        let large = flows.iter().max_by(|a, b| a.size.total_cmp(&b.size));
        if let (Some(small), Some(large)) = (small, large) {
            if large.size >= SMALLER * small.size && large.of == small.of {
                verdict = Some(two(verdict.take(), small, large, &flows));
                for f in [small, large] {
                    verdict = verdict.map(|v| {
                        cut(outputs, f.place, &f.row.of, f.size).into_iter().fold(v, Verdict::because)
                    });
                }
            }
        }
        verdict = stated(verdict.take(), output);
    }
    set(verdict, outputs)
}

fn flow(place: In) -> Option<Flow> {
    let rows: Vec<&Row> = place.run.of("iostat").flat_map(|r| r.rows.iter()).collect();
    // Only a single device: of several it is not known which carry the same data.
    let [row] = rows[..] else { return None };
    let value = |n: &str| row.value(n);
    let (reads, writes) = (value("rbytes/s")?, value("wbytes/s")?);
    let (of, bandwidth, rate) = match (reads, writes) {
        (0.0, w) if w > 0.0 => ("writes", w, value("w/s")?),
        (r, 0.0) if r > 0.0 => ("reads", r, value("r/s")?),
        _ => return None,
    };
    let service = value("svctm").or_else(|| Some(value("util")? / rate * 1e9))?;
    let size = value("size").or_else(|| value(if of == "writes" { "wsize" } else { "rsize" }))?;
    let busy = value("queue")? >= BUSY_QUEUE && rate >= REQUESTS && size > 0.0 && service > 0.0;
    busy.then_some(Flow { place, row, of, bandwidth, rate, size, service })
}

impl Flow<'_> {
    /// Nanoseconds of device time per sector of 512 bytes.
    fn per_sector(&self) -> f64 {
        self.service / (self.size / SECTOR)
    }

    fn words(&self) -> String {
        let at =
            self.row.values.iter().next().map_or(String::new(), |(_, n)| format!(" ({})", self.place.at(n)));
        format!(
            "{}: {} {} a second of {} ({} sectors), {}{at}",
            self.place.name(),
            plain(self.rate),
            self.of,
            size(Bytes(self.size as u64)),
            plain((self.size / SECTOR).round()),
            quantity(self.bandwidth, Unit::BytesPerSecond),
        )
    }
}

fn two(so_far: Option<Verdict>, small: &Flow, large: &Flow, all: &[Flow]) -> Verdict {
    let dearer = small.per_sector() / large.per_sector();
    if dearer < DEARER || small.bandwidth >= large.bandwidth {
        return so_far.unwrap_or_else(|| {
            Verdict::rejected(
                NAME,
                proof!(
                    "a sector takes {per_sector} in requests of {small} and {per_sector2} in requests of \
                     {large}",
                    per_sector = quantity(small.per_sector(), Unit::Nanoseconds),
                    small = Bytes(small.size as u64),
                    per_sector2 = quantity(large.per_sector(), Unit::Nanoseconds),
                    large = Bytes(large.size as u64)
                ),
            )
        });
    }
    let time = |f: &Flow| {
        format!(
            "{} / {} = {}",
            quantity(f.service, Unit::Nanoseconds),
            plain((f.size / SECTOR * 100.0).round() / 100.0),
            quantity(f.per_sector(), Unit::Nanoseconds)
        )
    };
    let mut v = so_far.unwrap_or_else(|| Verdict::found(NAME, Nanos(0), Confidence::Medium));
    v = v.because(small.words()).because(large.words()).because(proof!(
        "time of a sector: {small} in small requests, {large} in large ones: {dearer:.1} times as long",
        small = time(small),
        large = time(large),
        dearer = Ratio(dearer)
    ));
    v = as_fixed_part(v, small, large, all);
    v = sums_of_the_text(v, small, large);
    v.unless("the same time for a sector in small requests as in large ones")
        .without(
            "what cuts the requests: `grep . /sys/block/*/queue/max*_sectors_kb \
             /sys/block/*/queue/max_segment*` on host and guest, and iowhy record on both",
        )
        .try_this(
            format!(
                "of {}: larger requests, as far as max_hw_sectors_kb allows, or merge them before; others \
                     wait longer behind each",
                small.place.name()
            ),
            format!(
                "cat /sys/block/{0}/queue/max_hw_sectors_kb > /sys/block/{0}/queue/max_sectors_kb",
                small.row.of
            ),
        )
}

/// Splits the times of two sizes into a fixed time and one per sector, and compares the prediction for a third size.
fn as_fixed_part(mut v: Verdict, small: &Flow, large: &Flow, all: &[Flow]) -> Verdict {
    let slope = (large.service - small.service) / (large.size - small.size);
    let fixed = small.service - slope * small.size;
    if fixed > 0.0 {
        v = v.because(proof!(
            "as a fixed time for each request and one for each sector that is {fixed} + \
             {slope} a sector: the fixed part is {service} of a small request and {service2} of a large one",
            fixed = quantity(fixed, Unit::Nanoseconds),
            slope = quantity(slope * SECTOR, Unit::Nanoseconds),
            service = Share(fixed / small.service),
            service2 = Share(fixed / large.service)
        ));
        for third in all.iter().filter(|f| f.size != small.size && f.size != large.size && f.of == small.of) {
            v = v.because(proof!(
                "{device}: from that {third} would be expected for a request of {third2} \
                 sectors, {service} was measured; {bandwidth}",
                device = third.place.name(),
                third = quantity(fixed + slope * third.size, Unit::Nanoseconds),
                third2 = plain((third.size / SECTOR).round()),
                service = quantity(third.service, Unit::Nanoseconds),
                bandwidth = quantity(third.bandwidth, Unit::BytesPerSecond)
            ));
        }
    }
    v
}

/// Adds divisions in the text whose results are wrong by factors of a thousand.
fn sums_of_the_text(mut v: Verdict, small: &Flow, large: &Flow) -> Verdict {
    for sum in &small.place.output.sums {
        let expected = [small, large].into_iter().find(|f| {
            let near = |a: f64, b: f64| (a / b - 1.0).abs() < 0.01;
            near(sum.dividend, f.service / 1e6) && near(sum.divisor, f.size / SECTOR)
        });
        if let (Some(f), Some(off)) = (expected, sum.thousands_off().filter(|off| *off != 0)) {
            let wrong = if off.abs() == 1 { "a thousand times" } else { "thousands of times" };
            let way = if off > 0 { "too much" } else { "too little" };
            v = v.because(proof!(
                "the text says {quotient} {unit} for this ({at}): {wrong} {way}, it is {per_sector}",
                quotient = plain(sum.quotient),
                unit = sum.unit,
                at = Source(small.place.output.at(sum.at).to_string()),
                wrong,
                way,
                per_sector = quantity(f.per_sector(), Unit::Nanoseconds)
            ));
        }
    }
    v
}
