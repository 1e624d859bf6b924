//! Reads multipath -ll: the paths of each device, and which of them failed.
//!
//! ```text
//! mpatha (36006016040203100d2fba8d4190de711) dm-6 DGC,VRAID
//! size=10G features='0' hwhandler='1 alua' wp=rw
//! |-+- policy='service-time 0' prio=50 status=active
//! | |- 1:0:1:1 sdg 8:96   active ready running
//! | `- 2:0:4:1 sdc 8:32   failed faulty offline
//! ```
//!
//! A row for each device, with the number of its paths and of those that failed; settings `failed DEVICE` name these.
//!
//! **Versions**: multipath-tools 0.4.9 to 0.9 (libmultipath/print.c, structs.c) by published output.

use super::reader::{texts, Found, Tool};
use crate::output::number::Unit;
use crate::output::reading::{Reading, Row, Setting};
use crate::output::words::Word;
use evidence::Spot;

pub struct Multipath;

/// States of a path in device-mapper, by its checker, and of its SCSI device.
const OF_MAPPER: [&str; 3] = ["active", "failed", "undef"];
const BAD: [&str; 7] = ["failed", "faulty", "down", "timeout", "offline", "blocked", "transport-offline"];
/// Limit on words between two paths: the heading of a group.
const MOST_BETWEEN: usize = 16;
/// Limit on devices, and on paths of one.
const MOST: usize = 1000;

impl Tool for Multipath {
    fn read(&self, words: &[Word]) -> Option<Found> {
        let mut reading = Reading { tool: "multipath", at: words.first()?.spot, ..Reading::default() };
        let mut used = 0;
        while reading.rows.len() < MOST {
            let Some((name, length)) = device(&words[used..]) else { break };
            let at = words[used].spot;
            used += length;
            let (mut paths, mut failed) = (0, 0);
            while paths < MOST {
                let rest = &words[used..];
                let ours = (0..MOST_BETWEEN.min(rest.len())).take_while(|at| device(&rest[*at..]).is_none());
                let next = ours.into_iter().find_map(|skip| Some((skip, path(&rest[skip..])?)));
                let Some((skip, (disk, bad, spot))) = next else { break };
                paths += 1;
                if bad {
                    failed += 1;
                    reading.settings.push(Setting {
                        name: format!("failed {name}"),
                        value: disk.into(),
                        at: spot,
                    });
                }
                used += skip + PATH;
            }
            let mut row = Row::of(name);
            row.values.put("paths", paths as f64, Unit::Count, at);
            row.values.put("failed paths", f64::from(failed), Unit::Count, at);
            reading.rows.push(row);
        }
        (!reading.rows.is_empty()).then_some(())?;
        Found::all(reading, used)
    }
}

/// A device's name, and the number of words up to its features: `NAME (WWID) dm-6 DGC,VRAID size=10G`, where the name may be missing.
fn device<'a>(words: &[Word<'a>]) -> Option<(&'a str, usize)> {
    words.first().filter(|w| w.first)?;
    let at = (1..=2).find(|at| words.get(*at).is_some_and(|w| is_mapper(w.text)))?;
    // The vendor and the product may have blanks.
    let size = (at + 1..at + 6).find(|i| words.get(*i).is_some_and(|w| w.text.starts_with("size=")))?;
    words[at + 1..size].iter().any(|w| w.text.contains(',')).then_some((words[at].text, size + 1))
}

fn is_mapper(text: &str) -> bool {
    text.strip_prefix("dm-").is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
}

/// Number of words of a path.
const PATH: usize = 6;

/// A path's disk, whether it failed, and its place: `1:0:1:1 sdg 8:96 active ready running`.
fn path<'a>(words: &[Word<'a>]) -> Option<(&'a str, bool, Spot)> {
    let [address, disk, number, mapper, checker, online] = texts(words)?;
    let is_address =
        address.matches(':').count() == 3 && address.bytes().all(|b| b.is_ascii_digit() || b == b':');
    let fits = is_address && number.contains(':') && OF_MAPPER.contains(&mapper);
    let bad = [mapper, checker, online].iter().any(|state| BAD.contains(state));
    fits.then_some((disk, bad, words[0].spot))
}

#[cfg(test)]
mod tests {
    use crate::tool::testing::{all, one};

    #[test]
    fn the_paths_of_each_device_are_counted() {
        let text = "mpatha (36006016040203100d2fba8d4190de711) dm-6 DGC,VRAID\nsize=10G features='0' hwhandler='1 alua' wp=rw\n\
            |-+- policy='service-time 0' prio=50 status=active\n| |- 1:0:1:1 sdg 8:96   active ready running\n\
            | `- 2:0:4:1 sdc 8:32   failed faulty offline\n`-+- policy='service-time 0' prio=10 status=enabled\n  \
            `- 1:0:5:1 sds 65:32  active ready running\n36006016022f04400e3e62561e0efe3a6 dm-12 ##,##\nsize=2.0G features='0' hwhandler='1 alua' wp=rw\n";
        let reading = one(text, "multipath");
        let of = |name: &str| {
            let row = reading.row(name).expect("a row");
            (row.value("paths"), row.value("failed paths"))
        };
        assert_eq!((of("dm-6"), of("dm-12")), ((Some(3.0), Some(1.0)), (Some(0.0), Some(0.0))));
        assert_eq!(reading.setting("failed dm-6"), Some("sdc"));
        assert!(all("the disk dm-6 has size=10G, a lot\n", "multipath").is_empty());
    }
}
