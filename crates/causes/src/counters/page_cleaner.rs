//! InnoDB's page cleaner that takes much longer than the second that it has: suspected `device-saturated`.
//!
//! It writes its pages many at a time, so that a disk that takes long for each of them takes all that it can. A few pages say nothing: a
//! machine that was suspended, or has no processor for it, logs such a loop, too. If most loops were of that kind, nothing is suspected.
//!
//! Example: a page cleaner that wrote its pages in 4.5 ms each.

use super::place::rows;
use crate::proof::{proof, Proof};
use crate::remedy::Action;
use crate::thresholds::WBT_FLASH;
use crate::verdict::Verdict;
use tooltext::ToolOutput;
use trace::Nanos;

/// Loops that were late, with pages or without their number.
const LATE: &str = "InnoDB page cleaner";
const LATE_FOR_NOTHING: &str = "InnoDB cleaner, no pages";

/// Suspected if each page took longer than Linux expects of flash, unless as many loops were late that wrote hardly any.
pub(super) fn judge(outputs: &[ToolOutput]) -> Option<Verdict> {
    let of = |outputs: &[ToolOutput], kind| {
        let counts = rows(outputs, "database log").filter(|(_, row)| row.of == kind);
        counts.filter_map(|(_, row)| row.value("count")).sum::<f64>() as u64
    };
    outputs.iter().map(std::slice::from_ref).find_map(|log| {
        let (written, hardly_any) = (of(log, LATE), of(log, LATE_FOR_NOTHING));
        let pages = rows(log, "database log").filter(|(_, row)| row.of == "InnoDB page written");
        let mut slow = pages.filter_map(|(place, row)| Some((place, row.get("lat.mean")?)));
        let (place, mean) = slow.find(|(_, mean)| mean.value >= WBT_FLASH.0 as f64)?;
        let said = proof!(
            "InnoDB's page cleaner was late {times} and took {each} for each page that it wrote ({at})",
            times = Counted(written + hardly_any, "time", "times"),
            each = Nanos(mean.value as u64),
            at = Source(place.at(mean))
        );
        (written > hardly_any).then(|| suspected(said))
    })
}

fn suspected(said: Proof) -> Verdict {
    let missing = "what the disk takes for a write alone, and who else loads it: iowhy record while it is so; iostat -x 1";
    Verdict::cannot_tell("device-saturated", missing)
            .because(said)
            .try_this(
                "how long the disk's queue is meanwhile, and who fills it",
                Action::look("iostat -x 1 10; pidstat -d 1 10"),
            )
            .try_this(
                "whether InnoDB writes more at once than the disk takes (innodb_io_capacity, innodb_io_capacity_max, innodb_lru_scan_depth)",
                Action::look("mysql -e \"SHOW GLOBAL VARIABLES WHERE Variable_name LIKE 'innodb_io_cap%' OR Variable_name = 'innodb_lru_scan_depth'\""),
            )
}

#[cfg(test)]
mod tests {
    use crate::counters::judge_counters;
    use tooltext::ToolOutput;

    #[test]
    fn slow_pages_are_suspicious_and_a_machine_that_slept_is_not() {
        let line = |ms: u32, pages: u32| {
            format!("InnoDB: page_cleaner: 1000ms intended loop took {ms}ms. The settings might not be optimal. (flushed={pages} and evicted=0, during the time.)\n")
        };
        let told = |log: String| {
            let all = judge_counters(&[ToolOutput::read("log", log.as_bytes())]);
            all.into_iter().map(|v| (v.cause, v.evidence[0].sentence())).collect::<Vec<_>>()
        };
        let of = |ms, pages| told(line(ms, pages).repeat(2));
        let said =
            "InnoDB's page cleaner was late 2 times and took 4.5 ms for each page that it wrote (log:1)";
        assert_eq!(of(9000, 2000), [("device-saturated", said.to_owned())]);
        assert_eq!((of(1900, 2000), of(1_949_000, 7)), (vec![], vec![]));
        // The time of each page is that of all: 10 s for 1,000; as many loops as those two were late for nothing.
        let two = line(1000, 900) + &line(9000, 100);
        let said =
            "InnoDB's page cleaner was late 3 times and took 10 ms for each page that it wrote (log:1)";
        assert_eq!(told(two.clone() + &line(8000, 7)), [("device-saturated", said.to_owned())]);
        assert_eq!(told(two + &line(8000, 7) + &line(9000, 0)), []);
    }
}
