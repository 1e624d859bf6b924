//! Finds time that the slowest operations spent in device-mapper itself and that no cause explains: between the `Q` on the
//! dm device and the `Q` on the device below, or after the completion below. It is reported beside the causes, so that
//! nothing else is blamed for it.
//!
//! No file in sysfs names the target of a dm device. The dm uuid identifies LVM, dm-crypt and multipath; `dmsetup table`
//! shows every target.

use crate::subject::Subject;
use causes::{Verdict, MIN_SHARE};
use evidence::Device;
use ledger::Reason;
use stats::{Facts, Focus};
use std::collections::BTreeMap;
use trace::{DevId, Nanos};
use units::words::percent;

/// Prefixes of dm uuids and the software that sets them (libdevmapper, cryptsetup, multipath-tools).
const KINDS: &[(&str, &str)] = &[("LVM-", "LVM"), ("CRYPT-", "dm-crypt"), ("mpath-", "dm-multipath")];

/// A dm device in which at least [`MIN_SHARE`] of the slowest operations' time passed unexplained.
#[derive(Clone, Debug)]
pub struct InMapper {
    /// The kernel's name. Example: `dm-0`.
    pub device: String,
    /// The name in device-mapper. Example: `vg-root`.
    pub mapped: String,
    /// The software that made the device, by its uuid, and the place of the uuid; `None` if the uuid is missing or unknown.
    pub kind: Option<(&'static str, String)>,
    /// The unexplained time as a part of all slowest operations' time, 0.1 to 1.
    pub share: f64,
}

/// The dm devices in which at least [`MIN_SHARE`] of all slowest operations' time passed unexplained.
pub(crate) fn unexplained(
    subject: &Subject,
    facts: &Facts,
    focus: &Focus,
    verdicts: &[Verdict],
) -> Vec<InMapper> {
    let all = focus.time().total.0.max(1) as f64;
    let mut left = BTreeMap::<DevId, Nanos>::new();
    for (number, group) in focus.groups.iter().enumerate() {
        let here = |c: &&causes::Claim| c.group == number && c.reason == Reason::Stacking;
        let claimed: Nanos = verdicts.iter().flat_map(|v| &v.claims).filter(here).map(|c| c.time).sum();
        if let Some(dev) = mapped(subject, facts, group.dev) {
            *left.entry(dev).or_default() += group.tail.sum.time.of(Reason::Stacking).since(claimed);
        }
    }
    let worth = left.into_iter().filter(|(_, t)| t.0 as f64 / all >= MIN_SHARE);
    let one = |(dev, t): (DevId, Nanos)| {
        Some(InMapper::of(subject.name(dev), settings(subject, dev)?, t.0 as f64 / all))
    };
    worth.filter_map(one).collect()
}

fn settings(subject: &Subject, dev: DevId) -> Option<&Device> {
    let system = &subject.system;
    system.device_at(dev).or_else(|| system.device(&subject.name(dev)))
}

/// The dm device of these operations: `on` itself, or the only dm device that was recorded.
fn mapped(subject: &Subject, facts: &Facts, on: DevId) -> Option<DevId> {
    let is_dm = |dev: &DevId| settings(subject, *dev).is_some_and(|s| s.attribute("dm/name").is_some());
    let below: Vec<DevId> = facts.devices.iter().map(|d| d.id).filter(is_dm).collect();
    match is_dm(&on) {
        true => Some(on),
        false => <[DevId; 1]>::try_from(below).ok().map(|[dev]| dev),
    }
}

impl InMapper {
    fn of(device: String, settings: &Device, share: f64) -> InMapper {
        let mapped = settings.attribute("dm/name").map_or_else(|| device.clone(), |n| n.value);
        let uuid = settings.attribute("dm/uuid");
        let kind = uuid.and_then(|uuid| {
            let (_, kind) = KINDS.iter().find(|(begins, _)| uuid.value.starts_with(begins))?;
            Some((*kind, uuid.at.to_string()))
        });
        InMapper { device, mapped, kind, share }
    }

    /// A clause for the screen, without a full stop.
    pub fn words(&self) -> String {
        let InMapper { device, mapped, .. } = self;
        let what = match &self.kind {
            Some((kind, at)) => format!("it is {kind} (dm/uuid, {at})"),
            None => "its device-mapper target was not recorded".into(),
        };
        let percent = percent(self.share);
        format!(
            "{percent} of it was spent in {device} itself, and no cause here explains that: {what}; \
             see dmsetup table {mapped}"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explanation::Explanation;
    use crate::texts::Texts;
    use causes::{Claim, Verdict};
    use life::Class;
    use stats::{Group, Slowest};

    fn said(settings: &str) -> String {
        let mut system = evidence::System::default();
        assert!(system.add_document("queue-dm-0.txt", settings.as_bytes()));
        InMapper::of("dm-0".into(), system.device("dm-0").unwrap(), 0.86).words()
    }

    #[test]
    fn the_uuid_tells_the_kind_and_where_it_does_not_that_is_said() {
        let lvm = said("dm-0/dm/name: vg-root\ndm-0/dm/uuid: LVM-x\n");
        assert!(
            lvm.starts_with(
                "86 % of it was spent in dm-0 itself, and no cause here explains that: it is LVM"
            ),
            "{lvm}"
        );
        assert!(lvm.ends_with("see dmsetup table vg-root"), "{lvm}");
        let late = said("dm-0/dm/name: late\n");
        assert!(late.contains("its device-mapper target was not recorded"), "{late}");
    }

    /// The shares that remain for two groups of operations on dm-0 that took 1 s in all, 400 ms of it for the first group in
    /// device-mapper itself. Each claim is (group, reason, ms).
    fn left(claims: &[(usize, Reason, u64)]) -> Vec<f64> {
        let dev = DevId::new(253, 0);
        let mut e = Explanation::of_texts(Texts::default());
        assert!(e.subject.system.add_document("queue-dm-0.txt", b"dm-0/dm/name: vg-root\n"));
        e.subject.file_names.push((dev, "dm-0".into()));
        for (stacking, device) in [(400, 200), (0, 400)] {
            let mut tail = Slowest::default();
            let time = &mut tail.sum.time;
            time.count(Nanos((stacking + device) * 1_000_000));
            time.spend(Reason::Stacking, Nanos(stacking * 1_000_000));
            time.spend(Reason::Device, Nanos(device * 1_000_000));
            let (task, none) = ("java".into(), Nanos(0));
            let all = tail.sum;
            e.focus.groups.push(Group {
                victims: vec![],
                task,
                dev,
                class: Class::Read,
                op: None,
                operations: 1,
                lost: none,
                longest: none,
                unknown: none,
                tail,
                all,
            });
        }
        let claim = |&(group, reason, ms): &(usize, Reason, u64)| Claim {
            group,
            row: 0,
            reason,
            time: Nanos(ms * 1_000_000),
        };
        let claims = claims.iter().map(claim).collect();
        e.verdicts.push(Verdict { claims, ..Verdict::rejected("any", "any") });
        unexplained(&e.subject, &e.facts, &e.focus, &e.verdicts).iter().map(|left| left.share).collect()
    }

    #[test]
    fn what_is_left_unexplained_is_its_own_time_less_what_causes_claim_of_that() {
        assert_eq!(left(&[]), [0.4]);
        assert_eq!(left(&[(0, Reason::Stacking, 100)]), [0.3]);
        // Claims of time in the device below, or of the other group, do not count.
        assert_eq!(left(&[(0, Reason::Device, 200), (1, Reason::Stacking, 300)]), [0.4]);
        // Less than a tenth is not reported.
        assert!(left(&[(0, Reason::Stacking, 310)]).is_empty());
    }
}
