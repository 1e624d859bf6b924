//! What tasks are blocked on: `hung`, from the kernel's log of hung tasks with their stacks.
//!
//! Tasks wait for one another: many for a lock or a commit, one of those for the device. The tasks nearest to the
//! device are reported first, since the others wait behind them. **Proof**: the kernel says that the tasks are blocked,
//! and where. No stack says what the device does meanwhile. Stacks that somebody looked at (`/proc/PID/stack`) say where
//! tasks waited at one moment, not that they hang: *cannot tell*.

use super::elsewhere::{is_elsewhere, NEVER_WOKEN};
use super::place::{readings, In};
use super::tasks::listed;
use super::thresholds::hung::MANY;
use crate::journal::frozen::freezers;
use crate::proof::{proof, Proof};
use crate::remedy::Action;
use crate::verdict::{Confidence, Verdict};
use operation::Wait;
use tooltext::{Number, Reading, ToolOutput};
use trace::Nanos;

const NAME: &str = "hung";

/// Tasks that are blocked in one place of the kernel.
struct Place<'a> {
    wait: Wait,
    function: String,
    tasks: Vec<String>,
    longest: Option<Number>,
    /// Whether no stack of them has to do with storage.
    elsewhere: bool,
    first: (In<'a>, &'a Reading),
}

/// Waits that end when a device, a server or a limit lets them; all others end when another task goes on.
const OF_DEVICES: [Wait; 24] = [
    Wait::Tag,
    Wait::QueueFreeze,
    Wait::Flush,
    Wait::DirectIo,
    Wait::Metadata,
    Wait::PageRead,
    Wait::PageFault,
    Wait::OwnData,
    Wait::OrderedData,
    Wait::JournalBlocks,
    Wait::JournalSuperblock,
    Wait::StablePage,
    Wait::Swap,
    Wait::WritebackThrottle,
    Wait::CgroupLimit,
    Wait::RaidBitmap,
    Wait::RaidBarrier,
    Wait::RaidSuperblock,
    Wait::StripeCache,
    Wait::RaidRequest,
    Wait::PoolIo,
    Wait::Command,
    Wait::Server,
    Wait::LoopFile,
];

/// Where tasks are blocked, nearest to the device first, and what is told of the first places.
fn blocked(outputs: &[ToolOutput]) -> (Vec<Place<'_>>, Vec<Proof>) {
    let mut places: Vec<Place> = vec![];
    for (place, reading) in readings(outputs, "blocked task") {
        add(&mut places, place, reading);
    }
    nearest_first(&mut places);
    let told = places.iter().take(MANY).map(Place::told).collect();
    (places, told)
}

/// Where tasks waited when the kernel listed all that were blocked (`echo w > /proc/sysrq-trigger`), or when somebody looked at their stacks.
pub(super) fn at_one_moment(outputs: &[ToolOutput]) -> Option<Verdict> {
    let (places, told) = blocked(outputs);
    if places.is_empty() {
        return looked_at(outputs);
    }
    if all_elsewhere(&places) {
        return Some(beside_storage(told));
    }
    let missing = if has_stacks(&places) { MOMENT } else { STACKS };
    Some(look(told.into_iter().fold(Verdict::cannot_tell(NAME, missing), Verdict::because)))
}

/// Whether no task hangs in storage; one without a stack may, unless it is reported with one, too.
fn all_elsewhere(places: &[Place]) -> bool {
    let is_told = |task: &String| places.iter().any(|p| p.elsewhere && p.tasks.contains(task));
    places.iter().all(|p| p.elsewhere || p.is_without_stack() && p.tasks.iter().all(is_told))
}

/// What is told of tasks that hang where no storage is.
fn beside_storage(told: Vec<Proof>) -> Verdict {
    let only = |said: Proof| proof!("{said}; nothing on the stack is storage", said = said);
    let told = told.into_iter().map(only);
    let v = Verdict::cannot_tell(
        NAME,
        "what makes I/O slow, if it is: these stacks do not show it; iowhy record does",
    );
    told.fold(v, Verdict::because)
        .unless("nothing on these stacks is a file system, memory being freed or a device")
        .confirmed_by("iowhy record")
}

fn has_stacks(places: &[Place]) -> bool {
    places.iter().any(|p| !p.function.is_empty())
}

/// What is missing if no stack says where tasks wait.
const STACKS: &str = "stacks of the blocked tasks: echo w > /proc/sysrq-trigger; dmesg";

/// Adds where to look on.
fn look(v: Verdict) -> Verdict {
    v.try_this(
        "the kernel logs errors, timeouts and resets",
        Action::look("dmesg -T | grep -iE 'error|timeout|reset|abort'"),
    )
    .try_this(
        "all blocked tasks with their stacks, if these are not all",
        Action::look("echo w > /proc/sysrq-trigger; dmesg | tail -500"),
    )
}

/// What holds tasks up at these places, if that is known.
fn held_by(places: &[Place], v: Verdict) -> Verdict {
    v.when(
        places.iter().any(|p| p.wait == Wait::Frozen),
        "a file system is frozen: see what freezes it (backup agents and snapshots call fsfreeze, qemu-ga for the host); fsfreeze -u MOUNT ends it",
        freezers(),
    )
}

pub(super) fn judge(outputs: &[ToolOutput]) -> Option<Verdict> {
    let (places, told) = blocked(outputs);
    // A list of blocked tasks is of one moment; the kernel's own report is of minutes.
    if places.iter().all(|p| p.longest.is_none()) || all_elsewhere(&places) {
        return None;
    }
    if !has_stacks(&places) {
        return Some(told.into_iter().fold(Verdict::cannot_tell(NAME, STACKS), Verdict::because));
    }
    let near = places.first().is_some_and(|p| OF_DEVICES.contains(&p.wait));
    let v = Verdict::found(NAME, Nanos(0), if near { Confidence::Medium } else { Confidence::Low });
    let v = held_by(&places, v);
    let mut v = told.into_iter().fold(v, Verdict::because);
    if places.len() > MANY {
        v = v.because(proof!("and {n} more places", n = Count((places.len() - MANY) as u64)));
    }
    let meanwhile = "what the device did meanwhile: the kernel's log of errors and resets, iostat -x 1, and iowhy record while they hang";
    Some(look(v.unless("the same tasks running again a moment later: sample again").without(meanwhile)))
}

/// The tasks nearest to the device first; of equals, those in the place with the most of them.
fn nearest_first(places: &mut [Place]) {
    places.sort_by_key(|p| (!OF_DEVICES.contains(&p.wait), std::cmp::Reverse(p.tasks.len())));
}

/// Where tasks waited when somebody looked at their stacks; `None` if no stack says that a task waited for I/O or for another task.
fn looked_at(outputs: &[ToolOutput]) -> Option<Verdict> {
    let mut places: Vec<Place> = vec![];
    for (place, reading) in readings(outputs, "kernel stack") {
        add(&mut places, place, reading);
    }
    places.retain(|p| !matches!(p.wait, Wait::Unknown | Wait::Timer | Wait::Input));
    nearest_first(&mut places);
    let first = places.first()?;
    let (place, reading) = &first.first;
    let said = proof!(
        "{tasks} for {wait} ({function}) when this stack was taken ({at})",
        tasks = Counted(first.tasks.len() as u64, "task waited", "tasks waited"),
        wait = first.wait.words(),
        function = first.function,
        at = Source(place.output.at(reading.at).to_string())
    );
    Some(Verdict::cannot_tell(NAME, MOMENT).because(said))
}

/// What is missing if tasks were only seen to wait.
const MOMENT: &str = "whether they wait there for long, and for which disk: look several times, a second apart (cat /proc/PID/stack); \
                      iowhy record shows how long each wait takes";

fn add<'a>(places: &mut Vec<Place<'a>>, place: In<'a>, reading: &'a Reading) {
    // Without what compilers add to the names of functions that they modify: `bitmap_unplug.part.21`.
    let own_name = |function: &'a str| function.split('.').next().unwrap_or(function);
    let all = reading.settings.iter().filter(|s| s.name == "frame");
    let frames: Vec<&str> = all.map(|s| own_name(&s.value)).collect();
    let stack = frames.join("\n");
    let longest = reading.rows.first().and_then(|r| r.get("blocked"));
    let (wait, function) = (Wait::of_task(&reading.name, &stack), Wait::function_of(&stack));
    // A thread that sleeps for a time has such a stack too.
    let may_end = function == "schedule_timeout" && longest.is_none();
    if matches!(wait, Wait::Timer | Wait::Input) && longest.is_none() {
        return;
    }
    let function = if may_end { String::new() } else { function.to_owned() };
    let elsewhere = is_elsewhere(wait, &frames);
    let same = places.iter_mut().find(|p| p.wait == wait && p.function == function);
    match same {
        Some(p) => {
            // The kernel repeats its report every two minutes while a task goes on hanging.
            if reading.name == NOBODY || !p.tasks.contains(&reading.name) {
                p.tasks.push(reading.name.clone());
            }
            p.elsewhere &= elsewhere;
            let longer = longest.filter(|l| p.longest.is_none_or(|known| l.value > known.value));
            p.longest = longer.or(p.longest);
        }
        None => places.push(Place {
            wait,
            function,
            tasks: vec![reading.name.clone()],
            longest,
            elsewhere,
            first: (place, reading),
        }),
    }
}

impl Place<'_> {
    fn is_without_stack(&self) -> bool {
        self.function.is_empty() && self.first.1.setting("guesses").is_none()
    }

    /// `3 tasks are blocked, waiting for a request, a tag (blk_mq_get_tag): fio (2), kworker (output.txt:12), for more than 120 s`
    fn told(&self) -> Proof {
        let (place, reading) = &self.first;
        let within = &self.function;
        let what = match self.wait {
            Wait::Unknown if reading.setting("guesses").is_some() => {
                "blocked, of its stack there are only guesses (?)".to_owned()
            }
            Wait::Unknown if self.function.is_empty() => "blocked, no stack says where".to_owned(),
            Wait::Unknown if within == NEVER_WOKEN => format!("blocked before it began ({within})"),
            Wait::Unknown => format!("blocked in {within}"),
            wait => format!("blocked, waiting for {} ({within})", wait.words()),
        };
        let said = proof!(
            "{tasks} {what}: {names} ({at})",
            tasks = Counted(self.tasks.len() as u64, "task is", "tasks are"),
            what,
            names = listed(self.tasks.iter().map(String::as_str)),
            at = Source(place.output.at(reading.at).to_string())
        );
        match self.longest {
            Some(n) => {
                proof!("{said}, for more than {time}", said = said, time = Nanos(n.value as u64))
            }
            None => said,
        }
    }
}

/// The name of tasks of which only the stack was found: each of them is a different task.
const NOBODY: &str = "a task";
