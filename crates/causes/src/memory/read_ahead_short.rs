//! `read-ahead-short`: somebody reads a file from beginning to end, and the kernel reads too little ahead.
//!
//! Each time the reader reaches the end of what was read ahead it waits for the next piece. With pieces of 16 KiB it waits for the
//! device 64 times per MiB. Proof: the reads on the device follow one another, they are as large as `read_ahead_kb` allows and no
//! larger, and that is less than the kernel's default. Refuted if reads are at random, or if the setting is at the default or above.
//!
//! More read ahead makes the waits rare, not short: it is their sum that shrinks, the time for the file, while the slowest single
//! read may become slower.

use crate::case::{Case, MIN_SHARE};
use crate::proof::proof;
use crate::remedy::Action;
use crate::slow::Slow;
use crate::thresholds::read_ahead_short::{DEFAULT, IN_ORDER, LITTLE_ELSE, PROPOSED};
use crate::verdict::{Confidence, Verdict};
use crate::Cause;
use ledger::Reason;
use life::Class;
use operation::{Kind, Wait};
use stats::Reader;
use trace::{Bytes, Call, Nanos};
use waits::Selection;

/// The cause.
pub const CAUSE: Cause = Cause {
    name: "read-ahead-short",
    title: "a reader in order waits again and again, because too little is read ahead",
    page: include_str!("../../pages/read-ahead-short.md"),
    judge,
};

fn judge(case: &mut Case) -> Verdict {
    let mut verdict: Option<Verdict> = None;
    let (mut against, mut unsure) = (None, None);
    let paths: Vec<_> = crate::paths::Paths::of(case);
    let paged: Vec<(usize, f64)> =
        paths.iter().map(|p| (p.number, p.share(p.time(|w, _| w.has(Wait::PageRead))))).collect();
    for slow in case.slow() {
        let reads = matches!(slow.group.op.map(|op| op.kind), Some(Kind::Call(Call::Read)));
        let waits = paged.iter().find(|(n, _)| *n == slow.group_number).map_or(0.0, |(_, share)| *share);
        let left = case.unclaimed(&slow, Reason::Device);
        if !reads || waits < MIN_SHARE || slow.share(left) < MIN_SHARE {
            continue;
        }
        let name = case.name(slow.on.id);
        let traffic = &slow.on.traffic;
        let class = Class::Read.index();
        let in_order = in_order(case, &slow);
        if in_order < IN_ORDER {
            against = Some(proof!(
                "{in_order} of {task}'s reads on {name} follow one another",
                in_order = Share(in_order),
                task = Text(slow.group.task.clone()),
                name = Text(name.to_string())
            ));
            continue;
        }
        let Some(setting) = case.settings(slow.on.id).and_then(|s| s.read_ahead_kb()) else {
            unsure = Some(proof!(
                "how much is read ahead: /sys/block/{name}/queue/read_ahead_kb was not recorded",
                name = Text(name.to_string())
            ));
            continue;
        };
        if setting.value >= DEFAULT {
            against = Some(proof!(
                "read_ahead_kb of {name} is {setting} ({at})",
                name = Text(name.to_string()),
                setting = Text((setting.value.0 / 1024).to_string()),
                at = Source(setting.at.to_string())
            ));
            continue;
        }
        // With less than the default each reader waits that many times as often as with it.
        let saved = 1.0 - setting.value.0.max(4096) as f64 / DEFAULT.0 as f64;
        let claimed = case.claim(&slow, Reason::Device, Nanos((left.0 as f64 * saved) as u64));
        let sizes = &traffic.issue_sizes[class];
        let proof = Verdict::go_on(verdict.take(), CAUSE.name, slow.group_number);
        let v = proof
            .plus(claimed, Confidence::Medium)
            .because(proof!(
                "{in_order} of {task}'s reads on {name} follow one another; half of all there are of {p50} or less",
                in_order = Share(in_order),
                task = Text(slow.group.task.clone()),
                name = Text(name.to_string()),
                p50 = Size(Bytes(sizes.quantile(0.5)))
            ))
            .because(proof!(
                "read_ahead_kb of {name} is {setting} ({at}); the kernel's default is {default}",
                name = Text(name.to_string()),
                setting = Text((setting.value.0 / 1024).to_string()),
                at = Source(setting.at.to_string()),
                default = Text((DEFAULT.0 / 1024).to_string())
            ))
            .because(proof!(
                "the slowest {what} spent {waits} of their time waiting for a page that was being read",
                what = Text(slow.words().to_string()),
                waits = Share(waits)
            ));
        let mut v = remedy(v, setting.value, &name);
        v.throughout.extend(throughout(case, &slow).map(|part| (slow.group_number, part * saved)));
        verdict = Some(v);
    }
    match (verdict, unsure, against) {
        (Some(v), ..) => v.unless("a reader as slow with more read ahead"),
        (None, Some(unsure), _) => Verdict::cannot_tell(CAUSE.name, unsure),
        (None, None, Some(against)) => Verdict::rejected(CAUSE.name, against),
        (None, None, None) => {
            Verdict::out_of_the_question(CAUSE.name, "nobody who was slow read a file through the page cache")
        }
    }
}

/// The part of the victim's reads, or of all on the device where that is more, that begin where one before them ended.
fn in_order(case: &Case, slow: &Slow) -> f64 {
    let (traffic, class) = (&slow.on.traffic, Class::Read.index());
    let of_all = traffic.contiguous[class] as f64 / traffic.issues[class].max(1) as f64;
    let is_its = |(task, _): &(&u32, &Reader)| case.facts.tasks.name(**task) == slow.group.task;
    let of_task = slow.on.readers.iter().filter(is_its).map(|(_, reader)| reader.in_order());
    of_task.fold(of_all, f64::max)
}

/// The part of a reader's time in which it waited for pages, if it did little else in the recording.
fn throughout(case: &Case, slow: &Slow) -> Option<f64> {
    let rows = slow.group.rows(&case.facts.waits, Selection::default());
    let waited: Nanos = rows.iter().filter(|row| row.waits.has(Wait::PageRead)).map(|row| row.time).sum();
    let did_little_else = waited.0 as f64 >= LITTLE_ELSE * case.facts.duration().0 as f64;
    did_little_else.then(|| waited.0 as f64 / slow.group.all.time.total.0.max(1) as f64)
}

fn remedy(v: Verdict, now: Bytes, name: &str) -> Verdict {
    v.try_this(
        format!(
            "read_ahead_kb {} -> {}: the reader waits {} times less often, and most of its reads find their data in memory; \
             each wait that is left is for a larger piece and may be longer. Costs memory, and time of others where files \
             are not read in order",
            now.0 / 1024,
            PROPOSED.0 / 1024,
            PROPOSED.0 / now.0.max(4096)
        ),
        Action::set(name, "queue/read_ahead_kb", PROPOSED.0 / 1024),
    )
}
