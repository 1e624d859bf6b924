//! Operations on a file system of a server, from nfsiostat: suspected `slow-device` if the server's answers take long, `device-saturated`
//! if the operations wait in this machine before they are sent.
//!
//! `rtt` is the time from sending to the answer: the network and the server together. `exe` begins with the call; what it is longer by,
//! an operation waits for a slot of the connection (`rpc_wait_queue backlog`, net/sunrpc/xprt.c). A mean since the mount may be of another
//! time, and the text does not tell network and server apart: never more than a suspicion.
//!
//! Example: the server of /mnt/nfs answers reads after 912 ms; to be sent they wait 2.9 ms.

use super::place::{readings, In};
use super::say::number;
use super::thresholds::busy::LONG_WAIT;
use crate::proof::proof;
use crate::remedy::Action;
use crate::verdict::Verdict;
use tooltext::{Number, Reading, Row, ToolOutput};
use trace::Nanos;

/// Operations of one kind on one mount.
struct Operations<'a> {
    place: In<'a>,
    reading: &'a Reading,
    row: &'a Row,
    rtt: Number,
    exe: Number,
}

impl Operations<'_> {
    fn rate(&self) -> f64 {
        self.row.value("ops/s").unwrap_or(0.0)
    }

    /// How long each waits before it is sent.
    fn queued(&self) -> Nanos {
        Nanos((self.exe.value - self.rtt.value).max(0.0) as u64)
    }

    /// The mount point; the end of a long one.
    fn mount(&self) -> &str {
        let name = self.reading.name.as_str();
        match name.rsplit('/').next() {
            _ if name.is_empty() => "an NFS mount",
            Some(last) if name.len() > LONGEST_MOUNT && !last.is_empty() => last,
            _ => name,
        }
    }
}

/// Longer mount points, such as Kubernetes', are named by their last part.
const LONGEST_MOUNT: usize = 40;

fn all(outputs: &[ToolOutput]) -> impl Iterator<Item = Operations<'_>> {
    readings(outputs, "nfsiostat").flat_map(|(place, reading)| {
        let of = move |row| {
            Some(Operations { place, reading, row, rtt: Row::get(row, "rtt")?, exe: row.get("exe")? })
        };
        reading.rows.iter().filter_map(of).filter(|o| o.rate() > 0.0)
    })
}

/// The operations that take the most time in all.
fn most<'a>(
    all: impl Iterator<Item = Operations<'a>>,
    each: impl Fn(&Operations) -> f64,
) -> Option<Operations<'a>> {
    all.max_by(|a, b| f64::total_cmp(&(a.rate() * each(a)), &(b.rate() * each(b))))
}

/// A server, or the network to it, that answers late.
pub(super) fn answers_late(outputs: &[ToolOutput]) -> Option<Verdict> {
    let late = all(outputs).filter(|o| o.rtt.value >= LONG_WAIT.0 as f64);
    let o = most(late, |o| o.rtt.value)?;
    let said = proof!(
        "{mount}: the server answers {kind}s after {rtt} on average ({at}); to be sent they wait {queued}",
        kind = o.row.of.as_str(),
        mount = o.mount(),
        rtt = number(o.rtt),
        at = Source(o.place.at(o.rtt)),
        queued = o.queued()
    );
    Some(
        Verdict::cannot_tell("slow-device", WHICH)
            .confirmed_by(LOOK)
            .because(said)
            .try_this(
                "whether the server's disks take this time: on the server",
                Action::look("iostat -x 1 10"),
            )
            .try_this(
                "or the network: packets sent again, and the round trip of each connection",
                Action::look("nfsstat -rc; ss -tin 'dport = :2049'"),
            ),
    )
}

/// Operations that wait in this machine for longer than the server takes.
pub(super) fn waits_to_be_sent(outputs: &[ToolOutput]) -> Option<Verdict> {
    let waits = |o: &Operations| o.queued() >= LONG_WAIT && o.queued().0 as f64 > o.rtt.value;
    let o = most(all(outputs).filter(waits), |o| o.exe.value)?;
    let said = proof!(
        "{mount}: {kind}s wait {queued} to be sent ({at}); the server answers after {rtt}",
        kind = o.row.of.as_str(),
        mount = o.mount(),
        queued = o.queued(),
        at = Source(o.place.at(o.exe)),
        rtt = number(o.rtt)
    );
    Some(Verdict::cannot_tell("device-saturated", WHY).confirmed_by(LOOK).because(said).try_this(
        "how many operations may be under way at once, and over how many connections (mount option nconnect, Linux 5.3)",
        Action::look("grep . /proc/sys/sunrpc/tcp_*slot_table_entries; grep -o 'nconnect=[0-9]*' /proc/mounts"),
    ))
}

const LOOK: &str = "nfsiostat 1 10";
const WHICH: &str =
    "whether the server or the network takes it, and whether it is so now: nfsiostat 1 10; on the server iostat -x 1 10";
const WHY: &str = "who sends so many, and whether it is so now: nfsiostat 1 10";

#[cfg(test)]
mod tests {
    use crate::counters::judge_counters;
    use tooltext::ToolOutput;

    fn said(rtt: f64, exe: f64) -> Vec<(&'static str, String)> {
        let text = format!(
            "10.0.0.5:/export mounted on /mnt/nfs:\n\n           ops/s       rpc bklog\n         120.400           0.000\n\n\
             read:              ops/s            kB/s           kB/op         retrans    avg RTT (ms)    avg exe (ms)\n\
             \x20                 40.200        5145.600         128.000        0 (0.0%)         {rtt:.3}         {exe:.3}\n"
        );
        let all = judge_counters(&[ToolOutput::read("out", text.as_bytes())]);
        all.into_iter().map(|v| (v.cause, v.evidence[0].sentence())).collect()
    }

    #[test]
    fn late_answers_and_long_queues_are_suspected() {
        let late =
            "/mnt/nfs: the server answers reads after 912 ms on average (out:7); to be sent they wait 2.9 ms";
        assert_eq!(said(912.4, 915.3), [("slow-device", late.to_owned())]);
        let queued = "/mnt/nfs: reads wait 300 ms to be sent (out:7); the server answers after 10 ms";
        assert_eq!(said(10.0, 310.0), [("device-saturated", queued.to_owned())]);
    }

    #[test]
    fn a_quick_server_and_a_short_queue_are_not() {
        assert_eq!(said(3.7, 3.8), []);
        assert_eq!(said(70.0, 140.0), [], "neither takes long by itself");
        assert_eq!(said(80.0, 160.0).len(), 1, "the server takes no less than the queue");
    }
}
