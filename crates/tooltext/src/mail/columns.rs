//! Tables whose cells may be empty, so that only the place of a word says what it is: lsblk with any columns, `nvme list`.
//!
//! ```text
//! NAME        MAJ:MIN FSTYPE ROTA SCHED       RQ-SIZE  RA TYPE
//! sda           8:0             1 mq-deadline      64 128 disk
//! ├─sda1        8:1   ext4      1 mq-deadline      64 128 part
//! ```
//!
//! **Invariant**: a number is taken only if it ends where its heading ends, a word only if it begins there: in a table that was
//! wrapped or whose blanks were lost, none does.

/// Columns of lsblk(8) and the settings that they show; whether they are numbers.
const LSBLK: [(&str, &str, bool); 8] = [
    ("ROTA", "queue/rotational", true),
    ("SCHED", "queue/scheduler", false),
    ("RQ-SIZE", "queue/nr_requests", true),
    ("RA", "queue/read_ahead_kb", true),
    ("MIN-IO", "queue/minimum_io_size", true),
    ("OPT-IO", "queue/optimal_io_size", true),
    ("PHY-SEC", "queue/physical_block_size", true),
    ("LOG-SEC", "queue/logical_block_size", true),
];

/// A word and where it stands in its line, in characters.
#[derive(Clone, Debug)]
struct Cell {
    text: String,
    from: usize,
    to: usize,
}

/// The table whose rows follow.
#[derive(Debug, Default)]
pub(super) struct Columns(Table);

#[derive(Debug, Default)]
enum Table {
    #[default]
    None,
    Lsblk(Vec<Cell>),
    /// The heading of `nvme list`, and the rulers below it.
    Nvme(Vec<Cell>, Vec<Cell>),
}

impl Columns {
    /// What a line sets, by name and value; `None` if it is none of such a table's.
    pub fn line(&mut self, line: &str) -> Option<Vec<(String, String)>> {
        let words = cells(line);
        let first = words.first().map_or("", |cell| cell.text.as_str());
        let has = |name: &str| words.iter().any(|cell| cell.text == name);
        if ["NAME", "KNAME"].contains(&first) && LSBLK.iter().filter(|(name, ..)| has(name)).count() > 1 {
            self.0 = Table::Lsblk(words);
            return Some(vec![]);
        }
        if first == "Node" && has("Model") && has("Format") {
            self.0 = Table::Nvme(words, vec![]);
            return Some(vec![]);
        }
        let told = match &mut self.0 {
            Table::None => return None,
            Table::Lsblk(heading) => lsblk(heading, &words),
            Table::Nvme(_, rulers) if first.starts_with("---") => {
                *rulers = words;
                Some(vec![])
            }
            Table::Nvme(heading, rulers) => nvme(heading, rulers, line),
        };
        if told.is_none() {
            self.0 = Table::None;
        }
        told
    }
}

fn cells(line: &str) -> Vec<Cell> {
    let mut all: Vec<Cell> = vec![];
    for (at, c) in line.trim_end().chars().enumerate() {
        match all.last_mut().filter(|cell| cell.to == at) {
            _ if c.is_whitespace() => {}
            Some(cell) => {
                cell.text.push(c);
                cell.to += 1;
            }
            None => all.push(Cell { text: c.to_string(), from: at, to: at + 1 }),
        }
    }
    all
}

/// A disk's row; those of what lies on it begin with a branch of the tree, and have the disk's settings.
fn lsblk(heading: &[Cell], words: &[Cell]) -> Option<Vec<(String, String)>> {
    let name = words.first()?.text.as_str();
    if name.starts_with(['├', '└', '│', '|', '`']) {
        return Some(vec![]);
    }
    evidence::is_device_name(name).then_some(())?;
    let mut all = vec![];
    for (column, path, is_number) in LSBLK {
        let Some(head) = heading.iter().find(|cell| cell.text == column) else { continue };
        let cell = words.iter().find(|cell| match is_number {
            true => cell.to == head.to && cell.text.parse::<u64>().is_ok(),
            false => cell.from == head.from && cell.text.parse::<u64>().is_err(),
        });
        match cell {
            Some(cell) => all.push((format!("{name}/{path}"), cell.text.clone())),
            // Every disk has all numbers: where one is not in its place, none is.
            None if is_number => return None,
            None => {}
        }
    }
    (!all.is_empty()).then_some(all)
}

/// A drive's row: its model. Its serial number is nobody's business.
fn nvme(heading: &[Cell], rulers: &[Cell], line: &str) -> Option<Vec<(String, String)>> {
    let name = line.split_whitespace().next()?.strip_prefix("/dev/")?;
    evidence::is_device_name(name).then_some(())?;
    let of = |column: &str| {
        let head = heading.iter().find(|cell| cell.text == column)?;
        let ruler = rulers.iter().find(|cell| cell.from == head.from)?;
        let blank = |at: usize| line.chars().nth(at).is_none_or(char::is_whitespace);
        (blank(ruler.from.checked_sub(1)?) && blank(ruler.to)).then_some(())?;
        let text: String = line.chars().skip(ruler.from).take(ruler.to - ruler.from).collect();
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        (!text.is_empty()).then_some(text)
    };
    let all = [("Model", "device/model"), ("Format", "nvme/format")];
    let told: Vec<(String, String)> =
        all.iter().filter_map(|(column, path)| Some((format!("{name}/{path}"), of(column)?))).collect();
    (!told.is_empty()).then_some(told)
}

#[cfg(test)]
mod tests {
    use crate::Mail;

    fn of(text: &str) -> Vec<String> {
        let mail = Mail::read("text", text.as_bytes());
        mail.settings.iter().map(|s| format!("{} = {}", s.name, s.value)).collect()
    }

    const LSBLK: &str = "> NAME        MAJ:MIN FSTYPE ROTA SCHED       RQ-SIZE  RA TYPE\n\
        > sda           8:0             1 mq-deadline      64 128 disk\n\
        > ├─sda1        8:1   ext4      1 mq-deadline      64 128 part\n\
        > nvme0n1     259:0             0 none           1023 256 disk\n";

    #[test]
    fn disks_have_their_queues_whatever_is_empty() {
        let wanted = [
            "sda/queue/rotational = 1",
            "sda/queue/scheduler = mq-deadline",
            "sda/queue/nr_requests = 64",
            "sda/queue/read_ahead_kb = 128",
            "nvme0n1/queue/rotational = 0",
            "nvme0n1/queue/scheduler = none",
            "nvme0n1/queue/nr_requests = 1023",
            "nvme0n1/queue/read_ahead_kb = 256",
        ];
        assert_eq!(of(LSBLK), wanted);
    }

    #[test]
    fn a_table_whose_blanks_were_lost_says_nothing() {
        let lost: String =
            LSBLK.lines().map(|l| l.split_whitespace().collect::<Vec<_>>().join(" ") + "\n").collect();
        assert_eq!(of(&lost), Vec::<String>::new());
    }

    #[test]
    fn drives_have_their_model_and_no_serial_number() {
        let text = "Node                  SN                   Model                                    Format          \n\
            --------------------- -------------------- ---------------------------------------- ----------------\n\
            /dev/nvme0n1          S4EVNF0M123456       Samsung SSD 970 EVO Plus 1TB             512   B +  0 B  \n";
        assert_eq!(
            of(text),
            ["nvme0n1/device/model = Samsung SSD 970 EVO Plus 1TB", "nvme0n1/nvme/format = 512 B + 0 B"]
        );
    }
}
