//! Reads `nvme list`: model and format of each drive. The serial number is private and not read.
//!
//! ```text
//! Node             SN              Model                        Namespace Usage                      Format           FW Rev
//! ---------------- --------------- ---------------------------- --------- -------------------------- ---------------- --------
//! /dev/nvme0n1     S4EVNF0M123456  Samsung SSD 970 EVO Plus 1TB 1         500.11  GB / 500.11  GB    512   B +  0 B   2B2QEXM7
//! ```
//!
//! The table is wider than a mail, so its lines are usually broken, including the rulers. The rulers give the start of the model;
//! after it come a namespace number, a usage and a format, whose forms are unique.
//!
//! **Versions**: nvme-cli 1.0 to 2.3 (`nvme-print.c`).

use super::cells::{cells, Cell, SettingPairs};

/// Limit on parts that a mailer makes of one line.
const MOST_LINES: usize = 8;
/// Words of `500.11  GB / 500.11  GB` and of `512   B +  0 B`.
const PAIR: usize = 5;

/// A table whose heading was read.
#[derive(Debug, Default)]
pub(super) struct NvmeList {
    /// Headings, including those on continuation lines.
    names: Vec<String>,
    /// Start positions of the columns, from the rulers.
    begins: Vec<usize>,
}

impl NvmeList {
    /// Parses a heading with its rulers; also returns its number of continuation lines.
    pub fn heading<'t>(words: &[Cell], ahead: impl Iterator<Item = &'t str>) -> Option<(NvmeList, usize)> {
        (words.first()?.text == "Node"
            && words.get(1).is_some_and(|w| w.text == "SN" || w.text == "Generic"))
        .then_some(())?;
        let mut table =
            NvmeList { names: words.iter().map(|cell| cell.text.clone()).collect(), begins: vec![] };
        let (mut lines, mut end) = (0, 0);
        for line in ahead.take(MOST_LINES) {
            let more = cells(line);
            let ruler = !more.is_empty() && more.iter().all(|cell| cell.text.bytes().all(|b| b == b'-'));
            if ruler {
                // One blank between two rulers, also at a line break.
                for cell in &more {
                    table.begins.push(end);
                    end += cell.to - cell.from + 1;
                }
            } else if table.begins.is_empty() && more.iter().all(|cell| is_heading(&cell.text)) {
                table.names.extend(more.into_iter().map(|cell| cell.text));
            } else {
                break;
            }
            lines += 1;
        }
        let has = |name: &str| table.names.iter().any(|n| n == name);
        (has("Model") && has("Format") && !table.begins.is_empty()).then_some((table, lines))
    }

    /// Parses a drive's row; also returns its number of continuation lines.
    pub fn row<'t>(&self, line: &str, ahead: impl Iterator<Item = &'t str>) -> Option<(SettingPairs, usize)> {
        let name = line.split_whitespace().next()?.strip_prefix("/dev/")?;
        evidence::is_device_name(name).then_some(())?;
        let model = self.names.iter().position(|n| n == "Model")?;
        let begin = *self.begins.get(model)?;
        let blank = |at: usize| line.chars().nth(at).is_none_or(char::is_whitespace);
        (begin > 0 && blank(begin - 1) && !blank(begin)).then_some(())?;
        let mut text: String = line.chars().skip(begin).collect();
        let mut lines = 0;
        let mut ahead = ahead.take(MOST_LINES);
        loop {
            if let Some((model, format)) = read(&text) {
                let all = [("device/model", model), ("nvme/format", format)];
                return Some((all.map(|(path, text)| (format!("{name}/{path}"), text)).into(), lines));
            }
            let more = ahead.next().map(str::trim).filter(|l| !l.is_empty() && !l.starts_with("/dev/"))?;
            text = format!("{text} {more}");
            lines += 1;
        }
    }
}

fn is_heading(text: &str) -> bool {
    ["SN", "Model", "Namespace", "Usage", "Format", "FW", "Rev", "Version"].contains(&text)
}

/// Model and format, if the text from the model up to the firmware's revision is complete.
fn read(text: &str) -> Option<(String, String)> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let pair = |at: usize, sign: &str| {
        let words = words.get(at..at + PAIR)?;
        let number = |word: &str| word.parse::<f64>().is_ok();
        let unit = |word: &str| word.len() <= 3 && word.ends_with('B');
        let fits =
            number(words[0]) && unit(words[1]) && words[2] == sign && number(words[3]) && unit(words[4]);
        fits.then(|| words.join(" "))
    };
    let usage = (2..words.len()).find(|at| pair(*at, "/").is_some())?;
    let format = pair(usage + PAIR, "+")?;
    // The revision must follow: without it the format may be truncated.
    words.get(usage + 2 * PAIR)?;
    let namespace = words[usage - 1].trim_start_matches("0x");
    (!namespace.is_empty() && namespace.bytes().all(|b| b.is_ascii_hexdigit())).then_some(())?;
    Some((words[..usage - 1].join(" "), format))
}

#[cfg(test)]
mod tests {
    use crate::output::ToolOutput;

    fn of(text: &str) -> Vec<String> {
        let output = ToolOutput::read("text", text.as_bytes());
        output.settings.iter().map(|s| format!("{} = {}", s.name, s.value)).collect()
    }

    const WANTED: [&str; 2] =
        ["nvme0n1/device/model = Samsung SSD 970 EVO Plus 1TB", "nvme0n1/nvme/format = 512 B + 0 B"];

    #[test]
    fn drives_have_their_model_and_no_serial_number() {
        let text = "Node             SN                   Model                                    Namespace Usage                      Format           FW Rev  \n\
            ---------------- -------------------- ---------------------------------------- --------- -------------------------- ---------------- --------\n\
            /dev/nvme0n1     S4EVNF0M123456       Samsung SSD 970 EVO Plus 1TB             1         500.11  GB / 500.11  GB    512   B +  0 B   2B2QEXM7\n";
        assert_eq!(of(text), WANTED);
        let newer = text
            .replace("Node             ", "Node             Generic      ")
            .replace("---------------- ---", "---------------- ------------ ---")
            .replace("/dev/nvme0n1     ", "/dev/nvme0n1     /dev/ng0n1   ");
        assert_eq!(of(&newer), WANTED);
        let without_model = text.replace("S4EVNF0M123456       Samsung", "Samsung");
        assert_eq!(of(&without_model), Vec::<String>::new());
    }

    #[test]
    fn broken_lines_are_whole_again() {
        let text = "> Node             SN                   Model\n> Namespace Usage                      Format           FW Rev\n\
            > ---------------- --------------------\n> ---------------------------------------- ---------\n\
            > -------------------------- ---------------- --------\n\
            > /dev/nvme0n1     S4EVNF0M123456       Samsung SSD 970 EVO\n> Plus 1TB             1         500.11  GB / 500.11\n\
            > GB    512   B +  0 B   2B2QEXM7\n> That is all.\n";
        assert_eq!(of(text), WANTED);
        assert_eq!(of(&text.replace("512   B +  0 B   2B2QEXM7", "512   B")), Vec::<String>::new());
    }
}
