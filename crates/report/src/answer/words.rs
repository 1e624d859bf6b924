//! Words for victims and culprits.

use causes::Confidence;
use explain::answer::{Sufferer, Those};
use explain::Explanation;
use life::Io;
use units::words::time;
use waits::{Culprit, CulpritKind};

/// The kind of the victim's operations, in the plural: `fdatasyncs`.
pub fn operations(e: &Explanation, v: &Sufferer) -> &'static str {
    e.focus.groups.get(v.group).map_or("operations", |g| g.words())
}

/// The same, but in the singular if the victim has only one operation: `fdatasync`.
pub fn operations_of(e: &Explanation, v: &Sufferer) -> String {
    let one = e.focus.groups.get(v.group).and_then(|g| g.op).filter(|_| v.count == 1);
    one.map_or(operations(e, v).to_string(), |op| op.kind.name().replace('-', " "))
}

/// The victim's slowest operations: `the slowest 1 %`, `the slowest 3 of 7`.
pub fn the_slowest(e: &Explanation, v: &Sufferer) -> String {
    e.focus.groups.get(v.group).map_or("the slowest".into(), |g| format!("the slowest {}", e.slowest_part(g)))
}

/// The time it lost: `5.91 s`; `at most 5.91 s` if the latency of its requests alone is unknown.
pub fn lost(v: &Sufferer) -> String {
    let bound = if v.is_bound { "at most " } else { "" };
    format!("{bound}{}", time(v.lost))
}

/// The confidence of a finding as a word; `low` if there is none.
pub fn confidence(sure: Option<Confidence>) -> &'static str {
    match sure {
        Some(Confidence::High) => "high",
        Some(Confidence::Medium) => "medium",
        _ => "low",
    }
}

/// The name of the device that the victim waited for.
pub fn device(e: &Explanation, v: &Sufferer) -> String {
    e.focus.groups.get(v.group).map_or(String::new(), |g| e.name(g.dev))
}

/// Stands in the place of a culprit if nothing explains the time.
pub const NOT_EXPLAINED: &str = "not explained";

/// A culprit as a cell of the table: `sync: writes of cp's data`.
pub fn culprit(s: &Culprit) -> String {
    let io = s.io.map_or("", Io::words);
    match (s.kind, &s.name, &s.dirtied_by) {
        (CulpritKind::Task, Some(name), _) if &**name == "?" => format!("unnamed tasks: {io}"),
        (CulpritKind::Task | CulpritKind::Kernel, Some(name), Some(of)) => {
            format!("{name}: {io} of {of}'s data")
        }
        (CulpritKind::Task | CulpritKind::Kernel, Some(name), None) if io.is_empty() => name.to_string(),
        (CulpritKind::Task | CulpritKind::Kernel, Some(name), None) => format!("{name}: {io}"),
        (CulpritKind::Own, ..) if io.is_empty() => "itself".into(),
        (CulpritKind::Own, ..) => format!("its own {io}"),
        (CulpritKind::Device, ..) if s.io == Some(Io::Flush) => "the device: flush".into(),
        (CulpritKind::Device, ..) => "the device".into(),
        (CulpritKind::Limit, ..) => "a limit".into(),
        (CulpritKind::Cpu, Some(name), _) => format!("no processor ({name} ran)"),
        (CulpritKind::Cpu, None, _) => "no processor".into(),
        (CulpritKind::Kernel, None, _) => "the kernel".into(),
        (CulpritKind::Unknown, Some(name), _) => name.to_string(),
        _ => NOT_EXPLAINED.into(),
    }
}

/// Whether a culprit is only the place where the time passed, without a name.
pub fn is_place(s: &Culprit) -> bool {
    match s.kind {
        CulpritKind::Own | CulpritKind::Device | CulpritKind::Limit => true,
        CulpritKind::Task | CulpritKind::Kernel | CulpritKind::Cpu | CulpritKind::Unknown => s.name.is_none(),
    }
}

/// A culprit within a sentence: `sync (writes of cp's data)`.
pub fn who(s: &Culprit) -> String {
    let name = s.name.as_deref().unwrap_or("others");
    match (&s.dirtied_by, s.io) {
        (Some(of), Some(io)) => format!("{name} ({} of {of}'s data)", io.words()),
        (None, Some(io)) => format!("{name}'s {}", io.words()),
        _ => name.into(),
    }
}

/// Several culprits that are assumed absent together: `cp, rsync, others' reads`.
pub fn those(them: &Those) -> String {
    let tasks = them.tasks.iter().map(|name| name.to_string());
    let kinds = them.kinds.iter().map(|io| format!("others' {}", io.words()));
    tasks.chain(kinds).collect::<Vec<_>>().join(", ")
}
