//! No space left, a suspicion of `file-system-error`: not a slow device.
//!
//! A program whose write is refused because its file system is full fails at once. A thin pool without space is worse: by default writes to it
//! wait for up to a minute (`no_space_timeout`, drivers/md/dm-thin.c), then fail, and file systems on it see errors of a disk.

use super::place::rows;
use crate::proof::proof;
use crate::remedy::Action;
use crate::verdict::Verdict;
use tooltext::ToolOutput;
use trace::Nanos;

/// Suspected if a thin pool is full, or a program reports that no space or no quota is left.
pub(super) fn judge(outputs: &[ToolOutput]) -> Option<Verdict> {
    thin_pool(outputs).or_else(|| refused(outputs))
}

/// A thin pool whose data or metadata is full, by lvs.
fn thin_pool(outputs: &[ToolOutput]) -> Option<Verdict> {
    let (place, row, what, share) = rows(outputs, "lvs").find_map(|(place, row)| {
        let full = |name: &str| row.get(name).filter(|n| n.value >= FULL);
        let (what, share) =
            full("data used").map(|n| ("data", n)).or_else(|| Some(("metadata", full("metadata used")?)))?;
        Some((place, row, what, share))
    })?;
    let told = proof!(
        "the {what} of the thin pool {pool} is {share} full ({at})",
        what,
        pool = row.of.clone(),
        share = Share(share.value),
        at = Source(place.at(share))
    );
    let then = proof!(
        "writes that need new space wait, by default for up to {time}, and then fail",
        time = NO_SPACE_TIMEOUT
    );
    let missing = "whether that is what waits: the kernel's log of the pool, dmesg | grep thin";
    Some(full_pool(Verdict::cannot_tell("file-system-error", missing).because(told).because(then)))
}

/// What to do about a thin pool that is full or failed.
pub(super) fn full_pool(v: Verdict) -> Verdict {
    v.try_this(
        "see how full the pool's data and metadata are: lvextend gives it more, fstrim in the volumes gives unused blocks back; a pool \
         that failed has to be checked before it is used again (thin_check)",
        Action::look("lvs -a -o lv_name,lv_size,data_percent,metadata_percent,lv_when_full,lv_health_status; vgs; dmsetup status --target thin-pool"),
    )
}

/// Default of `no_space_timeout` (drivers/md/dm-thin.c).
const NO_SPACE_TIMEOUT: Nanos = Nanos(60_000_000_000);
/// lvs rounds to hundredths of a percent; from here on nothing more fits.
const FULL: f64 = 0.9999;

fn refused(outputs: &[ToolOutput]) -> Option<Verdict> {
    let of_kind = |kind: &'static str| {
        let of = rows(outputs, "failed calls").filter(|(_, row)| row.of == kind);
        let mut all = of.filter_map(|(place, row)| Some((place, row.get("count")?)));
        let (place, first) = all.next()?;
        let more: f64 = all.map(|(_, count)| count.value).sum();
        Some((place.at(first), first.value + more))
    };
    let (what, (at, count)) = [("no space left", "space"), ("quota used up", "quota")]
        .into_iter()
        .find_map(|(kind, what)| Some((what, of_kind(kind)?)))?;
    let told = proof!(
        "{n} for lack of {what} ({at})",
        n = Counted(count as u64, "error", "errors"),
        what,
        at = Source(at)
    );
    let fast = proof!("such an error comes at once: nothing waits for a device");
    let missing = "which file system it is, and whether anything is slow besides: df -h; df -i";
    Some(
        Verdict::cannot_tell("file-system-error", missing)
            .because(told)
            .because(fast)
            .try_this("see which file system has no blocks or no inodes left", Action::look("df -h; df -i")),
    )
}

#[cfg(test)]
mod tests {
    use crate::counters::judge_counters;
    use tooltext::ToolOutput;

    #[test]
    fn a_full_file_system_is_no_slow_one() {
        let judged = |text: &str| {
            let all = judge_counters(&[ToolOutput::read("log", text.as_bytes())]);
            all.first().map(|v| (v.cause, v.evidence[0].sentence()))
        };
        let full = "cp: error writing 'a': No space left on device\n";
        let said = "2 errors for lack of space (log:1)";
        assert_eq!(judged(&full.repeat(2)), Some(("file-system-error", said.to_owned())));
        let quota = "cp: error writing 'a': Disk quota exceeded\n";
        assert!(judged(quota).is_some_and(|(_, said)| said == "1 error for lack of quota (log:1)"));
    }

    #[test]
    fn a_full_thin_pool_is_suspicious() {
        let judged = |data: &str, metadata: &str| {
            let text = format!("  LV   VG     Attr       LSize  Pool Origin Data%  Meta%  Move Log Cpy%Sync Convert\n  pool vg0    twi-aot-D- 80.00g             {data} {metadata}\n");
            let all = judge_counters(&[ToolOutput::read("lvs", text.as_bytes())]);
            all.first().map(|v| v.evidence[0].sentence())
        };
        assert_eq!(
            judged("100.00", "0.12").as_deref(),
            Some("the data of the thin pool vg0/pool is 100 % full (lvs:2)")
        );
        assert!(judged("12.00", "100.00").is_some_and(|said| said.starts_with("the metadata of")));
        assert_eq!(judged("99.00", "0.12"), None);
    }
}
