//! Writes small trace.dat files as a machine of any byte order and word size would have.

use std::io::Write;
use trace::tracedat::Order;

/// A machine, and what it recorded.
pub struct Dat {
    pub order: Order,
    pub long: usize,
    pub version: u8,
    /// `none`, `zlib` or `zstd`; only version 7 compresses.
    pub codec: &'static str,
    pub page_size: usize,
    pub formats: Vec<(&'static str, String)>,
    pub options: Vec<(u16, Vec<u8>)>,
    pub kallsyms: String,
    pub printk: String,
    pub cmdlines: String,
    /// Instances: name, and per CPU its pages.
    pub buffers: Vec<(&'static str, Vec<Vec<u8>>)>,
}

/// A format text: fields as (declaration, offset, size, signed).
pub fn format(name: &str, id: u16, fields: &[(&str, u32, u32, u8)]) -> String {
    let common = [
        ("unsigned short common_type", 0, 2, 0),
        ("unsigned char common_flags", 2, 1, 0),
        ("unsigned char common_preempt_count", 3, 1, 0),
        ("int common_pid", 4, 4, 1),
    ];
    let line = |f: &(&str, u32, u32, u8)| {
        format!("\tfield:{};\toffset:{};\tsize:{};\tsigned:{};\n", f.0, f.1, f.2, f.3)
    };
    let common: String = common.iter().map(line).collect();
    let own: String = fields.iter().map(line).collect();
    format!("name: {name}\nID: {id}\nformat:\n{common}\n{own}\nprint fmt: \"%d\", REC->x\n")
}

impl Dat {
    pub fn new(order: Order, long: usize, version: u8) -> Dat {
        Dat {
            order,
            long,
            version,
            codec: "none",
            page_size: 4096,
            formats: Vec::new(),
            options: Vec::new(),
            kallsyms: String::new(),
            printk: String::new(),
            cmdlines: String::new(),
            buffers: vec![("", Vec::new())],
        }
    }

    pub fn int(&self, v: u64, size: usize) -> Vec<u8> {
        match self.order {
            Order::Little => v.to_le_bytes()[..size].to_vec(),
            Order::Big => v.to_be_bytes()[8 - size..].to_vec(),
        }
    }

    /// The head of a record: its event and thread.
    pub fn common(&self, id: u16, tid: u32) -> Vec<u8> {
        [self.int(id.into(), 2), vec![0, 0], self.int(tid.into(), 4)].concat()
    }

    /// A page that begins at `time`, with records as (delta, data). `lost`: so many are missing before it.
    pub fn page(&self, time: u64, lost: Option<u64>, records: &[(u32, Vec<u8>)]) -> Vec<u8> {
        let mut data = Vec::new();
        for (delta, bytes) in records {
            let words = bytes.len().div_ceil(4);
            let kind = if words <= 28 { words as u64 } else { 0 };
            let head = match self.order {
                Order::Little => kind | u64::from(*delta) << 5,
                Order::Big => kind << 27 | u64::from(*delta),
            };
            data.extend(self.int(head, 4));
            if kind == 0 {
                data.extend(self.int(bytes.len() as u64 + 4, 4));
            }
            data.extend(bytes);
            data.resize(data.len().next_multiple_of(4), 0);
        }
        let mut commit = data.len() as u64;
        match lost {
            None => {}
            Some(0) => commit |= 1 << 31,
            Some(n) => {
                commit |= 3 << 30;
                data.extend(self.int(n, self.long));
            }
        }
        let mut page = [self.int(time, 8), self.int(commit, self.long), data].concat();
        assert!(page.len() <= self.page_size);
        page.resize(self.page_size, 0);
        page
    }

    fn sized(&self, size: usize, bytes: &[u8]) -> Vec<u8> {
        [self.int(bytes.len() as u64, size), bytes.to_vec()].concat()
    }

    fn header_info(&self) -> Vec<u8> {
        let data = 8 + self.long;
        let room = self.page_size - data;
        let long = self.long;
        let page = format!(
            "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n\
             \tfield: local_t commit;\toffset:8;\tsize:{long};\tsigned:1;\n\
             \tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n\
             \tfield: char data;\toffset:{data};\tsize:{room};\tsigned:0;\n"
        );
        let event = "# compressed entry header\n\ttype_len    :    5 bits\n\ttime_delta  :   27 bits\n\
             \tarray       :   32 bits\n\n\tpadding     : type == 29\n\ttime_extend : type == 30\n\
             \ttime_stamp : type == 31\n\tdata max type_len  == 28\n";
        [
            b"header_page\0".to_vec(),
            self.sized(8, page.as_bytes()),
            b"header_event\0".to_vec(),
            self.sized(8, event.as_bytes()),
        ]
        .concat()
    }

    fn format_group(&self, ftrace: bool) -> Vec<u8> {
        let mine: Vec<_> = self.formats.iter().filter(|f| (f.0 == "ftrace") == ftrace).collect();
        let mut out = self.int(mine.len() as u64, 4);
        for (system, text) in mine {
            if !ftrace {
                out.extend(system.as_bytes());
                out.push(0);
                out.extend(self.int(1, 4));
            }
            out.extend(self.sized(8, text.as_bytes()));
        }
        out
    }

    pub fn bytes(&self) -> Vec<u8> {
        let mut out = b"\x17\x08\x44tracing".to_vec();
        out.extend(format!("{}\0", self.version).as_bytes());
        out.push((self.order == Order::Big) as u8);
        out.push(self.long as u8);
        out.extend(self.int(self.page_size as u64, 4));
        if self.version == 6 {
            self.version_6(out)
        } else {
            self.version_7(out)
        }
    }

    fn version_6(&self, mut out: Vec<u8>) -> Vec<u8> {
        out.extend(self.header_info());
        out.extend(self.format_group(true));
        out.extend(self.format_group(false));
        out.extend(self.sized(4, self.kallsyms.as_bytes()));
        out.extend(self.sized(4, self.printk.as_bytes()));
        out.extend(self.sized(8, self.cmdlines.as_bytes()));
        out.extend(self.int(self.buffers[0].1.len() as u64, 4));
        out.extend(b"options  \0");
        for (id, data) in &self.options {
            out.extend(self.int((*id).into(), 2));
            out.extend(self.sized(4, data));
        }
        let mut places = Vec::new();
        for (name, _) in &self.buffers[1..] {
            out.extend(self.int(3, 2));
            out.extend(self.int(9 + name.len() as u64, 4));
            places.push(out.len());
            out.extend([0; 8]);
            out.extend(name.as_bytes());
            out.push(0);
        }
        out.extend([0, 0]);
        for (i, (_, cpus)) in self.buffers.iter().enumerate() {
            if i > 0 {
                let here = self.int(out.len() as u64, 8);
                out[places[i - 1]..places[i - 1] + 8].copy_from_slice(&here);
            }
            out.extend(b"flyrecord\0");
            let mut at = (out.len() + 16 * cpus.len()).next_multiple_of(self.page_size);
            for pages in cpus {
                out.extend(self.int(at as u64, 8));
                out.extend(self.int(pages.len() as u64, 8));
                at += pages.len();
            }
            out.resize(out.len().next_multiple_of(self.page_size), 0);
            cpus.iter().for_each(|pages| out.extend(pages));
        }
        out
    }

    fn pack(&self, bytes: &[u8]) -> Vec<u8> {
        let packed = match self.codec {
            "zstd" => zstd::bulk::compress(bytes, 1).unwrap(),
            _ => {
                let mut e = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
                e.write_all(bytes).unwrap();
                e.finish().unwrap()
            }
        };
        [self.int(packed.len() as u64, 4), self.int(bytes.len() as u64, 4), packed].concat()
    }

    fn section(&self, id: u16, bytes: Vec<u8>, pack: bool) -> Vec<u8> {
        let pack = pack && self.codec != "none";
        let bytes = if pack { self.pack(&bytes) } else { bytes };
        let flags = u64::from(pack);
        [self.int(id.into(), 2), self.int(flags, 2), vec![0; 4], self.sized(8, &bytes)].concat()
    }

    fn version_7(&self, mut out: Vec<u8>) -> Vec<u8> {
        out.extend(format!("{}\x001.0\0", self.codec).as_bytes());
        let first = out.len();
        out.extend([0; 8]);
        let mut options = Vec::new();
        let mut option = |id: u16, data: &[u8]| {
            options.extend(self.int(id.into(), 2));
            options.extend(self.sized(4, data));
        };
        let sections = [
            (16, self.header_info()),
            (17, self.format_group(true)),
            (18, self.format_group(false)),
            (19, self.sized(4, self.kallsyms.as_bytes())),
            (20, self.sized(4, self.printk.as_bytes())),
            (21, self.sized(8, self.cmdlines.as_bytes())),
        ];
        for (id, bytes) in sections {
            option(id, &self.int(out.len() as u64, 8));
            out.extend(self.section(id, bytes, true));
        }
        for (id, data) in &self.options {
            option(*id, data);
        }
        for (name, cpus) in &self.buffers {
            let at = out.len();
            out.extend(self.section(3, Vec::new(), false));
            let mut places = Vec::new();
            for pages in cpus {
                let start = out.len();
                if self.codec == "none" {
                    out.extend(pages);
                } else {
                    let chunks: Vec<_> = pages.chunks(2 * self.page_size).collect();
                    out.extend(self.int(chunks.len() as u64, 4));
                    chunks.iter().for_each(|c| out.extend(self.pack(c)));
                }
                places.push((start, out.len() - start));
            }
            if self.codec != "none" {
                out[at + 2..at + 4].copy_from_slice(&self.int(1, 2));
            }
            let size = self.int((out.len() - at - 16) as u64, 8);
            out[at + 8..at + 16].copy_from_slice(&size);
            let mut data = self.int(at as u64, 8);
            data.extend(format!("{name}\0mono\0").as_bytes());
            data.extend(self.int(self.page_size as u64, 4));
            data.extend(self.int(cpus.len() as u64, 4));
            for (cpu, (start, len)) in places.iter().enumerate() {
                data.extend(self.int(cpu as u64, 4));
                data.extend(self.int(*start as u64, 8));
                data.extend(self.int(*len as u64, 8));
            }
            option(3, &data);
        }
        option(0, &self.int(0, 8));
        let here = self.int(out.len() as u64, 8);
        out[first..first + 8].copy_from_slice(&here);
        out.extend(self.section(0, options, true));
        out
    }
}
