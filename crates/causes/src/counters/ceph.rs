//! A Ceph cluster that does not serve a part of its data: suspected `link-reset`, or `file-system-error` if disks are full; `device-saturated` if
//! it serves some of it late.
//!
//! Operations on a placement group that is inactive wait until enough of its disks' daemons (OSDs) are back, however fast the disks are; with
//! a full one, all writes wait. Daemons that are down alone make nothing wait. Ceph reports a request that has waited for 30 s
//! (`osd_op_complaint_time`), and which daemon has it; that of a monitor is no I/O of a disk's.

use super::place::{rows, In};
use crate::proof::{proof, Quantity};
use crate::remedy::Action;
use crate::verdict::Verdict;
use tooltext::{Number, Row, ToolOutput};
use trace::Nanos;

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

/// The daemon of a disk, and how many others may be meant: `osd.12 +2`.
struct Osd<'a> {
    number: u32,
    others: Option<&'a str>,
}

impl Osd<'_> {
    fn of(name: &str) -> Option<Osd<'_>> {
        let (number, others) = match name.split_once(" +") {
            Some((number, others)) => (number, Some(others)),
            None => (name, None),
        };
        Some(Osd { number: number.strip_prefix("osd.")?.parse().ok()?, others })
    }

    fn told(&self) -> String {
        match self.others {
            Some(others) => format!("osd.{} or {others} more", self.number),
            None => format!("osd.{}", self.number),
        }
    }
}

/// Requests that have waited for so long that Ceph reports them, or its own complaints about its disks.
pub(super) fn late(outputs: &[ToolOutput]) -> Option<Verdict> {
    let all = rows(outputs, "database log").filter_map(|(place, row)| {
        let osd = row.of.strip_prefix("Ceph blocked: ").and_then(Osd::of)?;
        Some((place, osd, row.get("longest so far")?))
    });
    let longest = all.max_by(|a, b| a.2.value.total_cmp(&b.2.value));
    let said = match (&longest, most(outputs, "osds slow")) {
        (Some((place, osd, n)), _) => proof!(
            "a request of Ceph on {osd} had waited for {longest} ({at})",
            osd = osd.told(),
            longest = Nanos(n.value as u64),
            at = Source(place.at(*n))
        ),
        (None, Some((place, _, n))) => proof!(
            "{osds} slow operations of their own store, says Ceph ({at})",
            osds = Counted(n.value as u64, "OSD sees", "OSDs see"),
            at = Source(place.at(n))
        ),
        (None, None) => return None,
    };
    let first = longest.map_or("osd.N".to_owned(), |(_, osd, _)| format!("osd.{}", osd.number));
    let missing = "whether their disks, their hosts or the network are slow: iostat -x 1 on these hosts";
    Some(
        Verdict::cannot_tell("device-saturated", missing)
            .confirmed_by("iostat -x 1 10")
            .because(said)
            .try_this(
                "where such requests spent their time; on the daemon's host",
                Action::look(format!("ceph daemon {first} dump_historic_ops; ceph osd perf")),
            ),
    )
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
    fn requests_that_wait_for_a_disk_are_suspicious_and_those_of_a_monitor_are_not() {
        let line = "HEALTH_WARN 33 requests are blocked > 32 sec; 2 osds have slow requests\n\
            1 ops are blocked > 262.144 sec on osd.23\n32 ops are blocked > 32.768 sec on osd.11\n";
        let said = "a request of Ceph on osd.23 had waited for 262 s (status:2)";
        assert_eq!(judged(line), [("device-saturated", said.to_owned())]);
        let of = |daemons: &str| {
            judged(&format!("3 slow ops, oldest one blocked for 65 sec, {daemons} slow ops. (SLOW_OPS)\n"))
        };
        assert_eq!(
            of("daemons [osd.12,osd.6] have")[0].1,
            "a request of Ceph on osd.12 or 1 more had waited for 65 s (status:1)"
        );
        assert_eq!(of("daemons [mon.a,mon.b] have"), []);
        let own = judged("HEALTH_WARN 5 OSD(s) experiencing slow operations in BlueStore\n");
        assert_eq!(own[0].1, "5 OSDs see slow operations of their own store, says Ceph (status:1)");
    }

    #[test]
    fn less_redundancy_makes_nothing_wait() {
        assert_eq!(judged(" health: HEALTH_WARN\n 1 osds down\n"), []);
    }
}
