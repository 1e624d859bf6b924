//! The line with commas that bonnie++ prints behind its tables, in three formats.
//!
//! ```text
//! server,256M,10564,96,18951,24,6687,7,10030,88,15949,6,153.8,0,16,489,99,+++++,+++,+++++,+++,509,98,+++++,+++,1695,97
//! 1.97,1.97,server,1,1466766230,8196M,,646,97,86208,12,44422,5,2027,97,104162,5,889.7,8,16,,,,,20285,28,...,727us,...,61us
//! 1.98,2.00a,server,1,1731168315,63G,,8192,5,540,99,745124,100,...
//! ```
//!
//! 1.03: name, size, six rates with their shares of a processor, how many files, six more. From 1.96 on: the format, the version,
//! name, processes, seed, size and the size of a piece before them (1.98: seeks and their processes, too), four sizes behind the
//! number of files, and the longest latency of each of the twelve. K/sec are 1024 bytes.
//!
//! **Versions**: bonnie++ 1.03 to 1.98 by published texts, 2.00a run; from 1.96 on the format has a number of its own.

use super::bonnie::{put_latency, rates, FILES, MEASURED};
use crate::mail::reading::Row;
use crate::mail::words::Word;

/// Words of a line that a mailer broke.
const MOST_WORDS: usize = 6;
/// Commas without which no word is looked at further.
const LEAST_COMMAS: usize = 13;

/// A format: where the six rates begin, where the six of files, where the latencies, and how many fields there are.
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

/// The rows of the line at the first of some words, and how many words it takes.
pub(super) fn line(words: &[Word]) -> Option<(Vec<Row>, usize)> {
    let first = words.first()?;
    (first.text.matches(',').count() >= LEAST_COMMAS).then_some(())?;
    let mut text = first.text.to_owned();
    let mut used = 1;
    let format = format(first.text);
    // What a mailer broke goes on with a comma, or ended in one.
    while text.split(',').count() < format.fields && used < MOST_WORDS {
        let Some(next) = words.get(used).filter(|w| text.ends_with(',') || w.text.starts_with(',')) else {
            break;
        };
        text += next.text;
        used += 1;
    }
    let fields: Vec<&str> = text.split(',').collect();
    // 1.03 prints nothing of files where it made none.
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

/// `16G`, `300M:64k`, `8196M`; nothing where only files were made.
fn is_size(text: &str) -> bool {
    let one = |size: &str| {
        let digits = size.trim_end_matches(['k', 'K', 'm', 'M', 'g', 'G', 't', 'T']);
        size.len() - digits.len() <= 1 && !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())
    };
    text.is_empty() || text.split(':').all(one)
}

/// Six pairs.
fn group(fields: &[&str], names: &[&str; 6], word: &Word) -> Option<Vec<Row>> {
    let pairs = fields.get(..2 * names.len())?.chunks(2);
    names.iter().zip(pairs).map(|(name, pair)| rates(name, pair[0], pair[1], false, [word, word])).collect()
}

#[cfg(test)]
mod tests {
    use crate::tool::testing::{all, one};

    const OLD: &str = "box,256M,10564,96,18951,24,6687,7,10030,88,15949,6,153.8,0,16,489,99,+++++,+++,+++++,+++,509,98,+++++,+++,1695,97";
    const NEW: &str = "1.97,1.97,box,1,1466766230,8196M,,646,97,86208,12,44422,5,2027,97,104162,5,889.7,8,16,,,,,20285,28,+++++,+++,+++++,+++,30720,69,+++++,+++,+++++,+++,12279us,1920ms,2462ms,4228us,41355us,43431us,727us,406us,431us,121us,35us,61us";
    const LATER: &str = "1.98,2.00a,box,1,1731168315,63G,,8192,5,540,99,745124,100,980550,91,2205,99,1203968,58,+++++,+++,16,,,,,+++++,+++,+++++,+++,+++++,+++,+++++,+++,+++++,+++,+++++,+++,16366us,5650us,12027us,4465us,1806us,478us,586us,404us,3818us,3324us,837us,3156us";

    #[test]
    fn each_format_has_its_numbers() {
        for (text, write, read, seeks, latency) in [
            (OLD, 18_951.0, 15_949.0, Some(153.8), None),
            (NEW, 86_208.0, 104_162.0, Some(889.7), Some(1920e6)),
            (LATER, 745_124.0, 1_203_968.0, None, Some(5650e3)),
        ] {
            let reading = one(text, "bonnie++");
            let value = |of: &str, name: &str| reading.row(of).and_then(|r| r.value(name));
            assert_eq!(value("write", "bw"), Some(write * 1024.0), "{text}");
            assert_eq!(value("read", "bw"), Some(read * 1024.0), "{text}");
            assert_eq!((value("seeks", "iops"), value("write", "lat.max")), (seeks, latency), "{text}");
        }
        let reading = one(NEW, "bonnie++");
        let value = |of: &str, name: &str| reading.row(of).and_then(|r| r.value(name));
        assert_eq!((value("create", "files/s"), value("create", "lat.max")), (Some(20_285.0), Some(727e3)));
        assert_eq!((value("create", "cpu"), value("delete at random", "lat.max")), (Some(0.28), Some(61e3)));
    }

    #[test]
    fn what_was_not_measured_is_empty_and_lines_may_be_broken() {
        let fast = OLD.replacen("10564,96", ",", 1);
        let reading = one(&fast, "bonnie++");
        assert!(reading.row("write by bytes").is_none() && reading.row("write").is_some());
        let broken = OLD.replace("489,99,", "489,99\n,");
        assert_eq!(one(&broken, "bonnie++").row("delete at random").unwrap().value("files/s"), Some(1695.0));
        assert_eq!(one(OLD.split(",16,489").next().unwrap(), "bonnie++").rows.len(), 6);
    }

    #[test]
    fn other_tables_with_commas_are_none() {
        for text in [
            "1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26",
            "name,size,a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q,r,s,t,u,v,w,x,y",
            &OLD.replace(",153.8", ""),
            &NEW.replace(",12279us", ""),
            &LATER.replace(",8192,5", ""),
        ] {
            assert!(all(text, "bonnie++").is_empty(), "{text}");
        }
    }
}
