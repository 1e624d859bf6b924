//! Input bytes from a file, a compressed file (gzip or zstd, detected by content) or standard input.

use crate::error::Error;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

const GZIP: [u8; 2] = [0x1f, 0x8b];
const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// An open input with its path for messages.
pub struct Input {
    path: PathBuf,
    reader: Box<dyn Read + Send>,
    /// Bytes from the start that [`Input::peek`] has read and [`Input::read`] has not yet returned.
    ahead: Vec<u8>,
    consumed: Arc<AtomicU64>,
    size: Option<u64>,
    /// `gzip` or `zstd`; `None` if the bytes are stored uncompressed.
    compression: Option<&'static str>,
}

impl Input {
    /// Most bytes that [`Input::peek`] returns.
    pub const PEEK: usize = 4096;

    /// Opens a file, or standard input for `-`.
    pub fn open(path: &Path) -> Result<Input, Error> {
        if path == Path::new("-") {
            return Input::from_reader(PathBuf::from("standard input"), Box::new(io::stdin()), None);
        }
        let fail = |source| Error::Io { path: path.to_path_buf(), source };
        let file = File::open(path).map_err(fail)?;
        let meta = file.metadata().map_err(fail)?;
        if meta.is_dir() {
            return Err(Error::NotATrace { path: path.into(), what: "is a folder, not a file".into() });
        }
        let size = meta.is_file().then_some(meta.len());
        Input::from_reader(path.to_path_buf(), Box::new(file), size)
    }

    /// Wraps any reader. `size` is the size of the stored (perhaps compressed) bytes, if known.
    pub fn from_reader(
        path: PathBuf,
        reader: Box<dyn Read + Send>,
        size: Option<u64>,
    ) -> Result<Input, Error> {
        let consumed = Arc::new(AtomicU64::new(0));
        let mut raw: Box<dyn Read + Send> = Box::new(Counted { inner: reader, count: consumed.clone() });
        let ahead = take(&mut raw, ZSTD.len()).map_err(|source| Error::Io { path: path.clone(), source })?;
        let fail = |source| Error::Io { path: path.clone(), source };
        type Opened = (Box<dyn Read + Send>, Vec<u8>, Option<&'static str>);
        let (reader, ahead, compression): Opened = if ahead.starts_with(&GZIP) {
            let decoder = flate2::read::MultiGzDecoder::new(io::Cursor::new(ahead).chain(raw));
            (Box::new(decoder), vec![], Some("gzip"))
        } else if ahead.starts_with(&ZSTD) {
            let decoder =
                zstd::stream::read::Decoder::new(io::Cursor::new(ahead).chain(raw)).map_err(fail)?;
            (Box::new(decoder), vec![], Some("zstd"))
        } else {
            (raw, ahead, None)
        };
        Ok(Input { path, reader, ahead, consumed, size, compression })
    }

    /// The first bytes (at most [`Input::PEEK`]), without consuming them.
    pub fn peek(&mut self) -> Result<&[u8], Error> {
        self.peek_far(Self::PEEK)
    }

    /// As [`Input::peek`], with `most` as the limit.
    pub fn peek_far(&mut self, most: usize) -> Result<&[u8], Error> {
        if self.ahead.len() < most {
            let more = take(&mut self.reader, most - self.ahead.len()).map_err(|e| self.fail(e))?;
            self.ahead.extend(more);
        }
        Ok(&self.ahead)
    }

    /// Reads some bytes and returns their number; 0 at the end.
    pub fn read(&mut self, buffer: &mut [u8]) -> Result<usize, Error> {
        if !self.ahead.is_empty() {
            let n = buffer.len().min(self.ahead.len());
            buffer[..n].copy_from_slice(&self.ahead[..n]);
            self.ahead.drain(..n);
            return Ok(n);
        }
        loop {
            match self.reader.read(buffer) {
                Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
                Err(e) => return Err(self.fail(e)),
                Ok(n) => return Ok(n),
            }
        }
    }

    /// Bytes consumed so far of the stored (perhaps compressed) file.
    pub fn position(&self) -> u64 {
        self.consumed.load(Ordering::Relaxed)
    }

    /// Size of the stored file in bytes; `None` for a pipe.
    pub fn size(&self) -> Option<u64> {
        self.size
    }

    /// Whether its path names a file with exactly the bytes that [`Input::read`] returns, so that it can be read at any offset.
    pub fn is_plain_file(&self) -> bool {
        self.size.is_some() && self.compression.is_none()
    }

    /// The path as text, for messages.
    pub fn name(&self) -> String {
        self.path.display().to_string()
    }

    /// The path as given, or `standard input`.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Explains a failed read. If the system reports no error number, the decompressor failed.
    fn fail(&self, source: io::Error) -> Error {
        let path = self.path.clone();
        match self.compression {
            Some(kind) if source.raw_os_error().is_none() => {
                let what = format!("the {kind} data is damaged or cut off here: {source}");
                Error::Malformed { path, offset: self.position(), what }
            }
            _ => Error::Io { path, source },
        }
    }
}

/// Counts the bytes that pass through.
struct Counted {
    inner: Box<dyn Read + Send>,
    count: Arc<AtomicU64>,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(buffer)?;
        self.count.fetch_add(n as u64, Ordering::Relaxed);
        Ok(n)
    }
}

/// Reads up to `want` bytes, fewer only at the end.
fn take(reader: &mut Box<dyn Read + Send>, want: usize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    reader.take(want as u64).read_to_end(&mut bytes)?;
    Ok(bytes)
}
