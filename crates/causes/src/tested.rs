//! What remedies achieved in tests: the load ran on a test disk as it was, and again after the command (docs/corpus.md,
//! "Proof by remedy").

/// A line for each test: the cause, words of the command, the scenario, the latency that fell and its ratio after to
/// before; a latency that rose and its ratio, if any. `lab` tests that this is what was measured.
const TESTS: &str = include_str!("tested.tsv");

/// What a remedy achieved in all of its tests.
#[derive(Clone, Debug, PartialEq)]
pub struct Tested {
    /// The number of tests, at least 1.
    pub tests: usize,
    /// The latency that fell, such as `reads p99`; `None` if it is not the same in all tests.
    pub latency: Option<&'static str>,
    /// Ratio of that latency after to before, 0 to 1: the smallest and the largest of all tests.
    pub times: [f64; 2],
    /// A latency that rose, and its ratio after to before: the smallest and the largest of all tests.
    pub slower: Option<(&'static str, [f64; 2])>,
}

/// One line of the table.
struct Test {
    latency: &'static str,
    times: f64,
    slower: Option<(&'static str, f64)>,
}

/// What a cause's remedy achieved, by its command; `None` if no such command was tested.
pub fn tested(cause: &str, command: &str) -> Option<Tested> {
    let fits = |line: &&'static str| {
        let mut fields = line.split('\t');
        fields.next() == Some(cause) && fields.next().is_some_and(|words| command.contains(words))
    };
    let all: Vec<Test> = TESTS.lines().skip(1).filter(fits).filter_map(read).collect();
    let first = all.first()?;
    let is_same = all.iter().all(|test| test.latency == first.latency);
    let slower = all.iter().find_map(|test| test.slower).map(|(latency, _)| {
        let times = all.iter().filter_map(|test| test.slower).map(|(_, times)| times);
        (latency, range(times))
    });
    Some(Tested {
        tests: all.len(),
        latency: is_same.then_some(first.latency),
        times: range(all.iter().map(|test| test.times)),
        slower,
    })
}

fn read(line: &'static str) -> Option<Test> {
    let fields: Vec<&str> = line.split('\t').collect();
    let [_, _, _, latency, times, slower, slower_times] = fields[..] else { return None };
    let slower = slower_times.parse().ok().map(|times| (slower, times));
    Some(Test { latency, times: times.parse().ok()?, slower })
}

fn range(times: impl Iterator<Item = f64> + Clone) -> [f64; 2] {
    [times.clone().fold(f64::INFINITY, f64::min), times.fold(0.0, f64::max)]
}

impl Tested {
    /// As a part of a sentence.
    ///
    /// Example: `in iowhy's 3 tests reads p99 fell to 5 to 34 %`.
    pub fn words(&self) -> String {
        let tests = match self.tests {
            1 => "in iowhy's test".to_string(),
            n => format!("in iowhy's {n} tests"),
        };
        let [least, most] = self.times.map(part);
        let to = match least {
            _ if least == most => most,
            _ if least.starts_with('<') => format!("at most {most}"),
            _ => format!("{} to {most}", least.trim_end_matches(" %")),
        };
        let slower = self.slower.map_or(String::new(), |(latency, [least, most])| {
            let to = if least == most { String::new() } else { format!("{least:.1} to ") };
            format!(", {latency} rose to {to}{most:.1} times")
        });
        format!("{tests} {} fell to {to}{slower}", self.latency.unwrap_or("latencies"))
    }
}

/// A ratio in percent; below 1 % no digits are shown.
fn part(times: f64) -> String {
    if times < 0.01 {
        "< 1 %".into()
    } else {
        format!("{:.0} %", times * 100.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_read_and_its_cause_is_one() {
        for line in TESTS.lines().skip(1) {
            let test = read(line).unwrap_or_else(|| panic!("{line}"));
            assert!(test.times < 1.0, "{line}");
            let cause = line.split('\t').next().unwrap();
            assert!(crate::all().iter().any(|c| c.name == cause), "{cause}");
        }
    }

    #[test]
    fn tests_of_the_same_command_are_told_together() {
        let told = tested("background-task", "kill -STOP $(pgrep -x 'cp')").unwrap();
        assert_eq!(told.words(), "in iowhy's 3 tests reads p99 fell to 5 to 34 %");
        let told = tested("stable-page", "echo 0 > /sys/block/sda/queue/stable_writes").unwrap();
        assert_eq!(told.words(), "in iowhy's test writes p99 fell to 42 %");
        let told = tested("writeback-throttle", "echo 0 > /sys/block/sda/queue/wbt_lat_usec").unwrap();
        assert_eq!(
            told.words(),
            "in iowhy's 2 tests latencies fell to 57 to 68 %, reads p99 rose to 2.0 to 7.2 times"
        );
        let told = tested("log-space", "mkfs.xfs -f -l size=512m /dev/NEW").unwrap();
        assert_eq!(told.words(), "in iowhy's test opens max fell to < 1 %");
    }

    #[test]
    fn another_command_or_cause_was_not_tested() {
        assert_eq!(tested("flush-cost", "strace -p PID"), None);
        assert_eq!(tested("healthy", "kill -STOP 1"), None);
    }
}
