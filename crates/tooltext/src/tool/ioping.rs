//! ioping, all versions: how long single requests take.
//!
//! ```text
//! --- /mnt (ext4 /dev/vda 255.9 GiB) ioping statistics ---
//! 99 requests completed in 98.1 ms, 396 KiB read, 1.01 k iops, 3.94 MiB/s
//! min/avg/max/mdev = 412.9 us / 811.5 us / 1.21 ms / 398.6 us
//! ```

use super::{Found, Tool};
use crate::mail::number::{decimal, time_unit, Unit};
use crate::mail::reading::{Reading, Row};
use crate::mail::words::Word;

pub struct Ioping;

/// Words between the heading and the last line.
const MOST_BETWEEN: usize = 60;
const NAMES: [&str; 4] = ["lat.min", "lat.mean", "lat.max", "lat.stdev"];

impl Tool for Ioping {
    fn read(&self, words: &[Word]) -> Option<Found> {
        let sum = match words.first()?.text {
            "min/avg/max/mdev" => 0,
            "---" => {
                let near = &words[..words.len().min(MOST_BETWEEN)];
                near.iter().position(|w| w.text == "ioping")?;
                near.iter().position(|w| w.text == "min/avg/max/mdev")?
            }
            _ => return None,
        };
        (words.get(sum + 1)?.text == "=").then_some(())?;
        let mut row = Row::of("requests");
        let mut used = sum + 2;
        for (i, name) in NAMES.iter().enumerate() {
            if i > 0 {
                (words.get(used)?.text == "/").then_some(())?;
                used += 1;
            }
            let (value, unit) = (words.get(used)?, words.get(used + 1)?);
            // ping prints the same without a unit behind each.
            let ns = decimal(value.text)? * time(unit.text)?;
            row.values.put(*name, ns, Unit::Nanoseconds, value.spot);
            used += 2;
        }
        let before = &words[..sum];
        let requests = before.windows(2).find(|w| w[1].text == "requests").map(|w| w[0]);
        if let Some((count, word)) = requests.and_then(|w| Some((decimal(w.text)?, w))) {
            row.values.put("count", count, Unit::Count, word.spot);
        }
        Found::all(Reading { tool: "ioping", rows: vec![row], at: words[0].spot, ..Reading::default() }, used)
    }
}

fn time(unit: &str) -> Option<f64> {
    match unit {
        "min" => Some(60e9),
        unit => time_unit(unit),
    }
}

#[cfg(test)]
mod tests {
    use crate::tool::testing::{all, one};

    #[test]
    fn the_sum_has_its_count() {
        let text = "4 KiB <<< . (ext4 /dev/vda 255.9 GiB): request=1 time=312.3 us (warmup)\n\n\
            --- . (ext4 /dev/vda 255.9 GiB) ioping statistics ---\n99 requests completed in 98.1 ms, 396 KiB read, 1.01 k iops, 3.94 MiB/s\n\
            generated 100 requests in 1.65 min, 400 KiB, 1 iops, 4.04 KiB/s\nmin/avg/max/mdev = 412.9 us / 811.5 us / 1.21 ms / 398.6 us\n";
        let row = &one(text, "ioping").rows[0];
        assert_eq!((row.value("count"), row.value("lat.max")), (Some(99.0), Some(1.21e6)));
        assert!(all("rtt min/avg/max/mdev = 0.1/0.2/0.3/0.1 ms", "ioping").is_empty());
    }
}
