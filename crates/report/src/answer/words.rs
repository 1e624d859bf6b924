//! How victims and culprits are called.

use explain::answer::{Source, Sufferer, Those};
use explain::Explanation;
use life::Io;
use waits::CulpritKind;

/// A task's name with its genitive: `postgres'`, `fio's`.
pub fn of(task: &str) -> String {
    match task.ends_with('s') {
        true => format!("{task}'"),
        false => format!("{task}'s"),
    }
}

/// What the victim did: `fdatasyncs`.
pub fn operations(e: &Explanation, v: &Sufferer) -> &'static str {
    e.focus.groups.get(v.group).map_or("operations", |g| g.words())
}

/// On which device.
pub fn device(e: &Explanation, v: &Sufferer) -> String {
    e.focus.groups.get(v.group).map_or(String::new(), |g| e.name(g.dev))
}

/// Who is to blame for what nothing explains.
pub const NOT_EXPLAINED: &str = "not explained";

/// A culprit as a cell of the table: `sync: writes of cp's data`.
pub fn culprit(s: &Source) -> String {
    let io = s.io.map_or("", plural);
    match (s.kind, &s.name, &s.dirtied_by) {
        (CulpritKind::Task | CulpritKind::Kernel, Some(name), Some(of)) => {
            format!("{name}: {io} of {of}'s data")
        }
        (CulpritKind::Task | CulpritKind::Kernel, Some(name), None) if io.is_empty() => name.clone(),
        (CulpritKind::Task | CulpritKind::Kernel, Some(name), None) => format!("{name}: {io}"),
        (CulpritKind::Own, ..) if io.is_empty() => "itself".into(),
        (CulpritKind::Own, ..) => format!("its own {io}"),
        (CulpritKind::Device, ..) if s.io == Some(Io::Flush) => "the device: flush".into(),
        (CulpritKind::Device, ..) => "the device".into(),
        (CulpritKind::Limit, ..) => "a limit".into(),
        (CulpritKind::Cpu, Some(name), _) => format!("no processor ({name} ran)"),
        (CulpritKind::Cpu, None, _) => "no processor".into(),
        (CulpritKind::Kernel, None, _) => "the kernel".into(),
        (CulpritKind::Unknown, Some(name), _) => name.clone(),
        _ => NOT_EXPLAINED.into(),
    }
}

/// Who a culprit is, in a sentence: `sync writing cp's data`.
pub fn who(s: &Source) -> String {
    let name = s.name.clone().unwrap_or_else(|| "others".into());
    match (&s.dirtied_by, s.io) {
        (Some(of), Some(io)) => format!("{name} ({} of {of}'s data)", plural(io)),
        (None, Some(io)) => format!("{name}'s {}", plural(io)),
        _ => name,
    }
}

/// Several who would be gone together: `cp, rsync, others' reads`.
pub fn those(them: &Those) -> String {
    let tasks = them.tasks.iter().map(|name| name.to_string());
    let kinds = them.kinds.iter().map(|io| format!("others' {}", plural(*io)));
    tasks.chain(kinds).collect::<Vec<_>>().join(", ")
}

fn plural(io: Io) -> &'static str {
    match io {
        Io::Read => "reads",
        Io::SyncWrite => "writes",
        Io::BackgroundWrite => "writeback",
        Io::Flush => "flushes",
        Io::Discard => "discards",
        Io::Journal => "journal writes",
    }
}
