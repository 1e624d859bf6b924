//! An md array and its members in one table of iostat: which part of a write's time the members account for.
//!
//! In older kernels md counts no times for itself, so those of a device stacked on it may be used; it has the same
//! traffic. The other devices are the members. Three causes are judged:
//!
//! - `raid-read-modify-write`: small writes read old data and parity first, as much as they write. **Rejected** if the
//!   members read much less than they write.
//! - `raid-bitmap`: the same load with and without the write-intent bitmap differs.
//! - `raid-stripe-cache`: the array's wait is longer than its members' reads and writes together; the rest lies in md.
//!   Counters cannot say what it waits for there: *cannot tell*, with what to record.

use super::busy::MORE_REPORTS;
use super::place::{readings, runs, In};
use super::say::{judged, number, plain, quantity, times};
use super::settings::{of_device, Set};
use super::thresholds::evidence::REPORTS;
use super::thresholds::raid::{LARGER, LEAST_WRITES};
use crate::proof::proof;
use crate::remedy::Action;
use crate::thresholds::counters_raid::{DEFAULT_STRIPES, FULL, NOTABLE, READS_OF_RMW, SAME};
use crate::verdict::{Confidence, Verdict};
use tooltext::{Row, Run, ToolOutput, Unit};
use trace::{Bytes, Nanos};
use units::words::{ns, percent, size};

/// What a stripe head holds of each member, in bytes (`RAID5_STRIPE_SIZE`, a page).
const STRIPE_PAGE: f64 = 4096.0;

/// An array and its members in one report.
struct Array<'a> {
    place: In<'a>,
    name: &'a str,
    /// The row with the array's times: its own, or that of a device stacked on it.
    seen: &'a Row,
    members: Vec<&'a Row>,
}

fn arrays(outputs: &[ToolOutput]) -> Vec<Array<'_>> {
    readings(outputs, "iostat").filter_map(|(place, reading)| array(place, &reading.rows)).collect()
}

fn array<'a>(place: In<'a>, rows: &'a [Row]) -> Option<Array<'a>> {
    let md =
        |row: &&Row| row.of.strip_prefix("md").is_some_and(|n| n.starts_with(|c: char| c.is_ascii_digit()));
    let own = rows.iter().find(md)?;
    let same = |a: &Row, b: &Row| {
        ["w/s", "wbytes/s"].iter().all(|n| match (a.value(n), b.value(n)) {
            (Some(a), Some(b)) => (a - b).abs() <= SAME * b.max(1.0),
            _ => false,
        })
    };
    let on_it = rows.iter().find(|r| r.of != own.of && same(r, own));
    let seen = if own.value("await").unwrap_or(0.0) > 0.0 { own } else { on_it.unwrap_or(own) };
    let members: Vec<&Row> = rows
        .iter()
        .filter(|r| r.of != own.of && !same(r, own) && r.value("w/s").unwrap_or(0.0) > 0.0)
        .collect();
    let usable =
        members.len() >= 3 && own.value("w/s")? > 0.0 && seen.value("w_await").or(seen.value("await"))? > 0.0;
    usable.then_some(Array { place, name: &own.of, seen, members })
}

impl<'a> Array<'a> {
    fn wait(&self) -> f64 {
        self.seen.value("w_await").or(self.seen.value("await")).unwrap_or(0.0)
    }

    fn at(&self) -> String {
        self.seen.values.iter().next().map_or(String::new(), |(_, n)| self.place.at(n))
    }

    fn sum(&self, name: &str) -> f64 {
        self.members.iter().filter_map(|m| m.value(name)).sum()
    }

    /// The smallest and the largest value among the members.
    fn range(&self, name: &str) -> Option<(f64, f64)> {
        let all = || self.members.iter().filter_map(|m| m.value(name));
        let least = all().min_by(f64::total_cmp)?;
        Some((least, all().max_by(f64::total_cmp)?))
    }

    /// Mean bytes of a write to the array, and of a write to a member.
    fn sizes(&self) -> Option<(f64, f64)> {
        let of_array = self.seen.value("wbytes/s")? / self.seen.value("w/s")?;
        let of_member = self.sum("wbytes/s") / self.sum("w/s");
        (of_member > 0.0).then_some((of_array, of_member))
    }

    /// A setting of the array (`md/stripe_cache_size`).
    fn set<'s>(&self, outputs: &'s [ToolOutput], path: &str) -> Option<Set<'s>>
    where
        'a: 's,
    {
        of_device(outputs, self.place, Some(self.name), path)
    }

    /// The number of stripe heads in use, if it is nearly all of them; else `None`.
    fn full_of_stripes<'s>(&self, outputs: &'s [ToolOutput]) -> Option<Set<'s>>
    where
        'a: 's,
    {
        let (active, size) =
            self.set(outputs, "md/stripe_cache_active").zip(self.set(outputs, "md/stripe_cache_size"))?;
        let full = active.number().zip(size.number()).is_some_and(|(active, size)| active >= FULL * size);
        full.then_some(active)
    }

    /// Bytes that the members write for each byte written to the array.
    fn amplification(&self) -> Option<f64> {
        Some(self.sum("wbytes/s") / self.seen.value("wbytes/s")?)
    }
}

/// `raid-read-modify-write`
pub(super) fn read_modify_write(outputs: &[ToolOutput]) -> Option<Verdict> {
    const NAME: &str = "raid-read-modify-write";
    let arrays = arrays(outputs);
    // Members also read whatever is read from the array itself.
    let own_reads = |a: &Array| a.seen.value("rbytes/s").unwrap_or(0.0);
    let old_data = |a: &Array| (a.sum("rbytes/s") - own_reads(a)).max(0.0);
    let share = |a: &Array| old_data(a) / a.sum("wbytes/s").max(1.0);
    let array = arrays.iter().min_by(|a, b| share(a).total_cmp(&share(b)))?;
    let part = share(array);
    let n = array.members.len() as f64;
    let (of_array, of_member) = array.sizes()?;
    let sizes = proof!(
        "writes to {array} are {of_member} the size of its members' ({of_array} against {of_member2}, {at})",
        array = array.name,
        of_member = times((of_array / of_member).round()),
        of_array = Bytes(of_array as u64),
        of_member2 = Bytes(of_member as u64),
        at = Source(array.at().to_string())
    );
    let reads = proof!(
        "the members read {part} of what they write{beyond} ({array} against {array2})",
        part = Share(part),
        beyond = if own_reads(array) > 0.0 { ", beyond what is read of the array" } else { "" },
        array = quantity(old_data(array), Unit::BytesPerSecond),
        array2 = quantity(array.sum("wbytes/s"), Unit::BytesPerSecond)
    );
    // Few writes prove nothing. The writes of a read-modify-write are no larger than those to the array: larger ones
    // belong to something else (a rebuild, other data on the same disks).
    let thin = array.seen.value("w/s").unwrap_or(0.0) < LEAST_WRITES || of_member > LARGER * of_array;
    if part >= READS_OF_RMW && thin {
        return None;
    }
    if part >= READS_OF_RMW {
        // This is the report with the smallest part, so it holds for all of them.
        let enough = arrays.iter().filter(|a| a.name == array.name).count() >= REPORTS;
        let v = judged(NAME, enough, Confidence::Medium, MORE_REPORTS).because(reads).because(sizes);
        if !enough {
            return Some(v);
        }
        return Some(
            v.unless("members that read much less than they write")
                .without("which writes: iowhy record on the array and its members (md says \"raid5 rmw\" in \
                     the trace)")
                .try_this(
                    "a larger stripe cache collects neighbouring writes into whole stripes; takes a page per \
                         member and stripe",
                    Action::set(array.name, "md/stripe_cache_size", 8192),
                ),
        );
    }
    let full = n / (n - 1.0);
    let wrote = array.amplification().map_or(String::new(), |a| {
        format!(
            "; they write {} bytes for each byte written to it, whole stripes of {} members with one for \
             parity need {}",
            plain(a),
            plain(n),
            plain(full)
        )
    });
    Some(Verdict::rejected(
        NAME,
        proof!(
            "{reads}, about 1/{part:.0}: a read-modify-write reads as much as it writes; {sizes}: mostly \
             full stripes{wrote}",
            reads,
            part = Ratio(1.0 / part.max(0.001)),
            sizes,
            wrote
        ),
    ))
}

/// `raid-bitmap`
pub(super) fn bitmap(outputs: &[ToolOutput]) -> Option<Verdict> {
    const NAME: &str = "raid-bitmap";
    let arrays = arrays(outputs);
    let stack = runs(outputs).find_map(|place| {
        let stack = place.run.of("kernel stack").find(|s| {
            s.settings
                .iter()
                .any(|f| f.value.starts_with("bitmap_unplug") || f.value.starts_with("md_bitmap_unplug"))
        })?;
        let frames: Vec<&str> = stack.settings.iter().map(|f| f.value.as_str()).collect();
        let innermost = frames.iter().take(4).copied().collect::<Vec<_>>().join(" <- ");
        Some(format!("a task was seen waiting in it: {innermost} ({})", place.output.at(stack.at)))
    });
    // The first run that the author calls without bitmap, and the first one of the same array.
    let without = arrays.iter().position(|a| is_without_bitmap(a.place.run));
    let pair = without.and_then(|i| {
        Some((arrays.iter().find(|a| a.name == arrays[i].name && a.wait() > 0.0)?, &arrays[i]))
    });
    let Some((with, without)) = pair.filter(|(a, b)| a.wait() > b.wait()) else {
        return stack.map(|s| {
            Verdict::cannot_tell(
                NAME,
                "how much it costs: iostat -x of the array and its members with the bitmap and without it",
            )
            .because(s)
        });
    };
    let saved = with.wait() - without.wait();
    let share = saved / with.wait();
    let name = with.name;
    let rate = |a: &Array| a.seen.get("w/s").map_or(String::new(), number);
    let mut v = Verdict::found(NAME, Nanos(0), Confidence::Medium).because(proof!("a write to {name} takes {wait} with the bitmap ({at}) and {wait2} without ({at2}): {saved} of it, {share}, is the bitmap's; writes go from {with} to {without}", name, wait = Nanos(with.wait() as u64), at = Source(with.at().to_string()), wait2 = Nanos(without.wait() as u64), at2 = Source(without.at().to_string()), saved = Nanos(saved as u64), share = Share(share), with = rate(with), without = rate(without)));
    v = stack.into_iter().fold(v, Verdict::because);
    for path in ["md/level", "md/chunk_size", "md/consistency_policy"] {
        v = with.set(outputs, path).map(|s| s.words()).into_iter().fold(v, Verdict::because);
    }
    v.share = share;
    Some(
        v.unless("the same wait without the bitmap")
            .try_this(
                "larger chunks: a bit covers more, so it is set less often; after a crash more is resynced",
                format!(
                    "mdadm --grow --bitmap=none /dev/{name} && mdadm --grow --bitmap=internal \
                     --bitmap-chunk=128M /dev/{name}"
                ),
            )
            .try_this(
                "no bitmap: after a crash the whole array is resynced",
                format!("mdadm --grow --bitmap=none /dev/{name}"),
            ),
    )
}

/// Whether the author says that a run had no bitmap.
pub(super) fn is_without_bitmap(run: &Run) -> bool {
    let removed = [
        "without bitmap",
        "without the bitmap",
        "without a bitmap",
        "commented out",
        "no bitmap",
        "bitmap=none",
        "bitmap none",
        "bitmap removed",
        "removed the bitmap",
        "disabled",
    ];
    run.says("bitmap") && removed.iter().any(|w| run.says(w))
}

const STRIPE_CACHE: &str = "raid-stripe-cache";

/// `raid-stripe-cache`: which part of the array's time its members do not account for.
pub(super) fn stripe_cache(outputs: &[ToolOutput]) -> Option<Verdict> {
    let arrays = arrays(outputs);
    let mut v: Option<Verdict> = None;
    let (mut least, mut most) = (f64::MAX, 0.0f64);
    for array in &arrays {
        let (low, high) = array.range("await")?;
        (least, most) = (least.min(low), most.max(high));
        let reads = array.range("r_await").map_or(0.0, |r| r.1);
        let writes = array.range("w_await").map_or(high, |r| r.1);
        let rest = array.wait() - reads - writes;
        if rest < NOTABLE * array.wait() {
            continue;
        }
        let mut text = between(array, outputs, [reads, writes, rest]);
        let full = array.full_of_stripes(outputs);
        if let Some(active) = &full {
            text += &format!("; and it is full: {}", active.words());
        }
        let so_far = v.take().unwrap_or_else(|| match full {
            Some(_) => Verdict::found(STRIPE_CACHE, Nanos(0), Confidence::Medium).try_this(
                "more stripe heads; each takes a page per member",
                Action::set(array.name, "md/stripe_cache_size", 8192),
            ),
            None => asked_for(array),
        });
        v = Some(so_far.because(text));
    }
    let waits: Vec<String> = arrays.iter().map(|a| ns(a.wait() as u64)).collect();
    let name = arrays.first()?.name;
    v.map(|v| {
        v.because(proof!(
            "the members wait {least} to {most}, {name} {waits}",
            least = Nanos(least as u64),
            most = Nanos(most as u64),
            name,
            waits = waits.join(" and ")
        ))
    })
    .map(|v| v.unless("a stripe cache that is not full while writes are slow"))
}

/// The part of a write's time that passes between an array and its members: `rest`, besides their reads and writes.
fn between(array: &Array, outputs: &[ToolOutput], [reads, writes, rest]: [f64; 3]) -> String {
    let mut text = format!(
        "{} ({}): a write takes {}; the slowest member takes {} for a read and {} for a write, {} one after \
         the other: at least {} ({}) is spent in neither, that is, between {} and its members",
        array.place.name(),
        array.at(),
        ns(array.wait() as u64),
        ns(reads as u64),
        ns(writes as u64),
        ns((reads + writes) as u64),
        ns(rest as u64),
        percent(rest / array.wait()),
        array.name,
    );
    let Some((queue, (of_array, _))) = array.seen.value("queue").zip(array.sizes()) else { return text };
    let data = array.members.len() as f64 - 1.0;
    let stripes = queue * (of_array / (STRIPE_PAGE * data)).max(1.0);
    let set = array.set(outputs, "md/stripe_cache_size");
    let has = set.and_then(|s| s.number()).unwrap_or(DEFAULT_STRIPES);
    let whence = set.map_or(format!("md's default is {}", plain(has)), |s| s.words());
    if stripes > has || set.is_some() {
        text += &format!(
            "; {} writes of {} at once need about {} stripe heads of {} of each member, {whence}",
            plain(queue),
            size(Bytes(of_array as u64)),
            plain(stripes.round()),
            size(Bytes(STRIPE_PAGE as u64)),
        );
    }
    text
}

/// The verdict if nothing is known of the array's stripe heads: it says what to record.
fn asked_for(array: &Array) -> Verdict {
    let devices: Vec<String> = array.members.iter().map(|m| format!("/dev/{}", m.of)).collect();
    Verdict::cannot_tell(
        STRIPE_CACHE,
        proof!(
            "what a write waits for in {name}: `grep . /sys/block/{name}/md/stripe_cache_*` while it is slow \
             (active equal to size: full), and all of them recorded together: blktrace -d /dev/{seen} -d \
             /dev/{name} -d {devices}",
            name = array.name,
            seen = array.seen.of,
            devices = devices.join(" -d ")
        ),
    )
}
