//! Writes and reads trace-cmd's file format, version 6, uncompressed (trace-cmd.dat.v6(5)).
//!
//! A file is a head (layout of pages and events, symbols, names, options) followed by each CPU's raw pages. Data from the
//! kernel is written unchanged. A head without pages ([`Head::write`] with no data) is a valid file:
//! captures that could not be assembled have it as `trace.head`, and `trace-cmd restore -i` accepts it.
//!
//! All numbers are in the byte order of this machine, as the head says. Pages are aligned to the page
//! size because trace-cmd maps them.

use crate::error::{At, Result};
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::path::Path;
use trace::{Bytes, Cpu};

/// Option numbers (trace-cmd, lib/trace-cmd/include/private/trace-cmd-private.h).
mod option {
    pub const CPUSTAT: u16 = 2;
    pub const TRACECLOCK: u16 = 4;
    pub const UNAME: u16 = 5;
    pub const VERSION: u16 = 9;
}

/// Everything in the file except the pages.
#[derive(Clone, Debug, Default)]
pub struct Head {
    /// Text of `events/header_page`.
    pub header_page: Vec<u8>,
    /// Text of `events/header_event`.
    pub header_event: Vec<u8>,
    /// Formats of ftrace's own records, for example kernel stacks.
    pub ftrace: Vec<Vec<u8>>,
    /// Formats of the recorded events, by group.
    pub systems: Vec<(String, Vec<Vec<u8>>)>,
    /// Text of `printk_formats`.
    pub printk: Vec<u8>,
    /// Lines of kallsyms for the needed symbols.
    pub symbols: Vec<u8>,
    /// Lines of thread id and name.
    pub tasks: String,
    /// Text of `trace_clock`: all clocks, with the one in use in brackets.
    pub clock: String,
    /// Output of `uname`, "Linux HOST RELEASE MACHINE".
    pub uname: String,
    /// The kernel's statistics for each CPU, as text.
    pub stats: Vec<String>,
    /// Page size of the recording machine in bytes.
    pub page_size: u32,
}

/// The location of one CPU's pages in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region {
    /// The processor that recorded them.
    pub cpu: Cpu,
    /// Offset of the first page in the file.
    pub offset: u64,
    /// Size in bytes.
    pub bytes: Bytes,
}

/// The pages of one CPU, ready to be copied.
#[derive(Debug)]
pub struct Pages {
    /// The processor that recorded them.
    pub cpu: Cpu,
    /// A file with the pages from its start.
    pub file: File,
    /// Size in bytes, a multiple of the page size.
    pub bytes: Bytes,
}

impl Head {
    /// Size in bytes of the kernel's `long`, derived from the width of the page header's `commit`.
    pub fn long_size(&self) -> u8 {
        let text = String::from_utf8_lossy(&self.header_page);
        let line = text.lines().find(|l| l.contains(" commit;")).unwrap_or_default();
        match line.split("size:").nth(1).and_then(|s| s.split(';').next()) {
            Some("4") => 4,
            _ => 8,
        }
    }

    /// Writes a whole file: the head, then the pages of `cpus` CPUs. CPUs without an entry in `pages` are empty.
    pub fn write(&self, out: &mut File, path: &Path, cpus: u32, pages: &mut [Pages]) -> Result<()> {
        self.write_to(out, cpus, pages).at("writing", path)
    }

    /// Reads a file that [`Head::write`] wrote: version 6, this machine's byte order. Other files need another reader.
    pub fn read(file: &mut File, path: &Path) -> Result<(Head, Vec<Region>)> {
        let size = file.metadata().at("looking at", path)?.len();
        let mut reader = Reader { file: BufReader::new(file), left: size };
        reader.head(size).at("reading", path)
    }

    /// The head alone, as a file without pages.
    pub fn bytes(&self, cpus: u32) -> Vec<u8> {
        let mut out = self.before_offsets(cpus);
        out.resize(out.len() + cpus as usize * 16, 0);
        out
    }

    fn write_to(&self, out: &mut File, cpus: u32, pages: &mut [Pages]) -> io::Result<()> {
        let head = self.before_offsets(cpus);
        let page = u64::from(self.page_size.max(1));
        let mut offset = (head.len() as u64 + u64::from(cpus) * 16).next_multiple_of(page);
        let mut table = Vec::new();
        let mut starts = Vec::new();
        for cpu in 0..cpus {
            let size = pages.iter().find(|p| p.cpu.0 == cpu).map_or(0, |p| p.bytes.0);
            table.extend_from_slice(&offset.to_ne_bytes());
            table.extend_from_slice(&size.to_ne_bytes());
            starts.push(offset);
            offset = (offset + size).next_multiple_of(page);
        }
        out.write_all(&head)?;
        out.write_all(&table)?;
        for p in pages.iter_mut() {
            let Some(&start) = starts.get(p.cpu.0 as usize) else { continue };
            out.seek(SeekFrom::Start(start))?;
            p.file.seek(SeekFrom::Start(0))?;
            // File to file: the kernel copies, or shares the blocks if the file system can.
            let copied = io::copy(&mut io::Read::take(&mut p.file, p.bytes.0), out)?;
            if copied != p.bytes.0 {
                let what = format!("CPU {} has {copied} of {} bytes", p.cpu.0, p.bytes.0);
                return Err(io::Error::new(io::ErrorKind::UnexpectedEof, what));
            }
        }
        out.set_len(offset)
    }

    /// Everything before the table with the location of each CPU's pages.
    fn before_offsets(&self, cpus: u32) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.symbols.len() + (1 << 20));
        out.extend_from_slice(BEGINNING);
        out.push(u8::from(cfg!(target_endian = "big")));
        out.push(self.long_size());
        put32(&mut out, self.page_size);
        out.extend_from_slice(b"header_page\0");
        put_long(&mut out, &self.header_page);
        out.extend_from_slice(b"header_event\0");
        put_long(&mut out, &self.header_event);
        put32(&mut out, self.ftrace.len() as u32);
        for f in &self.ftrace {
            put_long(&mut out, f);
        }
        put32(&mut out, self.systems.len() as u32);
        for (name, formats) in &self.systems {
            out.extend_from_slice(name.as_bytes());
            out.push(0);
            put32(&mut out, formats.len() as u32);
            for f in formats {
                put_long(&mut out, f);
            }
        }
        put_short(&mut out, &self.symbols);
        put_short(&mut out, &self.printk);
        put_long(&mut out, self.tasks.as_bytes());
        put32(&mut out, cpus);
        out.extend_from_slice(b"options  \0");
        self.options(&mut out);
        out.extend_from_slice(b"flyrecord\0");
        out
    }

    fn options(&self, out: &mut Vec<u8>) {
        let mut put = |id: u16, text: &str| {
            out.extend_from_slice(&id.to_ne_bytes());
            // The length of a text includes its final NUL.
            put32(out, text.len() as u32 + 1);
            out.extend_from_slice(text.as_bytes());
            out.push(0);
        };
        for s in &self.stats {
            put(option::CPUSTAT, s);
        }
        put(option::TRACECLOCK, &self.clock);
        if !self.uname.is_empty() {
            put(option::UNAME, &self.uname);
        }
        put(option::VERSION, &format!("iowhy {}", env!("CARGO_PKG_VERSION")));
        out.extend_from_slice(&0u16.to_ne_bytes());
    }
}

/// The first bytes of a file of version 6.
const BEGINNING: &[u8] = b"\x17\x08\x44tracing6\0";

/// Parses a head. A length is used only if the file has that many bytes left.
struct Reader<'f> {
    file: BufReader<&'f mut File>,
    left: u64,
}

impl Reader<'_> {
    fn head(&mut self, size: u64) -> io::Result<(Head, Vec<Region>)> {
        if self.take(BEGINNING.len() as u64)? != BEGINNING {
            return Err(wrong("not a trace.dat of version 6: not written by iowhy".into()));
        }
        self.expect(&[u8::from(cfg!(target_endian = "big"))])?;
        self.take(1)?;
        let mut head = Head { page_size: self.u32()?, ..Head::default() };
        self.expect(b"header_page\0")?;
        head.header_page = self.long()?;
        self.expect(b"header_event\0")?;
        head.header_event = self.long()?;
        for _ in 0..self.u32()? {
            head.ftrace.push(self.long()?);
        }
        for _ in 0..self.u32()? {
            let mut name = Vec::new();
            loop {
                match self.take(1)?[..] {
                    [0] | [] => break,
                    [c, ..] => name.push(c),
                }
            }
            let mut formats = Vec::new();
            for _ in 0..self.u32()? {
                formats.push(self.long()?);
            }
            head.systems.push((String::from_utf8_lossy(&name).into_owned(), formats));
        }
        head.symbols = self.short()?;
        head.printk = self.short()?;
        head.tasks = String::from_utf8_lossy(&self.long()?).into_owned();
        let cpus = self.u32()?;
        self.expect(b"options  \0")?;
        loop {
            let id = u16::from_ne_bytes(self.take(2)?.try_into().unwrap_or_default());
            if id == 0 {
                break;
            }
            let text = self.short()?;
            let text = String::from_utf8_lossy(&text).trim_end_matches('\0').to_string();
            match id {
                option::CPUSTAT => head.stats.push(text),
                option::TRACECLOCK => head.clock = text,
                option::UNAME => head.uname = text,
                _ => {}
            }
        }
        self.expect(b"flyrecord\0")?;
        let mut regions = Vec::new();
        for cpu in 0..cpus {
            let (offset, bytes) = (self.u64()?, self.u64()?);
            if offset.checked_add(bytes).is_none_or(|end| end > size) {
                return Err(wrong(format!("the pages of CPU {cpu} lie beyond the end of the file")));
            }
            regions.push(Region { cpu: Cpu(cpu), offset, bytes: Bytes(bytes) });
        }
        Ok((head, regions))
    }

    fn take(&mut self, n: u64) -> io::Result<Vec<u8>> {
        self.left = self
            .left
            .checked_sub(n)
            .ok_or_else(|| wrong(format!("{n} bytes are said to follow, but do not")))?;
        let mut bytes = vec![0; n as usize];
        self.file.read_exact(&mut bytes)?;
        Ok(bytes)
    }

    fn expect(&mut self, what: &[u8]) -> io::Result<()> {
        match self.take(what.len() as u64)? == what {
            true => Ok(()),
            false => Err(wrong(format!(
                "no {:?}: not written by iowhy on a machine like this",
                String::from_utf8_lossy(what)
            ))),
        }
    }

    fn u32(&mut self) -> io::Result<u32> {
        Ok(u32::from_ne_bytes(self.take(4)?.try_into().unwrap_or_default()))
    }

    fn u64(&mut self) -> io::Result<u64> {
        Ok(u64::from_ne_bytes(self.take(8)?.try_into().unwrap_or_default()))
    }

    fn long(&mut self) -> io::Result<Vec<u8>> {
        let n = self.u64()?;
        self.take(n)
    }

    fn short(&mut self) -> io::Result<Vec<u8>> {
        let n = self.u32()?;
        self.take(n.into())
    }
}

fn wrong(what: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

fn put32(out: &mut Vec<u8>, n: u32) {
    out.extend_from_slice(&n.to_ne_bytes());
}

/// Writes data preceded by its length in 8 bytes.
fn put_long(out: &mut Vec<u8>, data: &[u8]) {
    out.extend_from_slice(&(data.len() as u64).to_ne_bytes());
    out.extend_from_slice(data);
}

/// Writes data preceded by its length in 4 bytes.
fn put_short(out: &mut Vec<u8>, data: &[u8]) {
    put32(out, data.len() as u32);
    out.extend_from_slice(data);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn head() -> Head {
        Head {
            header_page: b"field: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n".to_vec(),
            header_event: b"type_len : 5 bits".to_vec(),
            ftrace: vec![b"name: kernel_stack".to_vec()],
            systems: vec![("block".into(), vec![b"name: a".to_vec(), b"name: b".to_vec()])],
            printk: b"0x1 : \"x\"".to_vec(),
            symbols: b"ffff T read\n".to_vec(),
            tasks: "1 init\n".into(),
            clock: "local [mono]\n".into(),
            uname: "Linux h 6".into(),
            stats: vec!["CPU: 0\n".into()],
            page_size: 4096,
        }
    }

    fn write(bytes: &[u8]) -> File {
        use std::io::Write;
        let mut f = tempfile::tempfile().unwrap();
        f.write_all(bytes).unwrap();
        f.rewind().unwrap();
        f
    }

    #[test]
    fn what_was_written_comes_back() {
        let pages = |n: u8| write(&[n; 8192]);
        let mut all = [
            Pages { cpu: Cpu(0), file: pages(1), bytes: Bytes(8192) },
            Pages { cpu: Cpu(2), file: pages(3), bytes: Bytes(4096) },
        ];
        let mut out = tempfile::tempfile().unwrap();
        head().write(&mut out, Path::new("t"), 3, &mut all).unwrap();
        out.rewind().unwrap();
        let (back, regions) = Head::read(&mut out, Path::new("t")).unwrap();
        assert_eq!(back.bytes(3), head().bytes(3));
        let sizes: Vec<_> = regions.iter().map(|r| r.bytes.0).collect();
        assert_eq!(sizes, [8192, 0, 4096]);
        assert!(regions.iter().all(|r| r.offset % 4096 == 0));
        let mut page = [0; 4096];
        std::os::unix::fs::FileExt::read_exact_at(&out, &mut page, regions[2].offset).unwrap();
        assert_eq!(page, [3; 4096]);
    }

    #[test]
    fn pages_tell_how_wide_the_kernels_long_is() {
        let width = |size: &str| {
            let line =
                format!("field: u64 timestamp;\tsize:8;\nfield: local_t commit;\toffset:8;\tsize:{size};\n");
            Head { header_page: line.into_bytes(), ..Head::default() }.long_size()
        };
        assert_eq!((width("4"), width("8")), (4, 8));
        assert_eq!(Head::default().long_size(), 8, "nothing is told");
    }

    proptest! {
        #[test]
        fn a_damaged_head_is_an_error_or_a_head(at in 0usize..400, byte: u8, cut in 0usize..400) {
            let mut bytes = head().bytes(2);
            let i = at % bytes.len();
            bytes[i] = byte;
            bytes.truncate(bytes.len().saturating_sub(cut));
            let _ = Head::read(&mut write(&bytes), Path::new("t"));
        }
    }
}
