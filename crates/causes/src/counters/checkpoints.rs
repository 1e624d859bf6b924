//! Checkpoints that a database has to make because its log is full: suspected `writeback-flood`.
//!
//! PostgreSQL complains if checkpoints that the amount of log asks for are closer than `checkpoint_warning` (30 s by default,
//! src/backend/postmaster/checkpointer.c). Each writes and syncs all that changed since the one before, and after each the log has whole
//! pages again. Whether others wait for that is not in the log: never more than a suspicion.

use super::place::rows;
use crate::proof::proof;
use crate::remedy::Action;
use crate::verdict::Verdict;
use tooltext::ToolOutput;
use trace::Nanos;

/// Suspected if PostgreSQL complains twice.
pub(super) fn judge(outputs: &[ToolOutput]) -> Option<Verdict> {
    let (place, row) = rows(outputs, "database log").find(|(_, row)| row.of == "checkpoints apart")?;
    let (count, mean) = (row.get("count")?, row.get("lat.mean")?);
    if count.value < 2.0 {
        return None;
    }
    let missing =
        "whether I/O waits for what checkpoints write: sudo iowhy record -o slow while they come so often";
    let told = proof!(
        "PostgreSQL made {n} only {apart} after the one before, on average ({at})",
        n = Counted(count.value as u64, "checkpoint", "checkpoints"),
        apart = Nanos(mean.value as u64),
        at = Source(place.at(count))
    );
    Some(Verdict::cannot_tell("writeback-flood", missing).because(told).try_this(
        "more log between checkpoints: then they come by time (checkpoint_timeout) and spread their writes; costs disk space, and a longer \
         recovery after a crash",
        Action::look("psql -c 'SHOW max_wal_size' -c 'SHOW checkpoint_timeout'"),
    ))
}

#[cfg(test)]
mod tests {
    use crate::counters::judge_counters;
    use tooltext::ToolOutput;

    #[test]
    fn checkpoints_that_follow_one_another_are_suspicious() {
        let line = |s: u32| format!("LOG:  checkpoints are occurring too frequently ({s} seconds apart)\n");
        let of = |text: String| {
            let all = judge_counters(&[ToolOutput::read("pg.log", text.as_bytes())]);
            all.into_iter().find(|v| v.cause == "writeback-flood")
        };
        let v = of(line(2) + &line(4)).expect("a suspicion");
        assert_eq!(
            v.evidence[0].sentence(),
            "PostgreSQL made 2 checkpoints only 3 s after the one before, on average (pg.log:1)"
        );
        assert!(v.remedies[0].command().contains("max_wal_size"));
        assert!(of(line(29)).is_none(), "one may be a batch");
    }
}
