//! Every encoding of the ring buffer, in both byte orders and word sizes.

use super::*;

fn layout(order: Order, long: usize) -> PageLayout {
    PageLayout { order, long, data: 8 + long, size: 256 }
}

struct Page {
    order: Order,
    bytes: Vec<u8>,
}

impl Page {
    fn new(order: Order, long: usize, time: u64) -> Page {
        let mut p = Page { order, bytes: Vec::new() };
        p.word(time, 8);
        p.word(0, long);
        p
    }
    fn word(&mut self, v: u64, size: usize) {
        match self.order {
            Order::Little => self.bytes.extend_from_slice(&v.to_le_bytes()[..size]),
            Order::Big => self.bytes.extend_from_slice(&v.to_be_bytes()[8 - size..]),
        }
    }
    fn header(&mut self, kind: u32, delta: u32) {
        let v = match self.order {
            Order::Little => kind | delta << 5,
            Order::Big => kind << 27 | delta,
        };
        self.word(v.into(), 4);
    }
    fn commit(&mut self, long: usize, flags: u64) {
        let v = (self.bytes.len() - 8 - long) as u64 | flags;
        let tail = self.bytes.split_off(8 + long);
        self.bytes.truncate(8);
        self.word(v, long);
        self.bytes.extend_from_slice(&tail);
    }
}

fn all(l: &PageLayout, page: &[u8]) -> (PageStart, Vec<(u64, Vec<u8>)>, usize) {
    let (mut c, start) = PageCursor::start(l, page).unwrap();
    let (mut out, mut damaged) = (Vec::new(), 0);
    loop {
        match c.next(l.order, page) {
            Next::Record { time, at, len } => out.push((time, page[at..at + len].to_vec())),
            Next::End => return (start, out, damaged),
            Next::Damaged(n) => damaged += n,
        }
    }
}

#[test]
fn every_encoding_in_every_word_size() {
    for order in [Order::Little, Order::Big] {
        for long in [4, 8] {
            let mut p = Page::new(order, long, 1000);
            p.header(1, 0); // small record
            p.bytes.extend_from_slice(b"aaaa");
            p.header(TIME_EXTEND, 5);
            p.word(2, 4); // + 5 + 2 * 2^27
            p.header(0, 7); // long form: 4 + 6 bytes of data, padded to 4
            p.word(10, 4);
            p.bytes.extend_from_slice(b"bbbbbb\0\0");
            p.header(PADDING, 3); // a dropped record: its delta counts
            p.word(8, 4);
            p.word(0, 4);
            p.header(2, 1);
            p.bytes.extend_from_slice(b"cccccccc");
            p.header(TIME_STAMP, 9);
            p.word(100, 4);
            p.header(1, 0);
            p.bytes.extend_from_slice(b"dddd");
            p.commit(long, LOST | LOST_COUNTED);
            p.word(42, long); // lost count after the data
            let l = layout(order, long);
            let (start, records, damaged) = all(&l, &p.bytes);
            assert_eq!(start.lost, Some(Lost::Counted(42)));
            assert_eq!(damaged, 0);
            let t = 1000 + 5 + (2 << 27) + 7;
            let want: Vec<(u64, Vec<u8>)> = vec![
                (1000, b"aaaa".to_vec()),
                (t, b"bbbbbb".to_vec()),
                (t + 4, b"cccccccc".to_vec()),
                (9 + (100 << 27), b"dddd".to_vec()),
            ];
            assert_eq!(records, want, "{order:?} {long}");
        }
    }
}

#[test]
fn absolute_stamps_keep_their_high_bits() {
    let base = 0x0fff_ffff_ffff_fff0u64 | 1 << 60;
    let mut p = Page::new(Order::Little, 8, base);
    p.header(TIME_STAMP, 4); // wrapped below: the next 2^59
    p.word(0, 4);
    p.header(1, 0);
    p.bytes.extend_from_slice(b"aaaa");
    p.commit(8, 0);
    let (_, records, _) = all(&layout(Order::Little, 8), &p.bytes);
    assert_eq!(records[0].0, (base & STAMP_HIGH) + (1 << 59) + 4);
}

#[test]
fn end_padding_hides_what_follows() {
    let mut p = Page::new(Order::Little, 8, 5);
    p.header(PADDING, 0);
    p.header(1, 0);
    p.bytes.extend_from_slice(b"junk");
    p.commit(8, LOST);
    let (start, records, damaged) = all(&layout(Order::Little, 8), &p.bytes);
    assert_eq!((start.lost, records.len(), damaged), (Some(Lost::Some), 0, 0));
}

#[test]
fn lying_lengths_are_damage() {
    for (kind, word) in [(0, 3u64), (0, 4000), (28, 0), (PADDING, 0)] {
        let mut p = Page::new(Order::Little, 8, 5);
        p.header(kind, 2);
        p.word(word, 4);
        p.commit(8, 0);
        let (_, records, damaged) = all(&layout(Order::Little, 8), &p.bytes);
        assert_eq!((records.len(), damaged), (0, 8), "{kind} {word}");
    }
    let mut p = Page::new(Order::Little, 8, 5);
    p.commit(8, 2000);
    let (_, start) = PageCursor::start(&layout(Order::Little, 8), &p.bytes).unwrap();
    assert!(start.cut);
    assert!(PageCursor::start(&layout(Order::Little, 8), &[0; 15]).is_none());
}

#[test]
fn layout_comes_from_the_kernels_text() {
    let page = b"\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n\tfield: local_t commit;\toffset:8;\tsize:4;\tsigned:1;\n\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n\tfield: char data;\toffset:12;\tsize:4084;\tsigned:0;\n";
    let event = b"# compressed entry header\n\ttype_len    :    5 bits\n\ttime_delta  :   27 bits\n\tarray       :   32 bits\n\n\tpadding     : type == 29\n\ttime_extend : type == 30\n\ttime_stamp : type == 31\n\tdata max type_len  == 28\n";
    let l = PageLayout::parse(Order::Big, page, event).unwrap();
    assert_eq!((l.long, l.data, l.size), (4, 12, 4096));
    assert!(PageLayout::parse(Order::Big, b"", event).is_err());
    assert!(PageLayout::parse(Order::Big, page, b"\ttype : 2 bits\n").is_err());
}
