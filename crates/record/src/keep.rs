//! The destination of a capture's files during recording: a folder, memory until the end, or a stream.

use crate::drain::{Destination, Drained};
use crate::plan::Output;
use capture::{raw_name, CAPTURE_JSON, HEAD, SAMPLES_JSONL, SYSTEM_JSON, TRACE};
use capture::{At, Error, Result};
use capture::{Head, Pages};
use capture::{Parts, Stream};
use rustix::fs::{memfd_create, MemfdFlags};
use std::fs::{self, File, OpenOptions};
use std::path::{Path, PathBuf};
use trace::Cpu;

/// The destination of a capture.
#[derive(Debug)]
pub enum Keep {
    /// Files in a folder.
    Folder {
        /// Path of the folder.
        dir: PathBuf,
        /// Whether the recorder created it, and removes it if nothing was recorded.
        made: bool,
        /// Whether pages stay in memory until the recording ends.
        in_memory: bool,
    },
    /// A tar stream on standard output.
    Stream(Stream),
}

impl Keep {
    /// Prepares the output. A folder that already has a capture is refused.
    pub fn open(output: &Output) -> Result<Keep> {
        match output {
            Output::Stream => {
                let out = std::io::stdout();
                if std::io::IsTerminal::is_terminal(&out) {
                    return Err(Error::refused(
                        "a capture cannot be written to a terminal",
                        "pipe it: iowhy record -o - | ssh HOST iowhy explain -",
                    ));
                }
                Ok(Keep::Stream(Stream::new(Box::new(out))))
            }
            Output::Folder(dir) => {
                let made = !dir.exists();
                fs::create_dir_all(dir).at("making the folder", dir)?;
                for name in [TRACE, HEAD, CAPTURE_JSON] {
                    if dir.join(name).exists() {
                        return Err(Error::refused(
                            format!("{} already holds a capture", dir.display()),
                            "give another folder with -o, or remove it",
                        ));
                    }
                }
                Ok(Keep::Folder { dir: dir.clone(), made, in_memory: false })
            }
        }
    }

    /// Keeps pages in memory from now on.
    pub fn stay_in_memory(&mut self) {
        if let Keep::Folder { in_memory, .. } = self {
            *in_memory = true;
        }
    }

    /// The destination of the pages of `cpu`.
    pub fn destination(&self, cpu: Cpu) -> Result<Destination> {
        let name = raw_name(cpu);
        match self {
            Keep::Stream(s) => Ok(Destination::Parts(s.parts(name))),
            Keep::Folder { in_memory: true, dir, .. } => {
                let fd = memfd_create(name.as_str(), MemfdFlags::CLOEXEC).at("getting memory for", dir)?;
                Ok(Destination::File(File::from(fd)))
            }
            Keep::Folder { dir, .. } => Ok(Destination::File(create(&dir.join(name))?)),
        }
    }

    /// Writes a whole file, replacing an older one. In memory mode, only files with `finished` are written.
    pub fn file(&self, name: &str, data: &[u8], finished: bool) -> Result<()> {
        match self {
            Keep::Stream(s) => s.file(name, data),
            Keep::Folder { in_memory: true, .. } if !finished => Ok(()),
            Keep::Folder { dir, .. } => {
                let path = dir.join(name);
                fs::write(&path, data).at("writing", &path)
            }
        }
    }

    /// Opens a file that grows by whole lines.
    pub fn lines(&self, name: &str) -> Result<Lines> {
        Ok(match self {
            Keep::Stream(s) => Lines::Parts(s.parts(name)),
            Keep::Folder { in_memory: true, dir, .. } => Lines::Memory(dir.join(name), Vec::new()),
            Keep::Folder { dir, .. } => Lines::File(dir.join(name), create(&dir.join(name))?),
        })
    }

    /// Assembles `trace.dat` from the pages. If that fails (the disk is full), the same trace
    /// remains in raw form, as [`HEAD`] and one file per CPU. `None` for a stream.
    pub fn assemble(&self, head: &Head, cpus: u32, drained: Vec<Drained>) -> Result<Option<PathBuf>> {
        let (dir, in_memory) = match self {
            Keep::Stream(s) => {
                s.file(HEAD, &head.bytes(cpus))?;
                return Ok(None);
            }
            Keep::Folder { dir, in_memory, .. } => (dir, *in_memory),
        };
        let mut pages: Vec<Pages> = Vec::new();
        for d in drained {
            if let Destination::File(file) = d.destination {
                pages.push(Pages { cpu: d.cpu, file, bytes: d.bytes });
            }
        }
        let path = dir.join(TRACE);
        let written = create(&path).and_then(|mut f| head.write(&mut f, &path, cpus, &mut pages));
        if let Err(e) = written {
            let _ = fs::remove_file(&path);
            if !in_memory {
                let _ = fs::write(dir.join(HEAD), head.bytes(cpus));
            }
            return Err(e);
        }
        for p in &pages {
            let _ = fs::remove_file(dir.join(raw_name(p.cpu)));
        }
        let _ = fs::remove_file(dir.join(HEAD));
        Ok(Some(path))
    }

    /// Removes all files of the capture if nothing was recorded.
    pub fn discard(&self, cpus: &[Cpu]) {
        if let Keep::Folder { dir, made, .. } = self {
            for name in [TRACE, HEAD, SAMPLES_JSONL, SYSTEM_JSON, CAPTURE_JSON].into_iter().map(String::from)
            {
                let _ = fs::remove_file(dir.join(name));
            }
            for cpu in cpus {
                let _ = fs::remove_file(dir.join(raw_name(*cpu)));
            }
            if *made {
                let _ = fs::remove_dir(dir);
            }
        }
    }

    /// Writes the end of a stream.
    pub fn end(&self) -> Result<()> {
        match self {
            Keep::Stream(s) => s.end(),
            Keep::Folder { .. } => Ok(()),
        }
    }
}

/// A file that grows by whole lines.
#[derive(Debug)]
pub enum Lines {
    /// A file on disk.
    File(PathBuf, File),
    /// Text in memory, written to the path by [`Lines::end`].
    Memory(PathBuf, Vec<u8>),
    /// Parts in a stream.
    Parts(Parts),
}

impl Lines {
    /// Appends a line, which must end with a newline.
    pub fn add(&mut self, line: &[u8]) -> Result<()> {
        match self {
            Lines::File(path, f) => std::io::Write::write_all(f, line).at("writing", path),
            Lines::Memory(_, m) => {
                m.extend_from_slice(line);
                Ok(())
            }
            Lines::Parts(p) => p.write(line),
        }
    }

    /// Writes text that is only in memory.
    pub fn end(self) -> Result<()> {
        match self {
            Lines::Memory(path, m) => fs::write(&path, m).at("writing", &path),
            _ => Ok(()),
        }
    }
}

fn create(path: &Path) -> Result<File> {
    OpenOptions::new().read(true).write(true).create(true).truncate(true).open(path).at("making", path)
}
