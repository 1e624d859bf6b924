//! A Ceph cluster that does not serve a part of its data: suspected `link-reset`, or `file-system-error` if disks are full.
//!
//! Operations on a placement group that is inactive wait until enough of its disks' daemons (OSDs) are back, however fast the disks are; with
//! a full one, all writes wait. Daemons that are down alone make nothing wait.

use super::place::{rows, In};
use crate::proof::{proof, Quantity};
use crate::remedy::Action;
use crate::verdict::Verdict;
use tooltext::{Number, Row, ToolOutput};

fn most<'a>(outputs: &'a [ToolOutput], kind: &str) -> Option<(In<'a>, &'a Row, Number)> {
    let all = rows(outputs, "ceph health").filter_map(|(place, row)| Some((place, row, row.get(kind)?)));
    all.filter(|(_, _, n)| n.value > 0.0).max_by(|a, b| a.2.value.total_cmp(&b.2.value))
}

/// Placement groups that serve nothing, or not all of their objects.
pub(super) fn inactive(outputs: &[ToolOutput]) -> Option<Verdict> {
    let serve_nothing = most(outputs, "pgs inactive").or_else(|| most(outputs, "pgs down"));
    let (place, row, _) = serve_nothing.or_else(|| most(outputs, "pgs unfound"))?;
    let inactive = serve_nothing.map(|(place, _, n)| {
        proof!(
            "{groups} of Ceph inactive ({at}): operations on them wait until their OSDs are back",
            groups = groups(n),
            at = Source(place.at(n))
        )
    });
    let unfound = most(outputs, "pgs unfound").map(|(place, _, n)| {
        proof!(
            "{groups} of Ceph without some objects ({at}): operations on these wait until an OSD that has them is back",
            groups = groups(n),
            at = Source(place.at(n))
        )
    });
    let v = Verdict::cannot_tell(
        "link-reset",
        "which OSDs are missing and why: ceph health detail, and their hosts",
    )
    .confirmed_by("ceph health detail");
    let v = inactive.into_iter().chain(unfound).fold(v, Verdict::because);
    let v = match row.get("osds down") {
        Some(down) => v.because(proof!(
            "{n} down ({at})",
            n = Counted(down.value as u64, "OSD is", "OSDs are"),
            at = Source(place.at(down))
        )),
        None => v,
    };
    Some(v.try_this(
        "which groups wait for which OSDs, and which of these are down",
        Action::look("ceph health detail; ceph osd tree down; ceph pg dump_stuck inactive"),
    ))
}

fn groups(n: Number) -> Quantity {
    Quantity::Counted(n.value as u64, "placement group", "placement groups")
}

/// Disks without space.
pub(super) fn full(outputs: &[ToolOutput]) -> Option<Verdict> {
    let (place, _, n) = most(outputs, "osds full")?;
    let said = proof!(
        "{n} of Ceph full ({at}): the cluster takes no more writes",
        n = Counted(n.value as u64, "OSD is", "OSDs are"),
        at = Source(place.at(n))
    );
    Some(
        Verdict::cannot_tell(
            "file-system-error",
            "which OSD it is, and how full the others are: ceph osd df",
        )
        .confirmed_by("ceph osd df")
        .because(said)
        .try_this("how full each OSD is", Action::look("ceph osd df; ceph health detail")),
    )
}

#[cfg(test)]
mod tests {
    use crate::counters::judge_counters;
    use tooltext::ToolOutput;

    fn judged(text: &str) -> Vec<(&'static str, String)> {
        let all = judge_counters(&[ToolOutput::read("status", text.as_bytes())]);
        all.into_iter().map(|v| (v.cause, v.evidence[0].sentence())).collect()
    }

    #[test]
    fn data_that_is_not_served_is_waited_for() {
        let text = " health: HEALTH_WARN\n 1 osds down\n Reduced data availability: 33 pgs inactive, 33 pgs peering\n";
        let said =
            "33 placement groups of Ceph inactive (status:3): operations on them wait until their OSDs are back";
        assert_eq!(judged(text), [("link-reset", said.to_owned())]);
        assert_eq!(judged(" health: HEALTH_ERR\n 1 full osd(s)\n")[0].0, "file-system-error");
    }

    #[test]
    fn objects_that_no_daemon_has_are_waited_for() {
        let text = "HEALTH_ERR Reduced data availability: 1 pg inactive; Possible data damage: 5 pgs recovery_unfound\n";
        let all = judge_counters(&[ToolOutput::read("status", text.as_bytes())]);
        let said: Vec<String> = all[0].evidence.iter().map(|proof| proof.sentence()).collect();
        assert!(said[0].starts_with("1 placement group of Ceph inactive"), "{said:?}");
        let unfound = "5 placement groups of Ceph without some objects (status:1): operations on these wait until an OSD that has them is back";
        assert_eq!(said[1], unfound);
        let alone = judged("Possible data damage: 5 pgs recovery_unfound\n");
        assert_eq!(alone, [("link-reset", unfound.to_owned())]);
    }

    #[test]
    fn less_redundancy_makes_nothing_wait() {
        assert_eq!(judged(" health: HEALTH_WARN\n 1 osds down\n"), []);
    }
}
