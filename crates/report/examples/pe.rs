//! tmp
use report::events::*;
use std::path::Path;
fn main() {
    let mut o = Options::default();
    let mut path = String::new();
    let mut a = std::env::args().skip(1);
    while let Some(x) = a.next() {
        match x.as_str() {
            "-q" => o.quiet = true,
            "-s" => o.per_task = true,
            "-h" => o.by_name = true,
            "-t" => o.track = true,
            "-O" => o.no_events = true,
            "-f" => o.formats.set_all(&a.next().unwrap()).unwrap(),
            "-F" => o.formats.set_own(&a.next().unwrap()).unwrap(),
            "-a" => o.mask.add_names(&a.next().unwrap()).unwrap(),
            "-w" => o.window = Window::parse(&a.next().unwrap()).unwrap(),
            p => path = p.to_string(),
        }
    }
    let mut r = trace::open(Path::new(&path)).unwrap();
    let mut batch = trace::Batch::default();
    let mut p: Option<Printer<_>> = None;
    while r.source.fill(&mut batch).unwrap() {
        if p.is_none() {
            let d = batch
                .events
                .iter()
                .find(|e| e.dev.0 != 0 && !e.action.is_note())
                .map_or(trace::DevId(0), |e| e.dev);
            o.devices = r.names.iter().map(|n| (d, n.clone())).collect();
            p = Some(Printer::new(std::io::stdout().lock(), o.clone()));
        }
        p.as_mut().unwrap().batch(&batch).unwrap();
    }
    if let Some(p) = p {
        p.finish().unwrap();
    }
}
