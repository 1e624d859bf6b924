//! What `io.max` of a control group takes (version 2): a limit on the I/O to one device.

/// A limit for one device; a limit of 0 is none.
pub(crate) enum Limit {
    /// Bytes a second: of reads, of writes.
    Bytes([u64; 2]),
    /// Requests a second: of reads, of writes.
    Operations([u64; 2]),
}

impl Limit {
    /// As properties of a systemd unit (systemd.resource-control(5)), for the device `dev`.
    pub fn properties(&self, dev: &str) -> Vec<String> {
        let (unit, [reads, writes]) = match self {
            Limit::Bytes(limits) => ("BandwidthMax", limits),
            Limit::Operations(limits) => ("IOPSMax", limits),
        };
        let set = [("Read", reads), ("Write", writes)].into_iter().filter(|(_, limit)| **limit > 0);
        set.map(|(way, limit)| format!("IO{way}{unit}=\"/dev/{dev} {limit}\"")).collect()
    }

    /// As `io.max` takes it (Documentation/admin-guide/cgroup-v2.rst), without the device's number.
    pub fn of_group(&self) -> String {
        let (keys, limits) = match self {
            Limit::Bytes(limits) => (["rbps", "wbps"], limits),
            Limit::Operations(limits) => (["riops", "wiops"], limits),
        };
        let set = keys.iter().zip(limits).filter(|(_, limit)| **limit > 0);
        set.map(|(key, limit)| format!("{key}={limit}")).collect::<Vec<_>>().join(" ")
    }
}

#[cfg(test)]
#[test]
fn a_limit_is_of_what_is_done() {
    let of = |limits| Limit::Operations(limits).properties("sda");
    assert_eq!(of([20, 0]), ["IOReadIOPSMax=\"/dev/sda 20\""]);
    assert_eq!(of([20, 5]), ["IOReadIOPSMax=\"/dev/sda 20\"", "IOWriteIOPSMax=\"/dev/sda 5\""]);
    assert_eq!(Limit::Operations([20, 5]).of_group(), "riops=20 wiops=5");
    assert_eq!(Limit::Bytes([0, 5]).of_group(), "wbps=5");
}
