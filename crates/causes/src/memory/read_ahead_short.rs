//! `read-ahead-short`: a task reads a file from beginning to end, and the kernel reads too little ahead.
//!
//! Each time the reader reaches the end of what was read ahead it waits for the next piece. With pieces of 16 KiB it
//! waits for the device 64 times per MiB. Proof: the reads on the device follow one another, and `read_ahead_kb` is
//! less than the kernel's default. Refuted if reads are random, or if the setting is at the default or above. Without any read-ahead, random
//! reads of several pages wait as well, for one page after the other.
//!
//! More read-ahead makes the waits rare, not short: their sum shrinks, and with it the time for the file, while the
//! slowest single read may become slower.

use crate::case::{Case, Claimable, MIN_SHARE};
use crate::cause::{Cause, Each, Judge, Nature, Otherwise, Said};
use crate::device::alone::read_by_cache;
use crate::memory::in_turn::InTurn;
use crate::memory::page_by_page::PageByPage;
use crate::proof::proof;
use crate::remedy::Action;
use crate::slow::Slow;
use crate::thresholds::healthy::NOT_ITS_OWN;
use crate::thresholds::read_ahead_short::{DEFAULT, IN_ORDER, LITTLE_ELSE, PROPOSED};
use crate::verdict::{Confidence, Verdict};
use ledger::Reason;
use life::Class;
use operation::{Kind, Wait};
use stats::Device;
use trace::{Bytes, Call, Nanos};
use waits::{Phase, Selection};

/// Name, title, page and judgement of this cause.
pub const CAUSE: Cause = Cause {
    name: "read-ahead-short",
    title: "a reader waits repeatedly because read-ahead is too small",
    nature: Nature::Everyday,
    page: include_str!("../../pages/read-ahead-short.md"),
    judge: Judge::Each(Each {
        of,
        unless: "a reader just as slow with more read ahead",
        otherwise: Otherwise::Never("no slow operation read a file through the page cache"),
        above: false,
    }),
};

/// Operations that read a file through the page cache, sequentially or not.
const READS: [Kind; 5] = [
    Kind::Call(Call::Read),
    Kind::Call(Call::Sendfile),
    Kind::Call(Call::CopyFileRange),
    Kind::RingRead,
    Kind::PageFault,
];

fn of(case: &mut Case, slow: &Slow, v: Verdict) -> Said {
    let reads = slow.group.op.is_some_and(|op| READS.contains(&op.kind));
    let is_paged = |row: &&Claimable| row.waits.has(Wait::PageRead) || row.waits.has(Wait::PageFault);
    let paged = case.rows(slow.group_number).iter().filter(is_paged);
    let waits = slow.share(paged.map(|row| row.time).sum());
    let left = case.unclaimed_rows(slow.group_number, as_usual(slow));
    let waits_for_pages = reads && waits >= MIN_SHARE;
    // Whether a task waits for reads that no operation tells of is only known if it reads more than one file.
    let has_pages_read = || slow.is_of_bios() && slow.class == Class::Read && read_by_cache(case, slow.on.id);
    if slow.share(left) < MIN_SHARE || !waits_for_pages && !has_pages_read() {
        return Said::Nothing;
    }
    let in_order = in_order(case, slow);
    if let Some(in_turn) = InTurn::of(case, slow).filter(|_| in_order < IN_ORDER) {
        let v = claim(v, case, slow, left, in_turn.saved());
        return Said::Found(in_turn.told(v, case, slow));
    }
    if !waits_for_pages {
        return Said::Nothing;
    }
    if let Some(pages) = PageByPage::of(case, slow).filter(|_| in_order < IN_ORDER) {
        let v = claim(v, case, slow, left, pages.saved());
        return Said::Found(page_by_page(v, case, slow, &pages));
    }
    if in_order < IN_ORDER {
        return Said::Not(proof!(
            "{in_order} of the reads of {task} on {name} are sequential",
            in_order = Share(in_order),
            task = slow.group.task,
            name = case.name(slow.on.id)
        ));
    }
    sequential(case, slow, v, left, [in_order, waits])
}

/// More read-ahead means fewer of the usual waits; it does not shorten those that take longer than such requests do.
fn as_usual(slow: &Slow) -> impl Fn(&Claimable) -> bool + Copy {
    let unknown = slow.group.is_mostly_unknown();
    move |row| {
        row.reason == Reason::Device && row.phase != Phase::Paused && (unknown || row.phase != Phase::Slow)
    }
}

/// Claims the part of these waits that more read-ahead saves.
fn claim(v: Verdict, case: &mut Case, slow: &Slow, left: Nanos, saved: f64) -> Verdict {
    let wanted = Nanos((left.0 as f64 * saved) as u64);
    v.plus(case.claim_rows(slow.group_number, wanted, as_usual(slow)), Confidence::Medium)
}

/// Reads in order: `in_order` of them follow one another, and `waits` of the slowest ones' time was waiting for pages.
fn sequential(case: &mut Case, slow: &Slow, v: Verdict, left: Nanos, [in_order, waits]: [f64; 2]) -> Said {
    let name = case.name(slow.on.id);
    let Some(setting) = case.settings(slow.on.id).and_then(|s| s.read_ahead_kb()) else {
        return Said::Unsure(proof!(
            "how much is read ahead: /sys/block/{name}/queue/read_ahead_kb was not recorded",
            name
        ));
    };
    if setting.value >= DEFAULT {
        return Said::Not(proof!(
            "read_ahead_kb of {name} is {setting} ({at})",
            name,
            setting = Text((setting.value.0 / 1024).to_string()),
            at = setting.at
        ));
    }
    // With less than the default, each reader waits that many times as often.
    let saved = 1.0 - setting.value.0.max(4096) as f64 / DEFAULT.0 as f64;
    let sizes = &slow.on.traffic.issue_sizes[Class::Read.index()];
    let v = claim(v, case, slow, left, saved)
        .because(proof!(
            "{in_order} of the reads of {task} on {name} follow one another; half of all there are of {p50} or less",
            in_order = Share(in_order),
            task = slow.group.task,
            name,
            p50 = Bytes(sizes.quantile(0.5))
        ))
        .because(proof!(
            "read_ahead_kb of {name} is {setting} ({at}); the kernel's default is {default}",
            name,
            setting = Text((setting.value.0 / 1024).to_string()),
            at = setting.at,
            default = Text((DEFAULT.0 / 1024).to_string())
        ))
        .because(proof!(
            "the slowest {what} spent {waits} of their time waiting for a page that was being read",
            what = slow.words(),
            waits = Share(waits)
        ));
    let mut v = remedy(v, setting.value, &name);
    v.throughout.extend(throughout(case, slow).map(|part| (slow.group_number, part * saved)));
    Said::Found(v)
}

/// The part of reads that begin where an earlier one ended, 0 to 1: of the victim's, or of all on the device if that is more.
fn in_order(case: &Case, slow: &Slow) -> f64 {
    let (traffic, class) = (&slow.on.traffic, Class::Read.index());
    let of_all = traffic.contiguous[class] as f64 / traffic.issues[class].max(1) as f64;
    of_all.max(in_order_by(case, slow.on, &slow.group.task))
}

/// The part of a task's reads on a device that begin where an earlier one ended, 0 to 1; of several threads of that name the largest.
pub(crate) fn in_order_by(case: &Case, on: &Device, task: &str) -> f64 {
    let its = on.readers.iter().filter(|(number, _)| case.facts.tasks.name(**number) == task);
    its.map(|(_, reader)| reader.in_order()).fold(0.0, f64::max)
}

/// The part of a reader's time in which it waited for pages; `None` if it did much else in the recording.
fn throughout(case: &Case, slow: &Slow) -> Option<f64> {
    let rows = slow.group.rows(&case.facts.waits, Selection::default());
    let waited: Nanos = rows.iter().filter(|row| row.waits.has(Wait::PageRead)).map(|row| row.time).sum();
    let did_little_else = waited.0 as f64 >= LITTLE_ELSE * case.facts.duration().0 as f64;
    did_little_else.then(|| waited.0 as f64 / slow.group.all.time.total.0.max(1) as f64)
}

/// Reads in no order, of several pages each. They are slower than they need be, however quick.
fn page_by_page(v: Verdict, case: &Case, slow: &Slow, pages: &PageByPage) -> Verdict {
    let name = case.name(slow.on.id);
    let kib = DEFAULT.0 / 1024;
    let mut v = v.because(pages.proof(&name)).try_this(
        format!("read_ahead_kb 0 -> {kib}, the default: the pages of one read are read at once"),
        Action::set(&name, "queue/read_ahead_kb", kib),
    );
    let of_all = throughout(case, slow).map(|part| part * pages.saved());
    v.throughout.extend(of_all.filter(|part| *part >= NOT_ITS_OWN).map(|part| (slow.group_number, part)));
    v
}

fn remedy(v: Verdict, now: Bytes, name: &str) -> Verdict {
    v.try_this(
        format!(
            "read_ahead_kb {} -> {}: the reader waits {} times less often, and most of its reads find their \
                 data in memory; each remaining wait is for a larger piece and may be longer. Costs memory, \
                 and others' time where files are not read sequentially",
            now.0 / 1024,
            PROPOSED.0 / 1024,
            PROPOSED.0 / now.0.max(4096)
        ),
        Action::set(name, "queue/read_ahead_kb", PROPOSED.0 / 1024),
    )
}
