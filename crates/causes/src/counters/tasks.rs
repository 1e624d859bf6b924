//! Names of waiting tasks, as sentences list them.

use std::collections::BTreeMap;

/// The most names in one sentence.
const MOST: usize = 5;

/// Those with the most tasks first: `fio (2), kworker`; with `, ...` if there are more. A name may end with the number of the task:
/// `fio:4711`.
pub(super) fn listed<'a>(tasks: impl Iterator<Item = &'a str>) -> String {
    let mut names: BTreeMap<&str, u64> = BTreeMap::new();
    for task in tasks {
        *names.entry(task.rsplit_once(':').map_or(task, |(name, _)| name)).or_default() += 1;
    }
    let mut by_number: Vec<(&str, u64)> = names.into_iter().collect();
    by_number.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
    let one = |(name, n): &(&str, u64)| if *n > 1 { format!("{name} ({n})") } else { (*name).to_owned() };
    let named: Vec<String> = by_number.iter().take(MOST).map(one).collect();
    named.join(", ") + if by_number.len() > MOST { ", ..." } else { "" }
}

#[cfg(test)]
mod tests {
    use super::listed;

    #[test]
    fn the_most_tasks_first_and_what_is_left_out_is_said() {
        assert_eq!(listed(["dd:1", "fio:2", "fio:3"].into_iter()), "fio (2), dd");
        let many: Vec<String> = (0..6).map(|i| format!("t{i}")).collect();
        assert_eq!(listed(many.iter().map(String::as_str)), "t0, t1, t2, t3, t4, ...");
    }
}
