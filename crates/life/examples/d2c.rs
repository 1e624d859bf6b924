use life::*;
use std::collections::BTreeMap;
#[derive(Default)]
struct S {
    n: u64,
    m: BTreeMap<(String, &'static str, &'static str), Vec<u64>>,
    full: bool,
}
impl Sink for S {
    fn request(&mut self, r: &Request, _: &Names) {
        self.n += 1;
        if self.full {
            self.m
                .entry((r.dev.to_string(), r.op.name(), "d2c"))
                .or_default()
                .push(r.time.d2c().map_or(0, |x| x.0));
            if let Some(q) = r.time.q2c() {
                self.m.entry((r.dev.to_string(), r.op.name(), "q2c")).or_default().push(q.0);
            }
            if r.time.flushed {
                self.m
                    .entry((r.dev.to_string(), r.op.name(), "flushed"))
                    .or_default()
                    .push(r.time.q2c().unwrap_or_default().0);
                if r.time.preflush.is_none() {
                    self.m.entry((r.dev.to_string(), r.op.name(), "no preflush")).or_default().push(0);
                }
                if r.time.postflush.is_none() {
                    self.m.entry((r.dev.to_string(), r.op.name(), "no postflush")).or_default().push(0);
                }
            }
        }
    }
    fn bio(&mut self, b: &Bio, _: &Names) {
        if self.full {
            self.m
                .entry((b.dev.to_string(), b.op.name(), "bio"))
                .or_default()
                .push(b.time.q2c().map_or(0, |x| x.0));
            if b.lower.children > 0 {
                self.m.entry((b.dev.to_string(), b.op.name(), "lowerR")).or_default().push(b.lower.reading.0);
                self.m.entry((b.dev.to_string(), b.op.name(), "lowerW")).or_default().push(b.lower.writing.0);
                self.m.entry((b.dev.to_string(), b.op.name(), "idle")).or_default().push(b.lower.idle.0);
            }
        }
    }
}
fn main() {
    let mut r = trace::open(std::path::Path::new(&std::env::args().nth(1).unwrap()))
        .unwrap_or_else(|e| panic!("{e}"));
    let mut b = trace::Batch::default();
    let t = std::time::Instant::now();
    let mut s = S { full: std::env::args().nth(2).is_some(), ..S::default() };
    let mut l = Lives::default();
    while r.source.fill(&mut b).unwrap() {
        l.feed(&b, &mut s);
    }
    println!("{} {:?} {:?}", s.n, l.finish(), t.elapsed());
    for (k, v) in &mut s.m {
        v.sort();
        let n = v.len();
        println!(
            "{k:?} n={n} avg {:.3} p50 {:.3} p99 {:.3} max {:.3}",
            v.iter().sum::<u64>() as f64 / n as f64 / 1e6,
            v[n / 2] as f64 / 1e6,
            v[n * 99 / 100] as f64 / 1e6,
            v[n - 1] as f64 / 1e6
        );
    }
}
