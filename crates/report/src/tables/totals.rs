//! Bios, requests and bytes by operation, and events by action.

use super::table::{columns, Table, Value};
use super::view::View;
use life::{Class, Op, Unfinished};
use stats::{class_op, Device, Phases};
use trace::{Action, Bytes};
use units::words::{counted, size};

/// Table `totals`: bios, requests, their bytes and rates, by device and operation.
pub(super) fn totals(v: &View) -> Table {
    let cols = columns([
        ("device", "device"),
        ("op", "op"),
        ("bios", "bios"),
        ("bios_bytes", "asked for"),
        ("bios_merged", "merged"),
        ("bios_split", "split"),
        ("requests", "requests"),
        ("requests_bytes", "served"),
        ("unfinished_bios", ""),
        ("unfinished_bytes", ""),
        ("unfinished_served_bytes", ""),
        ("requests_without_bio", ""),
        ("requeues", "requeues"),
        ("errors", "errors"),
        ("per_s", "requests/s"),
        ("bytes_per_s", "data/s"),
    ]);
    let mut t = Table::new(
        "totals",
        "bios (what was asked for) and requests (what the device did), completed",
        &cols,
    );
    let mut apart = vec![];
    for device in v.devices() {
        let time = device.duration().seconds();
        for op in Op::ALL {
            let (bios, merged, split) = bios(device, op);
            let requests = v.e.facts.cells.sum(|k| (k.dev == device.id && k.op == op).then_some(()));
            let requests = requests.into_values().next().unwrap_or_default();
            if bios.count + requests.count == 0 {
                continue;
            }
            let main = if requests.count > 0 { &requests } else { &bios };
            let rate = |n: f64| if time > 0.0 { n / time } else { 0.0 };
            let unless_zero = |n: u64| if n == 0 { Value::None } else { Value::Count(n) };
            let open = unfinished(v, device, op);
            let of_open = |bytes: Bytes| if open.bios == 0 { Value::None } else { Value::Size(bytes.0) };
            // Flushes of the kernel have no bio, nor has passthrough.
            let has_bios = !matches!(op, Op::Flush | Op::Passthrough);
            let without = if has_bios { requests.count.saturating_sub(requests.q2c.count()) } else { 0 };
            apart.extend(counted_apart(&format!("{} {}", v.e.name(device.id), op.name()), open, without));
            let of_requests = |value: Value| if device.has_requests() { value } else { Value::None };
            t.row(vec![
                v.name(device.id),
                Value::Text(op.name().into()),
                Value::Count(bios.count),
                Value::Size(bios.bytes.0),
                unless_zero(merged),
                unless_zero(split),
                of_requests(Value::Count(requests.count)),
                of_requests(Value::Size(requests.bytes.0)),
                unless_zero(open.bios),
                of_open(open.bytes),
                of_open(open.served),
                unless_zero(without),
                unless_zero(requests.requeues),
                unless_zero(requests.errors),
                Value::Number(rate(main.count as f64)),
                Value::Size(rate(main.bytes.0 as f64) as u64),
            ]);
        }
    }
    t.notes.extend(apart);
    if v.devices().any(|d| d.has_io() && !d.has_requests()) {
        t.notes.push(
            "devices without requests (md, dm) pass bios on to those below: their rates a second count bios."
                .into(),
        );
    }
    t
}

/// Notes on why requests exceed the bios: unfinished bios are not counted, but what was served for them is.
fn counted_apart(what: &str, open: Unfinished, without: u64) -> Vec<String> {
    let mut notes = vec![];
    if open.bios > 0 {
        let bios = counted(open.bios, "bio", "bios");
        let (size, served) = (size(open.bytes), size(open.served));
        notes.push(format!(
            "{what}: also {bios} of {size} unfinished at the end; {served} of that was served, in \
             requests counted above."
        ));
    }
    if without > 0 {
        let requests = counted(without, "request", "requests");
        notes.push(format!(
            "{what}: {requests} of bios that are not seen to begin: before the recording, or lost."
        ));
    }
    notes
}

/// The unfinished bios of an operation with parts that were served; 0 if tasks are selected.
fn unfinished(v: &View, device: &Device, op: Op) -> Unfinished {
    let mut sum = Unfinished::default();
    if v.has_all_tasks() && op != Op::Passthrough {
        let classes = Class::ALL.into_iter().filter(|class| class_op(*class) == op);
        classes.for_each(|class| sum.add(device.unfinished[class.index()]));
    }
    sum
}

/// The bios of an operation, and how many of them were merged and split. Passthrough requests have no bios; only discards
/// remain in their class.
fn bios(device: &Device, op: Op) -> (Phases, u64, u64) {
    let of = |class: &Class| op != Op::Passthrough && class_op(*class) == op;
    let mut sum = (Phases::default(), 0, 0);
    for class in Class::ALL.into_iter().filter(of) {
        let bios = &device.bios[class.index()];
        sum.0.merge(&bios.phases);
        sum.1 += bios.merged;
        sum.2 += bios.split;
    }
    sum
}

/// Table `events`: events by action, over all devices.
pub(super) fn events(v: &View) -> Table {
    let cols = columns([("action", "action"), ("meaning", "meaning"), ("events", "events")]);
    let mut t = Table::new("events", "events by action, of all devices", &cols);
    for (action, n) in ACTIONS.map(|a| (a, v.e.facts.events(a))).into_iter().filter(|(_, n)| *n > 0) {
        let letters = match action {
            Action::Other(_) => "?".into(),
            Action::TaskName | Action::WallClock | Action::Lost => "note".into(),
            other => other.letters().into(),
        };
        t.row(vec![Value::Text(letters), Value::Text(meaning(action).into()), Value::Count(n)]);
    }
    t
}

/// All actions in the order of an I/O's life; those that are not I/O come last.
const ACTIONS: [Action; Action::KINDS] = [
    Action::Queue,
    Action::Remap,
    Action::Bounce,
    Action::Split,
    Action::BackMerge,
    Action::FrontMerge,
    Action::SleepForRequest,
    Action::Get,
    Action::Plug,
    Action::Insert,
    Action::Unplug,
    Action::UnplugImplicit,
    Action::Issue,
    Action::Requeue,
    Action::Complete,
    Action::Abort,
    Action::DriverData,
    Action::ZonePlug,
    Action::ZoneUnplug,
    Action::ZoneManage,
    Action::Message,
    Action::TaskName,
    Action::WallClock,
    Action::Lost,
    Action::Other(0),
];

fn meaning(action: Action) -> &'static str {
    match action {
        Action::Queue => "a bio was queued",
        Action::BackMerge => "a bio joined the end of a request",
        Action::FrontMerge => "a bio joined the front of a request",
        Action::Get => "a request was allocated",
        Action::SleepForRequest => "a task waits for a free request",
        Action::Requeue => "the driver requeued a request",
        Action::Issue => "a request went to the device",
        Action::Complete => "completed",
        Action::Plug => "a task plugs: it collects requests",
        Action::Unplug => "a task unplugs: it sends them",
        Action::UnplugImplicit => "a task unplugs because it goes to sleep",
        Action::Insert => "a request entered the scheduler",
        Action::Split => "a bio was split",
        Action::Bounce => "data was copied to a bounce buffer",
        Action::Remap => "a bio was sent to another device",
        Action::Abort => "a request was aborted",
        Action::DriverData => "data of the driver",
        Action::ZonePlug => "writes to a zone are plugged",
        Action::ZoneUnplug => "writes to a zone are unplugged",
        Action::ZoneManage => "a zone command",
        Action::TaskName => "the name of a task",
        Action::WallClock => "the wall clock",
        Action::Message => "a message of the kernel",
        Action::Lost => "a gap: events are missing here",
        Action::Other(_) => "unknown to this program",
    }
}
