//! Packs a whole capture into one compressed file to send: `NAME.tar.zst`.
//!
//! All files in the capture's folder are included, also the output of the workload; `tar --zstd -xf` unpacks them into
//! a folder with the capture's name. The file gets its final name only when it is complete.

use crate::error::{At, Error, Result};
use crate::name::TRACE;
use crate::redact::{not_ours, redact};
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use trace::Bytes;

/// Compression level: zstd's default; ring-buffer pages shrink to 1/9 even at level 1.
const LEVEL: i32 = 3;
/// Limit on files; a capture has ten.
const MOST_FILES: usize = 10_000;

/// The result of packing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packed {
    /// Path of the packed file.
    pub path: PathBuf,
    /// Size of the packed file.
    pub bytes: Bytes,
    /// Total size of the files in it.
    pub unpacked: Bytes,
    /// Files that were left out, each with the reason.
    pub left_out: Vec<String>,
}

/// Packs the capture in `dir` into `to`, or into `DIR.tar.zst` beside it. With `redacted`, names of tasks and files
/// are replaced ([`redact`]), and the folder in the packed file is called `capture`.
pub fn pack(dir: &Path, to: Option<&Path>, redacted: bool) -> Result<Packed> {
    if !dir.exists() {
        let help = trace::similar_words(dir).unwrap_or("give the folder that `iowhy record` made".into());
        return Err(Error::refused(format!("{}: no such folder", dir.display()), help));
    }
    let whole = fs::canonicalize(dir).at("opening", dir)?;
    let name = whole.file_name().map(PathBuf::from).unwrap_or_else(|| "capture".into());
    let to = match to {
        Some(to) => to.to_path_buf(),
        None => whole.with_file_name(format!("{}.tar.zst", name.display())),
    };
    if to.exists() {
        return Err(Error::refused(
            format!("{} already exists", to.display()),
            "give another name with -o, or remove it",
        ));
    }
    // Written beside its final place, so that it can be renamed; removed if anything fails.
    let mut part = to.clone().into_os_string();
    part.push(".part");
    let part = PathBuf::from(part);
    let packed = match redacted {
        false => write(&whole, &name, &part),
        true => write_redacted(&whole, &part),
    };
    let (unpacked, left_out) = match packed {
        Ok(p) => p,
        Err(e) => {
            let _ = fs::remove_file(&part);
            return Err(e);
        }
    };
    fs::rename(&part, &to).at("naming the packed file", &to)?;
    let bytes = Bytes(fs::metadata(&to).at("looking at", &to)?.len());
    Ok(Packed { path: to, bytes, unpacked, left_out })
}

/// Packs a redacted copy, which is placed beside the packed file and removed afterwards.
fn write_redacted(dir: &Path, to: &Path) -> Result<(Bytes, Vec<String>)> {
    let mut copy = to.to_path_buf().into_os_string();
    copy.push(".d");
    let copy = PathBuf::from(copy);
    // A copy left by a killed process: only this program uses the name.
    if copy.is_dir() {
        fs::remove_dir_all(&copy).at("removing what a killed run left", &copy)?;
    }
    fs::create_dir(&copy).at("making the folder", &copy)?;
    let packed = redact(dir, &copy).and_then(|left_out| {
        if !copy.join(TRACE).is_file() {
            return Err(not_ours(dir, "no trace in it that can be redacted"));
        }
        let (bytes, more) = write(&copy, Path::new("capture"), to)?;
        Ok((bytes, [left_out, more].concat()))
    });
    let _ = fs::remove_dir_all(&copy);
    packed
}

fn write(dir: &Path, name: &Path, to: &Path) -> Result<(Bytes, Vec<String>)> {
    let (files, left_out) = files(dir, to)?;
    if !files.iter().any(|f| is_trace(f)) {
        return Err(Error::refused(
            format!("{} holds no trace", dir.display()),
            "give the folder that `iowhy record` made",
        ));
    }
    let out = BufWriter::new(File::create(to).at("making", to)?);
    let zstd = zstd::Encoder::new(out, LEVEL).at("compressing", to)?;
    let mut tar = tar::Builder::new(zstd);
    let mut unpacked = 0;
    for file in files {
        let mut from = File::open(dir.join(&file)).at("opening", &dir.join(&file))?;
        unpacked += from.metadata().map_or(0, |m| m.len());
        tar.append_file(name.join(&file), &mut from).at("packing", &dir.join(&file))?;
    }
    let finished = tar.into_inner().and_then(|zstd| zstd.finish()).and_then(|mut out| out.flush());
    finished.at("writing", to)?;
    Ok((Bytes(unpacked), left_out))
}

fn is_trace(file: &Path) -> bool {
    let name = file.to_string_lossy();
    name == "trace.dat" || name == "trace.head" || name.contains(".blktrace.")
}

/// All regular files in `dir` and below except the packed file itself, and the other entries as left out.
fn files(dir: &Path, but: &Path) -> Result<(Vec<PathBuf>, Vec<String>)> {
    let (mut files, mut left_out) = (Vec::new(), Vec::new());
    let mut queue = vec![PathBuf::new()];
    while let Some(below) = queue.pop() {
        let folder = dir.join(&below);
        for entry in fs::read_dir(&folder).at("listing", &folder)? {
            let entry = entry.at("listing", &folder)?;
            let path = below.join(entry.file_name());
            let kind = entry.file_type().at("looking at", &entry.path())?;
            if kind.is_dir() {
                queue.push(path);
            } else if !kind.is_file() {
                left_out.push(format!("{}: not a plain file", path.display()));
            } else if fs::canonicalize(entry.path()).ok() != fs::canonicalize(but).ok() {
                files.push(path);
            }
            if files.len() > MOST_FILES {
                return Err(Error::refused(
                    format!("{} has more than {MOST_FILES} files", dir.display()),
                    "give the folder of one capture",
                ));
            }
        }
    }
    files.sort();
    Ok((files, left_out))
}

/// Opens a file that [`pack`] wrote, to read the tar inside.
pub fn open_packed(path: &Path) -> io::Result<tar::Archive<impl io::Read>> {
    Ok(tar::Archive::new(zstd::Decoder::new(File::open(path)?)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_capture_goes_in_whole() {
        let dir = tempfile::tempdir().unwrap();
        let capture = dir.path().join("run1");
        fs::create_dir_all(capture.join("logs")).unwrap();
        fs::write(capture.join("trace.dat"), vec![7; 100_000]).unwrap();
        fs::write(capture.join("logs/fio.json"), "{}").unwrap();
        std::os::unix::fs::symlink("/etc/passwd", capture.join("link")).unwrap();
        let packed = pack(&capture, None, false).unwrap();
        assert_eq!(packed.path, fs::canonicalize(dir.path()).unwrap().join("run1.tar.zst"));
        assert_eq!(packed.unpacked, Bytes(100_002));
        assert!(packed.bytes.0 < 1000);
        assert_eq!(packed.left_out, ["link: not a plain file"]);
        let mut names = Vec::new();
        for e in open_packed(&packed.path).unwrap().entries().unwrap() {
            names.push(e.unwrap().path().unwrap().display().to_string());
        }
        assert_eq!(names, ["run1/logs/fio.json", "run1/trace.dat"]);
        assert!(pack(&capture, None, false).unwrap_err().to_string().contains("already exists"));
    }

    #[test]
    fn no_capture_no_file() {
        let dir = tempfile::tempdir().unwrap();
        let to = dir.path().join("x.tar.zst");
        let e = pack(dir.path(), Some(&to), false).unwrap_err();
        assert!(e.to_string().contains("holds no trace"), "{e}");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
        // Other files do not make a folder a capture.
        fs::write(dir.path().join("notes.txt"), "x").unwrap();
        assert!(pack(dir.path(), Some(&to), false).is_err());
        for trace in ["trace.dat", "trace.head", "sda.blktrace.0"] {
            fs::write(dir.path().join(trace), "x").unwrap();
            let packed = pack(dir.path(), Some(&to), false).unwrap();
            assert_eq!(packed.unpacked, Bytes(2), "{trace}");
            fs::remove_file(dir.path().join(trace)).unwrap();
            fs::remove_file(&to).unwrap();
        }
    }

    #[test]
    fn of_a_mistyped_folder_a_similar_one_is_named() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("slow")).unwrap();
        let help = |name: &str| {
            let e = pack(&dir.path().join(name), None, false).unwrap_err();
            assert!(e.to_string().ends_with(": no such folder"), "{e}");
            e.help().unwrap_or_default().to_string()
        };
        assert_eq!(help("solw"), format!("similar: {}", dir.path().join("slow").display()));
        assert!(help("postgres").contains("`iowhy record`"));
    }

    #[test]
    fn what_cannot_be_redacted_is_named_as_it_was_given() {
        let dir = tempfile::tempdir().unwrap();
        let to = dir.path().join("x.tar.zst");
        for (trace, why) in [("sda.blktrace.0", "no trace in it"), ("trace.dat", "of version 6")] {
            let capture = dir.path().join(trace.replace('.', "-"));
            fs::create_dir(&capture).unwrap();
            fs::write(capture.join(trace), b"\x17\x08\x44tracing7\0").unwrap();
            let e = pack(&capture, Some(&to), true).unwrap_err();
            let said = e.to_string();
            assert!(said.contains(why) && !said.contains(".part") && !said.contains('\\'), "{said}");
            assert!(e.help().is_some_and(|help| help.contains("`iowhy record`")), "{e:?}");
        }
    }
}
