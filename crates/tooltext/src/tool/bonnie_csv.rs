//! Reads the comma-separated line that bonnie++ prints after its tables, in three formats.
//!
//! ```text
//! server,512M,11264,95,20480,23,7168,8,10240,87,16384,5,144.5,1,16,512,98,+++++,+++,+++++,+++,520,97,+++++,+++,1700,96
//! 1.97,1.97,server,1,1764030000,7168M,,612,98,81920,13,40960,6,1980,96,98304,7,777.5,9,16,,,,,21500,29,...,640us,...,72us
//! 1.98,2.00a,server,1,1764030000,48G,,8192,5,512,98,716800,97,...
//! ```
//!
//! 1.03: name, size, six rates with their shares of a processor, number of files, six more rates. Since 1.96 these are preceded by format,
//! version, name, processes, seed, size and chunk size (1.98: also seeks and their processes), the number of files is followed by
//! four sizes, and at the end is the longest latency of each of the twelve tests. K/sec are 1024 bytes.
//!
//! **Versions**: bonnie++ 1.03 to 1.98 by published texts, 2.00a run; from 1.96 on the format has a number of its own.

use super::bonnie_rates::{put_latency, rates, FILES, MEASURED};
use crate::output::reading::Row;
use crate::output::words::Word;

/// Limit on parts of a line that a mailer broke.
const MOST_WORDS: usize = 6;
/// Minimum number of commas in the first word.
const LEAST_COMMAS: usize = 13;

/// A format: indexes of the size, the first six rates, the six rates of files, the latencies; and the number of fields.
struct Format {
    size: usize,
    measured: usize,
    files: usize,
    latencies: Option<usize>,
    fields: usize,
}

const V1_03: Format = Format { size: 1, measured: 2, files: 15, latencies: None, fields: 27 };
const V1_96: Format = Format { size: 5, measured: 7, files: 24, latencies: Some(36), fields: 48 };
const V1_98: Format = Format { size: 5, measured: 9, files: 26, latencies: Some(38), fields: 50 };

/// The rows of the line at the first word, and its number of words.
pub(super) fn line(words: &[Word]) -> Option<(Vec<Row>, usize)> {
    let first = words.first()?;
    (first.text.matches(',').count() >= LEAST_COMMAS).then_some(())?;
    let mut text = first.text.to_owned();
    let mut used = 1;
    let format = format(first.text);
    // A line broken by a mailer continues with a comma, or ended with one.
    while text.split(',').count() < format.fields && used < MOST_WORDS {
        let Some(next) = words.get(used).filter(|w| text.ends_with(',') || w.text.starts_with(',')) else {
            break;
        };
        text += next.text;
        used += 1;
    }
    let fields: Vec<&str> = text.split(',').collect();
    // 1.03 prints no fields about files if it created none.
    let files = fields.len() == format.fields;
    (files || format.fields == V1_03.fields && fields.len() == V1_03.files - 1).then_some(())?;
    is_size(fields[format.size]).then_some(())?;
    let mut rows = group(&fields[format.measured..], &MEASURED, first)?;
    if files {
        rows.extend(group(&fields[format.files..], &FILES, first)?);
    }
    for (row, time) in rows.iter_mut().zip(format.latencies.map_or(&[][..], |from| &fields[from..])) {
        (time.is_empty() || time.ends_with('s')).then_some(())?;
        put_latency(row, time, first);
    }
    rows.iter().any(|row| !row.values.is_empty()).then_some((rows, used))
}

fn format(text: &str) -> &'static Format {
    let mut fields = text.split(',');
    match (fields.next(), fields.next().map(|v| v.split_at_checked(2).map_or("", |(first, _)| first))) {
        (Some("1.98"), Some("1." | "2.")) => &V1_98,
        (Some("1.96" | "1.97"), Some("1.")) => &V1_96,
        _ => &V1_03,
    }
}

/// Whether a field is a size: `16G`, `300M:64k`, `8196M`; empty if only files were tested.
fn is_size(text: &str) -> bool {
    let one = |size: &str| {
        let digits = size.trim_end_matches(['k', 'K', 'm', 'M', 'g', 'G', 't', 'T']);
        size.len() - digits.len() <= 1 && !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())
    };
    text.is_empty() || text.split(':').all(one)
}

/// Parses six pairs of rate and share.
fn group(fields: &[&str], names: &[&str; 6], word: &Word) -> Option<Vec<Row>> {
    let pairs = fields.get(..2 * names.len())?.chunks(2);
    names.iter().zip(pairs).map(|(name, pair)| rates(name, pair[0], pair[1], false, [word, word])).collect()
}

#[cfg(test)]
mod tests {
    use crate::tool::testing::{all, one};

    const OLD: &str = "box,512M,11264,95,20480,23,7168,8,10240,87,16384,5,144.5,1,16,512,98,+++++,+++,+++++,+++,520,97,+++++,+++,1700,96";
    const NEW: &str = "1.97,1.97,box,1,1764030000,7168M,,612,98,81920,13,40960,6,1980,96,98304,7,777.5,9,16,,,,,21500,29,+++++,+++,+++++,+++,31500,70,+++++,+++,+++++,+++,11500us,1850ms,2300ms,4100us,40500us,42500us,640us,410us,425us,118us,33us,72us";
    const LATER: &str = "1.98,2.00a,box,1,1764030000,48G,,8192,5,512,98,716800,97,921600,90,2100,97,1150976,57,+++++,+++,16,,,,,+++++,+++,+++++,+++,+++++,+++,+++++,+++,+++++,+++,+++++,+++,15500us,5500us,11500us,4300us,1700us,450us,550us,390us,3700us,3200us,810us,3050us";

    #[test]
    fn each_format_has_its_numbers() {
        for (text, write, read, seeks, latency) in [
            (OLD, 20_480.0, 16_384.0, Some(144.5), None),
            (NEW, 81_920.0, 98_304.0, Some(777.5), Some(1850e6)),
            (LATER, 716_800.0, 1_150_976.0, None, Some(5500e3)),
        ] {
            let reading = one(text, "bonnie++");
            let value = |of: &str, name: &str| reading.row(of).and_then(|r| r.value(name));
            assert_eq!(value("write", "bw"), Some(write * 1024.0), "{text}");
            assert_eq!(value("read", "bw"), Some(read * 1024.0), "{text}");
            assert_eq!((value("seeks", "iops"), value("write", "lat.max")), (seeks, latency), "{text}");
        }
        let reading = one(NEW, "bonnie++");
        let value = |of: &str, name: &str| reading.row(of).and_then(|r| r.value(name));
        assert_eq!((value("create", "files/s"), value("create", "lat.max")), (Some(21_500.0), Some(640e3)));
        assert_eq!((value("create", "cpu"), value("delete at random", "lat.max")), (Some(0.29), Some(72e3)));
    }

    #[test]
    fn what_was_not_measured_is_empty_and_lines_may_be_broken() {
        let fast = OLD.replacen("11264,95", ",", 1);
        let reading = one(&fast, "bonnie++");
        assert!(reading.row("write by bytes").is_none() && reading.row("write").is_some());
        let broken = OLD.replace("512,98,", "512,98\n,");
        assert_eq!(one(&broken, "bonnie++").row("delete at random").unwrap().value("files/s"), Some(1700.0));
        assert_eq!(one(OLD.split(",16,512").next().unwrap(), "bonnie++").rows.len(), 6);
    }

    #[test]
    fn other_tables_with_commas_are_none() {
        for text in [
            "1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26",
            "name,size,a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q,r,s,t,u,v,w,x,y",
            &OLD.replace(",144.5", ""),
            &NEW.replace(",11500us", ""),
            &LATER.replace(",8192,5", ""),
        ] {
            assert!(all(text, "bonnie++").is_empty(), "{text}");
        }
    }
}
