//! When the kernel starts to write dirty pages back, and when it throttles writers, by the host's settings
//! (Documentation/admin-guide/sysctl/vm.rst): a proposal to start earlier must not start later, nor one to allow more allow less.

use crate::case::Case;
use trace::Bytes;

/// Whether writeback starts at more than this many dirty bytes, and would start at these; true if that is not known. A background limit
/// that is not below the limit counts as half of it (`domain_dirty_limits`, mm/page-writeback.c).
pub(crate) fn begins_after(case: &Case, bytes: Bytes) -> bool {
    let is_below = limit(case, ["dirty_bytes", "dirty_ratio"]).is_none_or(|most| bytes < most);
    is_below
        && limit(case, ["dirty_background_bytes", "dirty_background_ratio"]).is_none_or(|now| now > bytes)
}

/// Whether this many dirty bytes are more than is allowed now, and at most half of memory; what is not known does not count against it.
pub(crate) fn has_room_for(case: &Case, bytes: Bytes) -> bool {
    let is_more = limit(case, ["dirty_bytes", "dirty_ratio"]).is_none_or(|now| now < bytes);
    is_more && case.system.memory_bytes().is_none_or(|memory| bytes.0 <= memory.value.0 / 2)
}

/// A limit in bytes, or, if that is 0, in percent of memory; `None` if it is not known.
fn limit(case: &Case, [bytes, ratio]: [&str; 2]) -> Option<Bytes> {
    if let Some(bytes) = case.system.vm_number(bytes).filter(|bytes| bytes.value > 0) {
        return Some(Bytes(bytes.value));
    }
    let (ratio, memory) = (case.system.vm_number(ratio)?, case.system.memory_bytes()?);
    Some(Bytes(memory.value.0 / 100 * ratio.value))
}

#[cfg(test)]
#[test]
fn limits_are_bytes_or_a_part_of_memory() {
    let gib = |n: u64| Bytes(n << 30);
    let of = |vm: &str| {
        let mut recording = crate::trace_builder::TraceBuilder::default();
        recording.document(
            "system.json",
            &format!(r#"{{"before": {{"memory_bytes": {}, "vm": {vm}}}}}"#, gib(10).0),
        );
        let mut built = crate::op_builder::OpBuilder::default();
        built.over(recording);
        built.asked(|case| {
            (limit(case, ["dirty_bytes", "dirty_ratio"]), [1, 3, 6].map(|n| has_room_for(case, gib(n))))
        })
    };
    let a_fifth = Some(Bytes(gib(10).0 / 100 * 20));
    assert_eq!(of(r#"{"dirty_bytes": "0", "dirty_ratio": "20"}"#), (a_fifth, [false, true, false]));
    assert_eq!(
        of(r#"{"dirty_bytes": "4096", "dirty_ratio": "0"}"#),
        (Some(Bytes(4096)), [true, true, false])
    );
    assert_eq!(of("{}"), (None, [true, true, false]), "not known, but for the memory");
}
