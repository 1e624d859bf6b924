//! Finds contradictions between a trace and the settings beside it. The trace takes precedence: it shows what happened.

use crate::explanation::Explanation;
use stats::Device;
use trace::{Bytes, Fs};

/// A setting that the trace contradicts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contradiction {
    /// The setting and its object. Example: `max_sectors_kb of loop0`.
    pub setting: String,
    /// The value in the settings file.
    pub says: String,
    /// The place in that file.
    pub at: String,
    /// What the trace shows instead, as a clause.
    pub seen: String,
}

/// All contradictions in a recording: request sizes and tags of each device, then file systems.
pub fn contradictions(e: &Explanation) -> Vec<Contradiction> {
    let devices = e.facts.devices.iter();
    let mut all: Vec<Contradiction> =
        devices.flat_map(|d| [request_size(e, d), tags(e, d)]).flatten().collect();
    all.extend(file_systems(e));
    all
}

/// Bytes of a memory page.
const PAGE: u64 = 4096;

/// Bios were split although the largest request is at most half of the limit.
fn request_size(e: &Explanation, d: &Device) -> Option<Contradiction> {
    let name = e.name(d.id);
    let limit = e.subject.system.device(&name)?.max_sectors_kb()?;
    let class = (0..d.bios.len()).max_by_key(|c| d.bios[*c].split)?;
    let largest = d.traffic.issue_sizes[class].max();
    // Pages that are not contiguous in memory need a segment each.
    let segments = e.subject.system.device(&name)?.number("queue/max_segments");
    let most = segments.map_or(u64::MAX, |s| s.value.saturating_mul(PAGE)).min(limit.value.0);
    (d.bios[class].split > 0 && largest > 0 && largest * 2 <= most).then(|| Contradiction {
        setting: format!("max_sectors_kb of {name}"),
        says: (limit.value.0 >> 10).to_string(),
        at: limit.at.to_string(),
        seen: format!("larger I/O was cut into requests of at most {}", units::words::size(Bytes(largest))),
    })
}

/// Tasks waited for tags although at most half of `nr_requests` were in flight.
fn tags(e: &Explanation, d: &Device) -> Option<Contradiction> {
    let name = e.name(d.id);
    let limit = e.subject.system.device(&name)?.nr_requests()?;
    let (most, waited) = (d.tags.most(), waited_for_tags(e, d));
    (waited && most > 0 && most * 2 <= limit.value).then(|| Contradiction {
        setting: format!("nr_requests of {name}"),
        says: limit.value.to_string(),
        at: limit.at.to_string(),
        seen: format!("tasks waited for a tag with never more than {most} requests in flight"),
    })
}

fn waited_for_tags(e: &Explanation, d: &Device) -> bool {
    e.focus.groups.iter().any(|g| g.dev == d.id && g.all.full.0 > g.all.time.total.0 / 20)
}

/// The events name another file system than the mount. Operations on the block device itself belong to no file system.
fn file_systems(e: &Explanation) -> Vec<Contradiction> {
    let mut all: Vec<Contradiction> = vec![];
    let is_told = |fs| ![Fs::Unknown, Fs::Block].contains(&fs);
    for key in e.focus.groups.iter().filter_map(|g| g.op).filter(|op| is_told(op.fs)) {
        let mount = e.subject.system.mounts.iter().find(|m| m.dev == Some(key.dev));
        let Some(mount) =
            mount.filter(|m| Fs::by_name(&m.fstype) != Fs::Unknown && m.fstype != key.fs.name())
        else {
            continue;
        };
        let found = Contradiction {
            setting: format!("file system on {}", mount.target),
            says: mount.fstype.clone(),
            at: mount.at.to_string(),
            seen: format!("its events are those of {}", key.fs.name()),
        };
        if !all.contains(&found) {
            all.push(found);
        }
    }
    all
}
