//! `queue-freeze`: somebody changes a setting of the queue, and nothing may enter it meanwhile.
//!
//! Writing `scheduler`, `nr_requests`, `wbt_lat_usec` and others freezes the queue: the kernel waits until all requests in it
//! are done (`blk_mq_freeze_queue_wait`, block/blk-mq.c) while new bios sleep in `__bio_queue_enter`, before anything of them
//! is recorded. Refuted if nobody slept there.

use crate::case::Case;
use crate::paths;
use crate::verdict::{Answer, Verdict};
use crate::Cause;
use ledger::Reason;

/// The cause.
pub struct QueueFreeze;

impl Cause for QueueFreeze {
    fn name(&self) -> &'static str {
        "queue-freeze"
    }

    fn title(&self) -> &'static str {
        "somebody changes settings of the device's queue, which freezes it each time"
    }

    fn page(&self) -> &'static str {
        include_str!("../../../docs/causes/queue-freeze.md")
    }

    fn judge(&self, case: &mut Case) -> Verdict {
        let what = "waiting for the queue, which was frozen while a setting of it was changed";
        let (mut v, found) = paths::judge(case, self.name(), what, |_, reason| reason == Reason::QueueFreeze);
        if v.verdict != Answer::Found {
            return v;
        }
        for number in found {
            let name = case.name(case.focus.groups[number].dev);
            v = v
                .try_this(
                    format!("find out who writes to the settings of {name}, and make it stop while there is load: udev rules, tuned, a cron job"),
                    format!("auditctl -w /sys/block/{name}/queue -p w -k iowhy; sleep 60; ausearch -k iowhy -i | tail; auditctl -W /sys/block/{name}/queue -p w -k iowhy"),
                )
                .try_this(
                    "see which rules of udev set something of block devices at each event",
                    "grep -rn 'ATTR{queue/' /etc/udev/rules.d /usr/lib/udev/rules.d",
                );
        }
        v.unless("operations as slow while nobody writes to /sys/block/DEVICE/queue")
    }
}
