//! `loop-double-cache`: a loop device reads and writes its file through the page cache, one request at a time.
//!
//! Without direct I/O the loop device's worker (`loop_process_work`, drivers/block/loop.c) copies to and from the page cache of
//! the backing file: all data is cached twice, and while the worker sleeps for one page, or because it dirtied too many, all
//! other requests of the loop device wait for it. A flush of the loop device has to write back what is dirty in those pages.
//! With direct I/O the worker only passes requests on, many at a time. Claims the time in which the worker slept so; not the
//! time of a request's own data in the device below, which is the same with direct I/O. Refuted if no worker slept so.
//!
//! Example: eight readers of loop1, 2 ms for each read below. The worker reads for one of them at a time: each reader
//! waits 16 ms, of which 14 ms are the others' reads in the worker.

use crate::case::Case;
use crate::cause::{Cause, Judge, Nature};
use crate::paths::Waited;
use crate::proof::proof;
use crate::remedy::Action;
use crate::verdict::{Answer, Confidence, Verdict};
use operation::Wait;

/// The major number of loop devices (include/uapi/linux/major.h).
const LOOP_MAJOR: u32 = 7;

/// Name, title, page and judgement of this cause.
pub const CAUSE: Cause = Cause {
    name: "loop-double-cache",
    title: "a loop device goes through the page cache of its backing file, one request at a time",
    nature: Nature::Everyday,
    page: include_str!("../../pages/loop-double-cache.md"),
    judge: Judge::Whole(judge),
};

fn judge(case: &mut Case) -> Verdict {
    let loops = case.facts.devices.iter().any(|d| d.id.major() == LOOP_MAJOR);
    if case.facts.operations.is_empty() && !loops {
        return Verdict::out_of_the_question(CAUSE.name, "no loop device was recorded");
    }
    let what = "while the worker of a loop device slept in the page cache of its file";
    let (mut v, _) = Waited::new(what, |waits, _| waits.has(Wait::LoopFile)).ask(case, CAUSE.name);
    if v.verdict != Answer::Found {
        return v;
    }
    let mut known = false;
    for device in &case.facts.devices {
        let Some(settings) = case.settings(device.id) else { continue };
        let Some(direct) = settings.loop_direct_io() else { continue };
        if direct.value {
            continue;
        }
        let name = case.name(device.id);
        known = true;
        let file = settings.backing_file().map_or("its file".into(), |f| f.value);
        v = v
            .because(proof!(
                "{name} goes through the page cache of {file}: direct I/O is off ({at})",
                name,
                file,
                at = direct.at
            ))
            .try_this(
                format!(
                    "direct I/O of {name} off -> on, at once and while in use: data is no longer cached a \
                         second time below it, and nothing is read ahead there"
                ),
                format!("losetup --direct-io=on /dev/{name}"),
            )
            .try_this(
                "if it stays off (column DIO): its file lies on a device with larger sectors, and the loop \
                     device must be set up again with --sector-size 4096; or that file system does not \
                     support direct I/O",
                Action::look("losetup -l -O NAME,DIO,LOG-SEC,BACK-FILE"),
            );
    }
    if !known {
        v.confidence = v.confidence.map(Confidence::less);
        v = v
            .without("which loop device has no direct I/O: losetup -l was not recorded")
            .try_this("see which of them have direct I/O (column DIO)", Action::look("losetup -l"))
            .try_this("turn it on, at once and while it is in use", "losetup --direct-io=on /dev/loopN");
    }
    v.try_this(
        "set it up with direct I/O the next time: mount and other tools leave it off",
        "losetup -f --show --direct-io=on FILE",
    )
    .unless("operations just as slow with direct I/O of the loop device")
}
