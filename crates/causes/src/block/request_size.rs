//! `request-size`: operations are split into requests so small that their number takes the time.
//!
//! Claims, of the device time of split operations, the part that larger requests would save if a request costs the same
//! at any size. Proof: the splits, the size at which requests pile up, and that requests queued in the device. Refuted
//! if the bytes are what costs; a recording with requests of one size cannot show that.

use crate::case::{Case, Claimable, MIN_SHARE};
use crate::cause::{Cause, Each, Judge, Nature, Otherwise, Said};
use crate::proof::{proof, Proof};
use crate::remedy::Action;
use crate::slow::Slow;
use crate::thresholds::alone::MOSTLY;
pub use crate::thresholds::request_size::LARGE_ENOUGH;
use crate::thresholds::request_size::{IN_LINE, KERNELS_LIMIT};
use crate::verdict::{Confidence, Verdict};
use ledger::Reason;
use stats::TailRow;
use trace::{Bytes, Nanos};
use waits::{CulpritKind, Link, Phase, Selection};

/// Name, title, page and judgement of this cause.
pub const CAUSE: Cause = Cause {
    name: "request-size",
    title: "large reads or writes are split into small requests, and the cost of each adds up",
    nature: Nature::Everyday,
    page: include_str!("../../pages/request-size.md"),
    judge: Judge::Each(Each {
        of,
        unless:
            "the same bytes per second with larger requests: then it is the bytes that cost, not the requests",
        otherwise: Otherwise::Nothing("no slow operation was split"),
        above: false,
    }),
};

fn of(case: &mut Case, slow: &Slow, v: Verdict) -> Said {
    let mostly_cut = slow.group.all.split * 2 >= slow.group.operations;
    let picks = |row: &Claimable| is_of_pieces(case, row, mostly_cut);
    let of_all = if mostly_cut { of_all(case, slow) } else { Nanos(0) };
    let throughout = mostly_cut && is_throughout(case, slow, of_all);
    let cut: Nanos = match slow.is_below() {
        true => slow.split_device().min(case.unclaimed(slow, Reason::Device)),
        false => case.unclaimed_rows(slow.group_number, picks),
    };
    let class = slow.class.index();
    let bios = &slow.on.bios[class];
    if slow.share(cut) < MIN_SHARE && !throughout {
        return Said::Little(proof!(
            "{split} of {bios} {class} were split",
            split = Count(bios.split),
            bios = Count(bios.phases.count),
            class = stats::class_words(slow.class)
        ));
    }
    let (asked, piece) = slow.cut();
    if let Some(why) = not_the_size(slow, piece) {
        return Said::Not(why);
    }
    let possible = Limits::of(case, slow).possible.min(asked).max(piece);
    let saved = 1.0 - piece.0 as f64 / possible.0.max(1) as f64;
    let wanted = Nanos((cut.0 as f64 * saved) as u64);
    if slow.share(wanted) < MIN_SHARE && !(throughout && saved >= MIN_SHARE) {
        return Said::Not(proof!(
            "requests of {piece} are near the {possible} that the device allows",
            piece,
            possible
        ));
    }
    let claimed = match slow.is_below() {
        true => case.claim(slow, Reason::Device, wanted),
        false => {
            let of_pieces: Vec<bool> = case.rows(slow.group_number).iter().map(picks).collect();
            case.claim_numbered(slow.group_number, wanted, |number| of_pieces[number])
        }
    };
    let mut v = v.plus(claimed, Confidence::Medium);
    if throughout {
        let part = of_all.0 as f64 / slow.group.all.time.total.0.max(1) as f64;
        v.throughout.push((slow.group_number, part));
        if slow.share(wanted) < MIN_SHARE {
            v = v.because(proof!(
                "{what} waited for their pieces for {part} of their total time",
                what = slow.words(),
                part = Share(part)
            ));
        }
    }
    Said::Found(prove(v, case, slow, asked, piece))
}

/// Why the size of requests is not what took the time; `None` if it may be.
fn not_the_size(slow: &Slow, piece: Bytes) -> Option<Proof> {
    if piece >= LARGE_ENOUGH {
        return Some(proof!(
            "{what} were split into requests of {piece} on average, which is large enough",
            what = slow.words(),
            piece
        ));
    }
    // A limit cuts at its own size; smaller requests are remainders.
    let largest = Bytes(slow.on.traffic.issue_sizes[slow.class.index()].max());
    if largest >= LARGE_ENOUGH {
        return Some(proof!(
            "{what} were split, but not by a limit of {piece}: requests of up to {largest} were sent",
            what = slow.words(),
            piece,
            largest
        ));
    }
    // Pieces that are served in parallel cost nothing.
    let in_line = (slow.behind() + slow.no_tag()).0 as f64 / slow.time(Reason::Device).0.max(1) as f64;
    if in_line < IN_LINE {
        return Some(proof!(
            "{what} were split into requests of {piece}, but these queued behind others for only {in_line} \
                 of their time",
            what = slow.words(),
            piece,
            in_line = Share(in_line)
        ));
    }
    None
}

/// Whether a row is the time of pieces: of requests that are pieces, or of waiting for tags that the operation's own pieces hold.
fn is_of_pieces(case: &Case, row: &TailRow, mostly_cut: bool) -> bool {
    let table = &case.facts.waits;
    let own = table.culprit_of(row.culprit).kind == CulpritKind::Own;
    let piece = || table.passes(row.chain, |link| matches!(link, Link::Request(_, true, _)));
    match row.phase {
        Phase::Service | Phase::Varies | Phase::Slow | Phase::Paused => piece(),
        Phase::Behind => own && piece(),
        Phase::NoTag => own && mostly_cut,
        _ => false,
    }
}

/// The time that all operations of the group waited for their pieces.
fn of_all(case: &Case, slow: &Slow) -> Nanos {
    let rows = slow.group.rows(&case.facts.waits, Selection::default());
    rows.iter().filter(|row| is_of_pieces(case, row, true)).map(|row| row.time).sum()
}

/// Whether that is most of what they lost, and at least a tenth of the recording, however little of it the slowest have.
fn is_throughout(case: &Case, slow: &Slow, of_all: Nanos) -> bool {
    let time = of_all.0 as f64;
    !slow.is_below()
        && time >= MOSTLY * slow.group.lost.0 as f64
        && time >= MIN_SHARE * case.facts.duration().0 as f64
}

/// How large requests may be.
struct Limits {
    /// The largest size that is possible: the device's limit, at most the kernel's.
    possible: Bytes,
    /// The device's limit (`max_hw_sectors_kb`); `None` if it is not known.
    hardware: Option<Bytes>,
    /// The size that the device reports as optimal; `None` if it reports none.
    optimal: Option<Bytes>,
}

impl Limits {
    fn of(case: &Case, slow: &Slow) -> Limits {
        let settings = case.settings(slow.on.id);
        let hardware = settings.and_then(|s| s.max_hw_sectors_kb()).map(|f| f.value);
        let optimal = settings.and_then(|s| s.optimal_io_size()).map(|f| f.value).filter(|b| b.0 > 0);
        let possible = hardware.map_or(KERNELS_LIMIT, |h| h.min(KERNELS_LIMIT));
        Limits { possible, hardware, optimal }
    }
}

fn prove(mut v: Verdict, case: &Case, slow: &Slow, asked: Bytes, piece: Bytes) -> Verdict {
    let class = slow.class.index();
    let name = case.name(slow.on.id);
    let bios = &slow.on.bios[class];
    let pieces = asked.0 as f64 / piece.0.max(1) as f64;
    let sizes = &slow.on.traffic.issue_sizes[class];
    let largest = Bytes(sizes.max());
    let at_limit = sizes.buckets().filter(|b| b.upper >= largest.0).map(|b| b.count).sum::<u64>();
    let busy = slow.on.depth.busy() * slow.on.duration().seconds();
    let done: u64 = slow.on.requests.iter().map(|r| r.count).sum();
    let each = Nanos((busy * 1e9 / done.max(1) as f64) as u64);
    v = v
        .because(proof!(
            "{split} of {bios} {class} were split, the slowest from {asked} into {pieces:.0} requests each",
            split = Count(bios.split),
            bios = Count(bios.phases.count),
            class = stats::class_words(slow.class),
            asked,
            pieces = Ratio(pieces)
        ))
        .because(proof!(
            "{sizes} of the requests have exactly {largest}, the largest size seen",
            sizes = Share(at_limit as f64 / sizes.count().max(1) as f64),
            largest
        ))
        .because(proof!(
            "{name} took {each} for each request of {piece}: {rate} a second, that is {bytes} a second",
            name,
            each,
            piece,
            rate = Count((1e9 / each.0.max(1) as f64) as u64),
            bytes = Bytes((piece.0 as f64 * 1e9 / each.0.max(1) as f64) as u64)
        ));
    let limits = Limits::of(case, slow);
    let file = format!("/sys/block/{name}/queue/max_sectors_kb");
    let better = match limits.optimal {
        // The largest allowed multiple of the size that is optimal.
        Some(best) if best <= limits.possible => Bytes(limits.possible.0 / best.0 * best.0),
        _ => limits.possible,
    };
    let costs = "a large request holds the device longer, so small ones behind it wait longer";
    match case.settings(slow.on.id).and_then(|s| s.max_sectors_kb()) {
        // The file is older than the recording: the trace shows the limit that held.
        Some(now) if now.value.0 / 2 >= largest.0 && largest.0 > 0 => v
            .because(proof!(
                "max_sectors_kb is {now} ({at}), but no request was larger than {largest}: another limit held \
                     when this was recorded",
                now = Text((now.value.0 / 1024).to_string()),
                at = now.at,
                largest
            ))
            .try_this(
                format!("max_sectors_kb -> {}: {costs}", better.0 / 1024),
                Action::set(&name, "queue/max_sectors_kb", better.0 / 1024),
            ),
        Some(now) if now.value < better => v
            .because(proof!("the limit is set: max_sectors_kb is {now} ({at})", now = Text((now.value.0 / 1024).to_string()), at = now.at))
            .try_this(
                format!("max_sectors_kb {} -> {}: {costs}", now.value.0 / 1024, better.0 / 1024),
                Action::set(&name, "queue/max_sectors_kb", better.0 / 1024),
            ),
        Some(now) => v.without(proof!("what else limits requests: max_sectors_kb allows {now} ({at}); look at \
             max_segments and max_segment_size beside it", now = now.value, at = now.at)),
        None => v
            .without(proof!("what limits requests: {file} and max_hw_sectors_kb were not recorded", file))
            .try_this(
                format!("allows larger requests, if max_hw_sectors_kb does; {costs}"),
                Action::set(&name, "queue/max_sectors_kb", limits.hardware.map_or(KERNELS_LIMIT, |h| h.min(KERNELS_LIMIT)).0 / 1024),
            ),
    }
}
