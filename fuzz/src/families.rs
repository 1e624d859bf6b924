//! Where the fuzzing of texts begins: the worked examples of the tools' readers, by families, and mails.

use crate::seed::{seed, Seed};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Tools whose output is alike, by the names of their readers. A reader that is in none is of the last.
const FAMILIES: [(&str, &[&str]); 6] = [
    ("text-fio", &["fio_command", "fio_line", "fio_progress", "fio_terse", "fio_text"]),
    (
        "text-tables",
        &[
            "diskstats",
            "dstat",
            "iostat",
            "iotop",
            "ioztat",
            "lvs",
            "nfsiostat",
            "pidstat",
            "pressure",
            "processors",
            "ps",
            "smart",
            "table",
            "threads",
            "top",
            "virtiostat",
            "vmstat",
            "vmstat_disk",
            "vmstat_sums",
            "zpool",
        ],
    ),
    (
        "text-bpf",
        &[
            "biolatpcts",
            "biosnoop",
            "biotop",
            "bpf_histogram",
            "cachestat",
            "folded",
            "histogram",
            "mdflush",
            "requests",
            "slower",
        ],
    ),
    ("text-kernel", &["blocked_task", "kernel_errors", "stack"]),
    (
        "text-lines",
        &[
            "btrfs_stats",
            "btt",
            "btt_tables",
            "ceph_health",
            "database_log",
            "etcd",
            "etcd_quantiles",
            "failed_calls",
            "pveperf",
            "strace",
            "time",
        ],
    ),
    ("text-benchmarks", &[]),
];

/// The examples of a family.
pub(crate) fn examples(root: &Path, family: &str) -> io::Result<Vec<Seed>> {
    let of = |name: &str| {
        FAMILIES.iter().find(|(_, readers)| readers.contains(&name)).map_or("text-benchmarks", |f| f.0)
    };
    let mut all = all(root)?;
    all.retain(|example| of(&example.name) == family);
    Ok(all)
}

/// The files of tools' readers.
fn readers(root: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = fs::read_dir(root.join("crates/tooltext/src/tool"))?.flatten();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(|path| path.is_file()).collect();
    files.sort();
    Ok(files)
}

/// The worked examples of all tools' readers: a reader that is added is fuzzed from its own on.
pub(crate) fn all(root: &Path) -> io::Result<Vec<Seed>> {
    let mut seeds = Vec::new();
    for path in readers(root)? {
        let source = fs::read_to_string(&path)?;
        let behind = source.lines().skip_while(|line| *line != "//! ```text").skip(1);
        let example = behind.map_while(|line| line.strip_prefix("//! ").filter(|line| *line != "```"));
        let text = example.fold(String::new(), |text, line| text + line + "\n");
        if !text.is_empty() {
            seeds.push(seed(&path.file_stem().unwrap_or_default().to_string_lossy(), text.as_bytes()));
        }
    }
    Ok(seeds)
}

/// Mails, and what mailers make of them.
pub(crate) fn mails(root: &Path) -> io::Result<Vec<Seed>> {
    let mut all: Vec<Seed> = FORMS.iter().map(|text| seed("form", text.as_bytes())).collect();
    let mut paths: Vec<PathBuf> =
        fs::read_dir(root.join("fixtures/mails"))?.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths.iter().filter(|path| path.extension().is_some_and(|end| end == "txt")) {
        all.push(seed(&path.file_name().unwrap_or_default().to_string_lossy(), &fs::read(path)?));
    }
    Ok(all)
}

/// A table in a page, in Markdown, quoted-printable and in base64.
const FORMS: [&str; 4] = [
    "<html><body><p>Hi,</p><pre>Device r/s w/s %util\nsda 1.00 2.00 99.00\n</pre>&lt;b&gt; &amp; so on</body></html>\n",
    "| Device | r/s | w/s | %util |\n|---|:--:|---|---|\n| sda | 1.00 | **2.00** | 99.00 |\n",
    "Content-Transfer-Encoding: quoted-printable\n\n> Device r/s =\n> w/s %util\n> sda 1.00 2.00 99=2E00\n",
    "Content-Transfer-Encoding: base64\n\nRGV2aWNlIHIvcyB3L3MgJXV0aWwKc2RhIDEuMDAgMi4wMCA5OS4wMAo=\n",
];

/// JSON of other tools than fio.
pub(crate) const DOCUMENTS: [&str; 3] = [
    "{\"sysstat\": {\"hosts\": [{\"nodename\": \"h\", \"release\": \"6.8.0\", \"statistics\": [{\"avg-cpu\": {\"user\": 1.0, \"iowait\": 76.5}, \
     \"disk\": [{\"disk_device\": \"sda\", \"r/s\": 1.0, \"rkB/s\": 4.0, \"r_await\": 0.5, \"aqu-sz\": 1.2, \"util\": 99.0}]}]}]}}\n",
    "Hi,\n[{\"a\": [1, 2.5e3, null, true, \"\\u00e9\"]}]\n{\"sysstat\": {\"hosts\": [{\"statistics\": [{\"disk\": [{\"disk_device\": \"sdb\", \
     \"tps\": 7, \"kB_read/s\": 1.5}\n",
    "{\"json_format_version\": [1, 0], \"device\": {\"name\": \"/dev/sda\"}, \"smart_status\": {\"passed\": false}, \"ata_smart_attributes\": {\"table\": [{\"id\": 194, \
     \"name\": \"Temperature_Celsius\", \"raw\": {\"value\": 193273528354, \"string\": \"34 (Min/Max 20/45)\"}}]}, \"nvme_smart_health_information_log\": \
     {\"percentage_used\": 3}}\n{\"critical_warning\": {\"value\": 4}, \"media_errors\": 7, \"percent_used\": 3}\n",
];

#[cfg(test)]
mod tests {
    use super::*;

    /// A reader without a worked example would be fuzzed from those of others alone.
    #[test]
    fn every_reader_has_a_worked_example() {
        let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
        let examples: Vec<String> = all(root).unwrap().into_iter().map(|seed| seed.name).collect();
        let mut found = 0;
        for path in readers(root).unwrap() {
            if fs::read_to_string(&path).unwrap().contains("\nimpl Tool for ") {
                let name = path.file_stem().unwrap().to_string_lossy().into_owned();
                assert!(examples.contains(&name), "{name}: its module comment shows nothing that it reads");
                found += 1;
            }
        }
        assert!(found > 40, "{found}");
    }

    /// A name that no reader has any more is a reader that was renamed.
    #[test]
    fn every_family_has_the_examples_of_its_readers() {
        let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
        let all: Vec<String> = all(root).unwrap().into_iter().map(|seed| seed.name).collect();
        for (family, readers) in FAMILIES {
            let without: Vec<_> =
                readers.iter().filter(|reader| !all.contains(&(**reader).to_owned())).collect();
            assert!(without.is_empty(), "{family}: {without:?}");
            assert!(examples(root, family).unwrap().len() > 2, "{family}");
        }
    }
}
