//! Which of the files named are texts to be read for what they tell, and reading them.

use crate::failure::Failure;
use evidence::Mail;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

/// How much of a file is looked at to see whether it is text.
const LOOK: usize = 4096;
/// Bytes read at once.
const BUFFER: usize = 1 << 18;

/// The text of a file, if it is one and tools' output or settings are found in it. `None` for whatever else there is: it is for
/// others to say what is wrong with it.
pub fn read(path: &Path) -> Option<Mail> {
    if !path.is_file() {
        return None;
    }
    let mut content = Vec::new();
    let mut file = File::open(path).ok()?;
    (&mut file).take(LOOK as u64).read_to_end(&mut content).ok()?;
    if content.contains(&0) {
        return None;
    }
    let rest = BufReader::with_capacity(BUFFER, file);
    let mail = Mail::read_stream(&path.display().to_string(), content, rest).ok()?;
    mail.says_anything().then_some(mail)
}

/// The text on standard input; `None` if it is a recording or nothing, of which then nothing was taken.
fn on_standard_input() -> Option<Mail> {
    let mut input = io::stdin().lock();
    let start = input.fill_buf().ok()?.to_vec();
    // Every binary format has zero bytes in its first few hundred.
    if start.is_empty() || start.contains(&0) {
        return None;
    }
    if trace::blkparse::looks_like(&start) && !is_more_than_events(&Mail::read("", &start)) {
        return None;
    }
    input.consume(start.len());
    Mail::read_stream("standard input", start, input).ok()
}

/// Whether a text has more in it than events of block I/O; then it is no recording.
pub fn is_more_than_events(mail: &Mail) -> bool {
    mail.runs.iter().flat_map(|run| &run.readings).any(|r| r.tool != "blkparse" && !r.rows.is_empty())
}

/// Parts what was named into texts and one recording at most.
pub fn sort(paths: &[PathBuf]) -> Result<(Option<PathBuf>, Vec<Mail>), Failure> {
    let mut recording: Option<PathBuf> = None;
    let mut mails = vec![];
    for path in paths {
        if path == Path::new("-") {
            match on_standard_input() {
                Some(mail) if mail.says_anything() => mails.push(mail),
                Some(_) => {
                    return Err(Failure::Other {
                        what: "standard input is no recording, and no text in which output of tools is found"
                            .into(),
                        help: None,
                    })
                }
                None => one(&mut recording, path)?,
            }
            continue;
        }
        if path.is_dir() && trace::open(path).is_err() {
            let texts = in_folder(path);
            // Settings lie beside every recording: alone they do not hide that it cannot be opened.
            if texts.iter().any(Mail::has_readings) {
                mails.extend(texts);
                continue;
            }
        }
        match text_unless_recording(path) {
            Some(mail) => mails.push(mail),
            None => one(&mut recording, path)?,
        }
    }
    Ok((recording, mails))
}

/// Notes the one recording; an error if there is one already.
fn one(recording: &mut Option<PathBuf>, path: &Path) -> Result<(), Failure> {
    if let Some(first) = recording.replace(path.to_owned()) {
        return Err(Failure::Other {
            what: format!("{} and {} are both recordings", first.display(), path.display()),
            help: Some("explain one of them, with any texts; or compare them: iowhy compare".into()),
        });
    }
    Ok(())
}

/// Texts in a folder that are read.
const MOST_TEXTS: usize = 100;
/// What recordings are made of, and pages about them.
const NO_TEXTS: [&str; 6] = [".dat", ".zst", ".gz", ".raw", ".jsonl", ".md"];

/// The texts in a folder in which output of tools is found, by name: all that a folder without a trace has, and what lies
/// beside the trace in one that has one (`fio.json`).
pub fn in_folder(folder: &Path) -> Vec<Mail> {
    let names = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let may_be = |path: &PathBuf| {
        let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        let recorded = name.contains(".blktrace.") || NO_TEXTS.iter().any(|end| name.ends_with(end));
        // No link: it may lead anywhere.
        let plain = path.symlink_metadata().is_ok_and(|m| m.is_file());
        plain && !recorded && !["system.json", "capture.json"].contains(&name.as_str())
    };
    let mut paths: Vec<PathBuf> = names.filter(may_be).collect();
    paths.sort();
    paths.iter().take(MOST_TEXTS).filter_map(|path| text_unless_recording(path)).collect()
}

/// The text of a file, unless it is a recording.
pub fn text_unless_recording(path: &Path) -> Option<Mail> {
    let mail = read(path)?;
    match trace::open(path) {
        Ok(recording) => (recording.format == "blkparse" && is_more_than_events(&mail)).then_some(mail),
        Err(_) => Some(mail),
    }
}
