//! What is wrong with arrays of disks, from settings in a text (Documentation/admin-guide/md.rst).

use explain::{Answer, Explanation};
use std::collections::BTreeMap;
use trace::Bytes;
use units::words::{percent, size};

/// How bad a trouble is, the worst first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Grade {
    Failed,
    Missing,
    /// A disk is written anew; if another one fails until that is done, data may be lost.
    Rebuilt,
    Busy,
}

/// One trouble of an array.
struct Trouble {
    grade: Grade,
    /// As a clause: `md0 runs without a disk`.
    said: String,
    /// What follows it in the headline: how to learn more.
    look: String,
}

/// The state of an array.
#[derive(Default)]
struct Array<'a> {
    failed: BTreeMap<&'a str, bool>,
    missing: u64,
    action: &'a str,
    /// It waits for another array and costs nothing yet.
    delayed: bool,
    progress: Progress,
}

/// How far an array is with what it does.
#[derive(Clone, Copy, Default)]
struct Progress {
    /// The part that is done.
    done: Option<f64>,
    /// Sectors that remain.
    rest: Option<u64>,
    /// In KiB a second.
    speed: Option<u64>,
}

/// The most troubles that are told besides the first, and the least time in minutes that is told in hours.
const MOST: usize = 4;
const LEAST_HOURS: f64 = 90.0;
/// A later percentage without more is news only if it differs by more than its rounding.
const ROUNDED: f64 = 0.011;

/// The worst trouble of all arrays as the headline: a disk that failed, disks that are missing, a copy or a check of its disks; `None` if
/// there is none, or the text has something to say besides settings.
pub(super) fn headline(e: &Explanation, a: &Answer) -> Option<String> {
    let first = troubles(e).into_iter().next().filter(|_| leads(e, a))?;
    Some(format!("{}{}", first.said, first.look))
}

/// The troubles that are not in the headline, as clauses.
pub(crate) fn also(e: &Explanation, a: &Answer) -> Vec<String> {
    let all: Vec<Trouble> = troubles(e).into_iter().skip(usize::from(leads(e, a))).collect();
    let more = all.len().saturating_sub(MOST);
    let told = all.into_iter().take(MOST).map(|trouble| trouble.said);
    told.chain((more > 0).then(|| format!("and {more} more"))).collect()
}

/// Whether arrays are all that the text tells of.
fn leads(e: &Explanation, a: &Answer) -> bool {
    a.cause.is_none() && !e.texts.is_measured()
}

/// The troubles of all arrays, the worst first.
fn troubles(e: &Explanation) -> Vec<Trouble> {
    let mut arrays: BTreeMap<&str, Array> = BTreeMap::new();
    // In the order of the texts: of several values of a name the last one holds.
    for setting in e.texts.outputs.iter().flat_map(|output| &output.settings) {
        if let Some((array, file)) = setting.name.split_once("/md/") {
            arrays.entry(array).or_default().set(file, &setting.value);
        }
    }
    let mut all: Vec<Trouble> = arrays.iter().flat_map(|(name, array)| array.troubles(name)).collect();
    all.sort_by_key(|trouble| trouble.grade);
    all
}

impl<'a> Array<'a> {
    fn set(&mut self, file: &'a str, value: &'a str) {
        match file {
            "degraded" => self.missing = value.parse().unwrap_or(0),
            "sync_action" => {
                if self.action != value {
                    self.progress = Progress::default();
                }
                self.action = value;
            }
            "sync_speed" => self.progress.speed = value.parse().ok().or(self.progress.speed),
            "sync_completed" => {
                self.delayed = value == "delayed";
                self.progress.set(value);
            }
            _ => {
                let member = file.strip_prefix("dev-").and_then(|rest| rest.strip_suffix("/state"));
                self.failed.extend(member.map(|disk| (disk, value == "faulty")));
            }
        }
    }

    fn troubles(&self, name: &str) -> Vec<Trouble> {
        let mut all = vec![];
        let failed: Vec<&str> =
            self.failed.iter().filter(|(_, failed)| **failed).map(|(disk, _)| *disk).collect();
        let busy = !["", "idle", "frozen"].contains(&self.action) && !self.delayed;
        if let Some(disk) = failed.first() {
            let whole = evidence::whole_disk(disk);
            let (disks, each) = match failed[..] {
                [one] => (one.to_owned(), ""),
                _ => (failed.join(" and "), " each"),
            };
            all.push(Trouble {
                grade: Grade::Failed,
                said: format!("{name} runs without {disks}, which{each} failed"),
                look: format!(": mdadm --detail /dev/{name}; smartctl -a /dev/{whole}"),
            });
        } else if self.missing > 0 && !(busy && self.action == "recover") {
            let disks = if self.missing == 1 { "a disk".into() } else { format!("{} disks", self.missing) };
            all.push(Trouble {
                grade: Grade::Missing,
                said: format!("{name} runs without {disks}"),
                look: format!(": mdadm --detail /dev/{name}"),
            });
        }
        if busy {
            let rebuilt = ["recover", "reshape"].contains(&self.action);
            all.push(Trouble {
                grade: if rebuilt { Grade::Rebuilt } else { Grade::Busy },
                said: format!("{name} is busy with a {}{}", self.action, self.progress.words()),
                look: ", which uses all its disks; what that costs: iowhy record".into(),
            });
        }
        all
    }
}

impl Progress {
    /// Takes a value of `md/sync_completed`, `104448 / 1226752` in sectors, or a percentage.
    fn set(&mut self, value: &str) {
        let sectors = value.split_once(" / ").and_then(|(done, all)| {
            let (done, all) = (done.parse::<u64>().ok()?, all.parse::<u64>().ok()?);
            (all > 0).then_some((done, all))
        });
        if let Some((done, all)) = sectors {
            self.done = Some((done as f64 / all as f64).min(1.0));
            self.rest = Some(all.saturating_sub(done));
        }
        let part = value.strip_suffix(" %").and_then(|n| n.parse::<f64>().ok()).map(|n| n / 100.0);
        if let Some(part) = part.filter(|part| self.done.is_none_or(|known| (known - part).abs() > ROUNDED)) {
            *self = Progress { done: Some(part), ..Progress::default() };
        }
    }

    /// How far it is, and how long it still takes at its speed: ` (7.1 % done, 49 min left at 2.4 MiB/s)`.
    fn words(&self) -> String {
        let Some(done) = self.done else { return String::new() };
        let left = self.rest.zip(self.speed.filter(|speed| *speed > 0)).map(|(rest, speed)| {
            let minutes = rest as f64 / 2.0 / speed as f64 / 60.0;
            let time = match minutes {
                _ if minutes >= LEAST_HOURS => format!("{:.1} h", minutes / 60.0),
                _ if minutes >= 1.0 => format!("{minutes:.0} min"),
                _ => "under a minute".into(),
            };
            format!(", {time} left at {}/s", size(Bytes(speed.saturating_mul(1024))))
        });
        format!(" ({} done{})", percent(done), left.unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use explain::texts::Texts;
    use tooltext::ToolOutput;

    /// The headline, and the other troubles.
    fn all(text: &str) -> (Option<String>, Vec<String>) {
        let texts = Texts { outputs: vec![ToolOutput::read("mdstat", text.as_bytes())], ..Texts::default() };
        let e = Explanation::of_texts(texts);
        let a = Answer::of(&e);
        (headline(&e, &a), also(&e, &a))
    }

    fn of(text: &str) -> Option<String> {
        all(text).0
    }

    #[test]
    fn a_failed_disk_is_told_first_then_a_copy_then_what_is_missing() {
        let of = |members: &str, present: &str, more: &str| {
            of(&format!("Personalities : [raid1]\nmd0 : active raid1 {members}\n      243537216 blocks [2/{present}] [U_]\n{more}unused devices: <none>\n"))
        };
        let copy = "      [=>...................]  recovery =  6.6% (16304448/243537216) finish=308.6min speed=12266K/sec\n";
        let failed = of("sdb1[2](F) sda1[0]", "1", copy).expect("a clause");
        assert!(failed.starts_with("md0 runs without sdb1, which failed: "), "{failed}");
        assert_eq!(
            of("sdb1[2] sda1[0]", "1", copy).as_deref(),
            Some("md0 is busy with a recover (6.7 % done, 5.1 h left at 12 MiB/s), which uses all its disks; what that costs: iowhy record")
        );
        assert_eq!(
            of("sda1[0]", "1", "").as_deref(),
            Some("md0 runs without a disk: mdadm --detail /dev/md0")
        );
        assert_eq!(of("sdb1[1] sda1[0]", "2", ""), None);
        let waits = "      \tresync=DELAYED\n";
        assert!(of("sdb1[1] sda1[0]", "1", waits).expect("a clause").starts_with("md0 runs without a disk"));
        assert_eq!(of("sdb1[1] sda1[0]", "2", "      \tresync=PENDING\n"), None);
        // As mdadm --detail says it.
        let detail = |active: u8| {
            super::tests::of(&format!(
                "/dev/md0:\n        Raid Level : raid6\n      Raid Devices : 10\n             State : clean, degraded\n    Active Devices : {active}\n"
            ))
        };
        assert_eq!(detail(9).as_deref(), Some("md0 runs without a disk: mdadm --detail /dev/md0"));
        assert_eq!(detail(10), None);
    }

    /// The worst comes first, whatever its number.
    #[test]
    fn every_array_with_a_trouble_is_told() {
        let array = |name: &str, present: &str, more: &str| {
            format!("{name} : active raid1 sdb1[1] sda1[0]\n      9990 blocks [2/{present}] [U_]\n{more}\n")
        };
        let copies = |action: &str| {
            format!("      [==>..]  {action} = 50.0% (4995/9990) finish=2.0min speed=40K/sec\n")
        };
        let text = array("md0", "2", &copies("check"))
            + &array("md1", "1", &copies("recovery"))
            + &array("md2", "1", "")
            + &array("md3", "1", "")
            + &array("md4", "2", "");
        let (first, others) = all(&text);
        assert_eq!(first.as_deref(), Some("md2 runs without a disk: mdadm --detail /dev/md2"));
        let progress = "(50 % done, 2 min left at 40 KiB/s)";
        assert_eq!(
            others,
            [
                "md3 runs without a disk".to_owned(),
                format!("md1 is busy with a recover {progress}"),
                format!("md0 is busy with a check {progress}"),
            ]
        );
        let many: String = (0..9).map(|i| array(&format!("md{i}"), "1", "")).collect();
        assert_eq!(all(&many).1.last().map(String::as_str), Some("and 4 more"));
    }

    /// The percentage of mdadm says less than what mdstat told of the same pass.
    #[test]
    fn how_far_it_is_comes_from_what_says_most() {
        let stat = "md0 : active raid1 sdy1[1] sdx1[0]\n      9990 blocks [2/2] [UU]\n      \
            [==>..]  resync = 25.0% (2500/10000) finish=0.5min speed=25K/sec\n\n";
        let detail = |done: u8| {
            format!("/dev/md0:\n        Raid Level : raid1\n             State : clean, resyncing\n    Rebuild Status : {done}% complete\n")
        };
        let busy = |progress: &str| {
            Some(format!("md0 is busy with a resync ({progress}), which uses all its disks; what that costs: iowhy record"))
        };
        assert_eq!(of(&format!("{stat}{}", detail(25))), busy("25 % done, 5 min left at 25 KiB/s"));
        assert_eq!(of(&format!("{stat}{}", detail(60))), busy("60 % done"));
        assert_eq!(of(&detail(60)), busy("60 % done"));
    }

    /// The order of the texts decides, not which value is worse.
    #[test]
    fn an_array_that_is_complete_later_has_no_trouble() {
        let whole = "md0 : active raid1 sdy1[1] sdx1[0]\n      9990 blocks [2/2] [UU]\n\n";
        let copies = "md0 : active raid1 sdy1[2] sdx1[0]\n      9990 blocks [2/1] [U_]\n      \
            [==>..]  recovery = 14.5% (1448/9990) finish=0.2min speed=700K/sec\n\n";
        let failed = "md0 : active raid1 sdy1[1](F) sdx1[0]\n      9990 blocks [2/1] [U_]\n\n";
        for before in [copies, failed] {
            assert_eq!(of(&format!("{before}{whole}")), None, "{before}");
            assert!(of(&format!("{whole}{before}")).is_some(), "{before}");
        }
        let then = of(&format!("{failed}{copies}")).expect("a clause");
        assert!(then.starts_with("md0 is busy with a recover"), "{then}");
    }
}
