//! `stable-page`: a writer waits until a page that it wants to change has been written.
//!
//! A device that computes a checksum over its data (data integrity, iSCSI digests, md raid5) needs the page unchanged
//! until it is written: the kernel makes the next writer of the page wait for the whole write.

use crate::case::Case;
use crate::cause::{Cause, Judge, Nature};
use crate::memory::dirty_limits::begins_after;
use crate::paths::Waited;
use crate::proof::proof;
use crate::remedy::{Action, Acts};
use crate::risk::Risk;
use crate::verdict::Verdict;
use operation::{Wait, Waits};
use trace::Bytes;

/// Name, title, page and judgement of this cause.
pub const CAUSE: Cause = Cause {
    name: "stable-page",
    title: "writers wait to change pages that are under writeback (stable pages)",
    nature: Nature::Rare,
    page: include_str!("../../pages/stable-page.md"),
    judge: Judge::Waited(
        Waited::new(
            "waiting for a page under writeback, stable until then (folio_wait_writeback)",
            |waits: Waits, _| waits.has(Wait::StablePage),
        ),
        found,
    ),
};

fn found(case: &Case, mut v: Verdict, groups: &[usize]) -> Verdict {
    for &number in groups {
        let dev = case.focus.groups[number].dev;
        let name = case.name(dev);
        let stable = case.settings(dev).and_then(|s| s.stable_writes());
        // The kernel reads the setting when a file system is mounted (setup_bdev_super, fs/super.c).
        v = match &stable {
            Some(s) if s.value => {
                v.because(proof!("{name} asks for stable pages: stable_writes is 1 ({at})", name, at = s.at))
            }
            Some(s) => v.because(proof!(
                "stable_writes of {name} is 0 ({at}), but the value at mount time counts: it must have been 1 \
                     then",
                name,
                at = s.at
            )),
            None => v,
        };
        let turn_off = match &stable {
            Some(s) if !s.value => (
                format!("unmount and mount again: stable_writes of {name} is 0 now, and applies from then on"),
                Risk::Downtime.of("umount /MOUNTPOINT && mount /MOUNTPOINT"),
            ),
            _ => (
                format!(
                    "stable_writes 1 -> 0, only if nothing below {name} computes checksums over the data (md raid5, \
                     iSCSI digests, DIF): otherwise it reports errors. Takes effect at the next mount"
                ),
                Action::set(&name, "queue/stable_writes", 0),
            ),
        };
        v = v
            .try_on(
                Acts::Victim,
                "write each page only once: append in multiples of 4 KiB, or use O_DIRECT; a page that is never \
                     rewritten is never waited for",
                Action::look("grep . /sys/block/*/queue/stable_writes"),
            )
            .try_this(turn_off.0, turn_off.1)
            .when(
                begins_after(case, Bytes(16_777_216)),
                "make each writeback short: start it earlier, so that fewer pages are under writeback at a \
                     time",
                Action::Sysctl(&[("vm.dirty_background_bytes", 16_777_216)]),
            );
    }
    v.unless("writers just as slow on a device with stable_writes 0")
}
