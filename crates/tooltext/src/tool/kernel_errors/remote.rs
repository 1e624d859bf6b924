//! Storage on other machines in the kernel's log: the peers of DRBD, the servers of Lustre and Ceph, and who speaks of which.
//!
//! ```text
//! block drbd0: Remote failed to finish a request within ko-count * timeout                          drbd0: missed answers
//! drbd r0 node2: PingAck did not arrive in time.                                                    drbd r0: missed answers
//! drbd r0: peer( Secondary -> Unknown ) conn( Connected -> NetworkFailure )                         the same again
//! block drbd0: local WRITE IO error sector 1234+8 on sdb1                                           sdb1: I/O errors
//! Lustre: 812:0:(client.c:2310:ptlrpc_expire_one_request()) @@@ Request sent has timed out for slow reply: [sent 17/real 17]  req@0 x1/t0(0)
//!     o4->fs-OST0001-osc-ffff8800@10.0.0.1@tcp:6/4 lens 488/448                                     Lustre server fs-OST0001: missed answers
//! Lustre: fs-OST0001-osc-ffff8800: Connection to fs-OST0001 (at 10.0.0.1@tcp) was lost; ...         Lustre server fs-OST0001: missed answers
//! LustreError: 11-0: fs-OST0001-osc-ffff8800: operation ost_write to node 10.0.0.1@tcp failed: rc = -107   the same again
//! Lustre: ost_io: This server is not able to keep up with request traffic (cpu-bound).              Lustre service ost_io: missed answers
//! ceph: mds0 hung                                                                                   server mds0: missed answers
//! ```
//!
//! What these lines say is in `says.rs`.

use super::says::By;
use super::*;

/// Words of a line of Lustre's within which the request stands.
const LONGEST: usize = 24;

/// The speaker at the start of a line, of which device or server, and the number of words that say so.
pub(super) fn speaker(words: &[Word]) -> Option<(By, String, usize)> {
    let text = |i: usize| words.get(i).map_or("", |w| w.text);
    match text(0) {
        "block" | "drbd" => drbd(words),
        "Lustre:" | "LustreError:" => Some((By::Lustre, lustre(words)?, 1)),
        "ceph:" if text(1).starts_with("mds") => Some((By::Server, format!("server {}", text(1)), 2)),
        _ => None,
    }
}

/// DRBD names a volume (`block drbd0:`, `drbd r0/0 drbd0:`) or a resource, perhaps with its peer: `drbd r0:`, `drbd r0 node2:`.
fn drbd(words: &[Word]) -> Option<(By, String, usize)> {
    let text = |i: usize| words.get(i).map_or("", |w| w.text);
    let volume = |name: &str| {
        let number = name.strip_prefix("drbd").unwrap_or("");
        !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit())
    };
    let end = (1..4).find(|i| text(*i).ends_with(':'))?;
    let names = || (1..=end).map(|i| text(i).trim_end_matches(':'));
    let named = names().find(|name| volume(name)).map(str::to_owned);
    let resource = || text(1).trim_end_matches(':').split('/').next().unwrap_or("");
    let device = match text(0) {
        "block" => named?,
        _ => named.unwrap_or_else(|| format!("drbd {}", resource())),
    };
    // The member below the volume has the error: `local WRITE IO error sector 1234+8 on sdb1`.
    let said: Vec<&str> = words.iter().skip(end + 1).take(LONGEST).map(|w| w.text).collect();
    let member = match said.as_slice() {
        ["local", _, "IO", "error", "sector", _, "on", member, ..] => {
            evidence::is_device_name(member).then_some(*member)
        }
        _ => None,
    };
    Some((By::Drbd, member.map_or(device, str::to_owned), end + 1))
}

/// The server that Lustre speaks of: that of a request, that of a connection, or a service of this machine.
fn lustre(words: &[Word]) -> Option<String> {
    let text = |i: usize| words.get(i).map_or("", |w| w.text);
    // `fs-OST0001-osc-ffff8800` is the client's name for fs-OST0001.
    let target = |name: &str| {
        let end =
            ["-osc", "-mdc", "-mgc"].iter().filter_map(|kind| name.find(kind)).min().unwrap_or(name.len());
        let name = &name[..end];
        let usual = |c: char| c.is_alphanumeric() || ['.', '-', '_'].contains(&c);
        ((1..=LONGEST).contains(&name.len()) && name.chars().all(usual)).then(|| name.to_owned())
    };
    let service = text(1).strip_suffix(':');
    match [text(2), text(3)] {
        ["Connection", "to"] => Some(format!("Lustre server {}", target(text(4))?)),
        // 107 is ENOTCONN, 110 ETIMEDOUT.
        [of, "operation"] => Some(format!("Lustre server {}", target(of.strip_suffix(':')?)?)),
        ["This", "server"] => Some(format!("Lustre service {}", target(service?)?)),
        _ if text(1).contains("ptlrpc_expire_one_request") => {
            let request = words.iter().take(LONGEST).find_map(|w| w.text.split_once("->")).map(|(_, to)| to);
            let of = request.and_then(|to| target(to.split('@').next()?));
            Some(of.map_or_else(|| "Lustre server".into(), |of| format!("Lustre server {of}")))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use crate::tool::testing::{all, one};

    fn count(text: &str, of: &str, kind: &str) -> Option<f64> {
        one(text, "kernel log").row(of).and_then(|row| row.value(kind))
    }

    #[test]
    fn a_peer_of_drbd_that_does_not_answer_is_counted_once() {
        let text = "[7.0] block drbd0: Remote failed to finish a request within ko-count * timeout\n\
            [8.0] drbd r1 node2: PingAck did not arrive in time.\n\
            [8.1] drbd r1 node2: conn( Connected -> NetworkFailure ) peer( Secondary -> Unknown )\n\
            [9.0] drbd r2/0 drbd7: Remote failed to finish a request within 42000ms > ko-count (7) * timeout (60 * 0.1s)\n\
            [9.5] drbd r3: conn( Connected -> Disconnecting )\n";
        let reading = one(text, "kernel log");
        let rows: Vec<_> = reading.rows.iter().map(|r| (r.of.as_str(), r.value("missed answers"))).collect();
        assert_eq!(rows, [("drbd0", Some(1.0)), ("drbd r1", Some(1.0)), ("drbd7", Some(1.0))]);
    }

    #[test]
    fn an_error_below_drbd_is_the_members() {
        let text = "[1.0] block drbd0: local WRITE IO error sector 1234+8 on sdb1\n[1.1] block drbd0: disk( UpToDate -> Failed )\n";
        assert_eq!(count(text, "sdb1", "I/O errors"), Some(1.0));
        let own = "[1.0] block drbd0: Local backing device failed to meet the disk-timeout\n";
        assert_eq!(count(own, "drbd0", "timeouts"), Some(1.0));
    }

    #[test]
    fn servers_of_lustre_and_ceph_are_named() {
        let lost = "[1.0] Lustre: fs-OST0001-osc-ffff8800: Connection to fs-OST0001 (at 10.0.0.1@tcp) was lost; in progress operations using this \
            service will wait for recovery to complete\n[2.0] Lustre: fs-OST0001-osc-ffff8800: Connection restored to fs-OST0001 (at 10.0.0.1@tcp)\n";
        assert_eq!(count(lost, "Lustre server fs-OST0001", "missed answers"), Some(1.0));
        let late = "[1.0] Lustre: 812:0:(client.c:2310:ptlrpc_expire_one_request()) @@@ Request sent has timed out for slow reply: [sent 17/real 17]  \
            req@0 x1/t0(0) o4->fs-OST0001-osc-ffff8800@10.0.0.1@tcp:6/4 lens 488/448 e 2 to 1 dl 17 ref 2\n";
        assert_eq!(count(late, "Lustre server fs-OST0001", "missed answers"), Some(1.0));
        let cut = "[1.0] Lustre: 812:0:(client.c:1868:ptlrpc_expire_one_request()) @@@ Request sent has timed out for slow reply: [sent 17/real 17]\n";
        assert_eq!(count(cut, "Lustre server", "missed answers"), Some(1.0));
        let busy =
            "[1.0] Lustre: ost_io: This server is not able to keep up with request traffic (cpu-bound).\n";
        assert_eq!(count(busy, "Lustre service ost_io", "missed answers"), Some(1.0));
        assert_eq!(count("[1.0] ceph: mds0 hung\n", "server mds0", "missed answers"), Some(1.0));
    }

    #[test]
    fn other_lines_of_these_drivers_are_no_errors() {
        for text in [
            "[1.0] drbd r0: Handshake successful: Agreed network protocol version 101\n",
            "[1.0] block drbd0: peer( Unknown -> Secondary ) conn( WFReportParams -> WFBitMapS )\n",
            "[1.0] Lustre: Mounted fs-client\n",
            "[1.0] Lustre: fs-OST0001: Client 7a (at 10.0.0.2@tcp) reconnecting\n",
            "drbd said that Remote failed to finish a request within some time\n",
        ] {
            assert!(all(text, "kernel log").is_empty(), "{text}");
        }
    }
}
