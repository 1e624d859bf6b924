//! Reads a range of a file from front to back: integers, strings, blocks, each checked against the remaining bytes.
//!
//! Invariant: a length in the file is used only if that many bytes exist, so a
//! false length causes an [`Error`] with its offset, never an allocation.

use super::bytes::Order;
use super::compress::Codec;
use crate::error::Error;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Limit on unpacked texts (formats, symbols); the largest, /proc/kallsyms, has some 15 MB.
const MAX_UNPACKED: usize = 128 << 20;

/// An open file, for reading at any offset and for errors that give path and offset.
#[derive(Clone, Debug)]
pub struct DatFile {
    file: Arc<File>,
    /// Path of the file.
    pub path: Arc<PathBuf>,
    /// Length in bytes.
    pub size: u64,
    /// Byte order of integers in the file.
    pub order: Order,
}

impl DatFile {
    /// Opens a regular file; other kinds are an error.
    pub fn open(path: &Path) -> Result<DatFile, Error> {
        let io = |source| Error::Io { path: path.to_owned(), source };
        let file = File::open(path).map_err(io)?;
        let meta = file.metadata().map_err(io)?;
        if !meta.is_file() {
            return Err(Error::NotATrace {
                path: path.to_owned(),
                what: "not a regular file; a trace.dat is read at many places, so it cannot come from a pipe"
                    .into(),
            });
        }
        Ok(DatFile {
            file: Arc::new(file),
            path: Arc::new(path.to_owned()),
            size: meta.len(),
            order: Order::Little,
        })
    }

    /// An error about this file at an offset.
    pub fn malformed(&self, offset: u64, what: impl Into<String>) -> Error {
        Error::Malformed { path: self.path.to_path_buf(), offset, what: what.into() }
    }

    /// Fills `into` from `offset`; returns fewer bytes only at the end of the file.
    pub fn read_at(&self, offset: u64, into: &mut [u8]) -> Result<usize, Error> {
        let mut done = 0;
        while done < into.len() {
            match self.file.read_at(&mut into[done..], offset + done as u64) {
                Ok(0) => break,
                Ok(n) => done += n,
                Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
                Err(source) => return Err(Error::Io { path: self.path.to_path_buf(), source }),
            }
        }
        Ok(done)
    }

    /// The range from `offset` to the end of the file, or of `len` bytes.
    pub fn section(&self, offset: u64, len: Option<u64>) -> Result<Section, Error> {
        let end = match len {
            None => self.size,
            Some(n) => offset.checked_add(n).filter(|&e| e <= self.size).ok_or_else(|| {
                self.malformed(
                    offset,
                    format!("{n} bytes are said to be here, but the file ends at {}", self.size),
                )
            })?,
        };
        if offset > end {
            return Err(
                self.malformed(offset, format!("beyond the end of the file, which has {} bytes", self.size))
            );
        }
        Ok(Section {
            input: self.clone(),
            unpacked: None,
            ahead: Ahead::default(),
            at: offset,
            end,
            base: offset,
        })
    }
}

/// Bytes read at once for small requests: formats are thousands of texts, each preceded by its length.
const AHEAD: usize = 32 << 10;

/// Bytes read ahead, starting at file offset `at`.
#[derive(Clone, Debug, Default)]
struct Ahead {
    at: u64,
    bytes: Arc<Vec<u8>>,
}

/// A range of a file, and the position in it.
#[derive(Clone, Debug)]
pub struct Section {
    input: DatFile,
    /// The whole section in memory, if it was compressed; `at` and `end` are then offsets in it.
    unpacked: Option<Arc<Vec<u8>>>,
    at: u64,
    end: u64,
    ahead: Ahead,
    /// File offset for errors in a compressed section: the start of the section.
    base: u64,
}

impl Section {
    /// Unpacks a compressed section, which starts with its packed and unpacked sizes (u32 each).
    pub fn unpack(mut self, codec: Codec) -> Result<Section, Error> {
        let at = self.at;
        let (packed, unpacked) = (self.u32()? as usize, self.u32()? as usize);
        if unpacked > MAX_UNPACKED {
            return Err(self.input.malformed(
                at,
                format!("a section of {unpacked} bytes unpacked; the largest that is known has 15 MB"),
            ));
        }
        let packed = self.take(packed)?;
        let mut bytes = Vec::new();
        codec.unpack(&packed, unpacked, &mut bytes).map_err(|what| self.input.malformed(at, what))?;
        let end = bytes.len() as u64;
        Ok(Section { unpacked: Some(Arc::new(bytes)), at: 0, end, ..self })
    }

    /// The current offset in the file, for error messages.
    pub fn offset(&self) -> u64 {
        if self.unpacked.is_some() {
            self.base
        } else {
            self.at
        }
    }

    /// Number of unread bytes.
    pub fn left(&self) -> u64 {
        self.end - self.at
    }

    /// Reads the next `n` bytes.
    pub fn take(&mut self, n: usize) -> Result<Vec<u8>, Error> {
        if n as u64 > self.left() {
            return Err(self.cut(n as u64));
        }
        let mut out = vec![0; n];
        self.fill(&mut out)?;
        Ok(out)
    }

    /// Skips `n` bytes.
    pub fn skip(&mut self, n: u64) -> Result<(), Error> {
        if n > self.left() {
            return Err(self.cut(n));
        }
        self.at += n;
        Ok(())
    }

    /// The next `n` bytes as a section of their own; this section continues after them.
    pub fn part(&mut self, n: u64) -> Result<Section, Error> {
        let mut part = self.clone();
        self.skip(n)?;
        part.end = self.at;
        Ok(part)
    }

    fn fill(&mut self, out: &mut [u8]) -> Result<(), Error> {
        match &self.unpacked {
            Some(bytes) => out.copy_from_slice(&bytes[self.at as usize..self.at as usize + out.len()]),
            None if out.len() < AHEAD => self.fill_ahead(out)?,
            None => {
                let got = self.input.read_at(self.at, out)?;
                if got < out.len() {
                    return Err(self.cut(out.len() as u64));
                }
            }
        }
        self.at += out.len() as u64;
        Ok(())
    }

    /// Fills `out` from the bytes read ahead; reads ahead again if they are not enough.
    fn fill_ahead(&mut self, out: &mut [u8]) -> Result<(), Error> {
        let reaches = |a: &Ahead| {
            let from = usize::try_from(self.at.checked_sub(a.at)?).ok()?;
            a.bytes.get(from..from.checked_add(out.len())?).map(|_| from)
        };
        let from = match reaches(&self.ahead) {
            Some(from) => from,
            None => {
                let mut bytes = vec![0; AHEAD.min(self.left() as usize)];
                let got = self.input.read_at(self.at, &mut bytes)?;
                bytes.truncate(got);
                self.ahead = Ahead { at: self.at, bytes: Arc::new(bytes) };
                0
            }
        };
        match self.ahead.bytes.get(from..from + out.len()) {
            Some(bytes) => out.copy_from_slice(bytes),
            None => return Err(self.cut(out.len() as u64)),
        }
        Ok(())
    }

    fn cut(&self, need: u64) -> Error {
        self.input.malformed(
            self.offset(),
            format!("{need} bytes are needed here but only {} are there; is the file cut off?", self.left()),
        )
    }

    /// An error at the current offset.
    pub fn malformed(&self, what: impl Into<String>) -> Error {
        self.input.malformed(self.offset(), what)
    }

    fn uint(&mut self, size: usize) -> Result<u64, Error> {
        let mut b = [0; 8];
        if size as u64 > self.left() {
            return Err(self.cut(size as u64));
        }
        self.fill(&mut b[..size])?;
        Ok(self.input.order.uint(&b, 0, size).unwrap_or(0))
    }

    /// Reads one byte.
    pub fn u8(&mut self) -> Result<u8, Error> {
        self.uint(1).map(|v| v as u8)
    }

    /// Reads a 16-bit integer.
    pub fn u16(&mut self) -> Result<u16, Error> {
        self.uint(2).map(|v| v as u16)
    }

    /// Reads a 32-bit integer.
    pub fn u32(&mut self) -> Result<u32, Error> {
        self.uint(4).map(|v| v as u32)
    }

    /// Reads a 64-bit integer.
    pub fn u64(&mut self) -> Result<u64, Error> {
        self.uint(8)
    }

    /// Reads a text that ends with NUL, of at most 4096 bytes.
    pub fn string(&mut self) -> Result<String, Error> {
        const LONGEST: usize = 4096;
        let mut out = Vec::new();
        loop {
            match self.u8()? {
                0 => return Ok(String::from_utf8_lossy(&out).into_owned()),
                _ if out.len() == LONGEST => return Err(self.malformed("a name of more than 4096 bytes")),
                b => out.push(b),
            }
        }
    }

    /// Sets the byte order, once it is known from the file.
    pub fn set_order(&mut self, order: Order) {
        self.input.order = order;
    }

    /// The file that this section is part of.
    pub fn input(&self) -> &DatFile {
        &self.input
    }
}
