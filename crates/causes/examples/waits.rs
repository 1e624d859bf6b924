use std::path::Path;
fn main() {
    let path = std::env::args().nth(1).unwrap();
    let recording = trace::open(Path::new(&path)).unwrap();
    let mut source = recording.source;
    let mut batch = trace::Batch::default();
    let (mut flow, mut analysis) = (stats::Flow::default(), stats::Analysis::default());
    while source.fill(&mut batch).unwrap() {
        flow.feed(&batch);
        analysis.feed(&batch);
    }
    let facts = analysis.finish(flow);
    let t = &facts.waits;
    let mut all: Vec<_> = t.victims().collect();
    all.sort_by_key(|(_, _, s)| std::cmp::Reverse(s.lost));
    println!("rows {} others {:.3}", t.len(), t.others());
    for (id, v, s) in all.iter().take(std::env::args().nth(2).and_then(|n| n.parse().ok()).unwrap_or(6)) {
        println!("{} {} {:?} dev {} ops {} ns {:.1}ms lost {:.1}ms unknown {:.1}ms p50 {:.3} p99 {:.3} max {:.3} own p50 {:.3}", v.task, v.asked.plural(), v.fs, s.main_device().unwrap_or(v.dev), s.ops, s.ns as f64/1e6, s.lost as f64/1e6, s.unknown as f64/1e6,
          s.quantile(0.5).0 as f64/1e6, s.quantile(0.99).0 as f64/1e6, s.max.0 as f64/1e6, s.own_quantile(0.5).0 as f64/1e6);
        for row in t
            .rows_of(*id, Default::default())
            .iter()
            .take(std::env::args().nth(3).and_then(|n| n.parse().ok()).unwrap_or(9))
        {
            let links: Vec<String> = t.links(row.chain).into_iter().map(|l| t.link_words(l)).collect();
            println!(
                "   {:5.1} %  {:9.1} ms  {}   <- {}",
                100.0 * row.time.0 as f64 / s.ns as f64,
                row.time.0 as f64 / 1e6,
                links.join(" > "),
                waits::culprit_words(t.culprit_of(row.culprit))
            );
        }
        for part in [0.001, 0.01, 0.1] {
            let sel = t.slowest(*id, part);
            let (n, time) = t.selected(*id, sel);
            println!(
                "   slowest {part}: {n} ops from {:.3} ms, {:.1} ms",
                sel.from.lower().0 as f64 / 1e6,
                time.0 as f64 / 1e6
            );
            for row in t.rows_of(*id, sel).iter().take(4) {
                let links: Vec<String> = t.links(row.chain).into_iter().map(|l| t.link_words(l)).collect();
                println!(
                    "        {:5.1} %  {:9.1} ms  {}   <- {}",
                    100.0 * row.time.0 as f64 / time.0 as f64,
                    row.time.0 as f64 / 1e6,
                    links.last().unwrap(),
                    waits::culprit_words(t.culprit_of(row.culprit))
                );
            }
        }
        for (c, _) in &s.without {
            if let Some((mean, q)) = t.quantiles_without(*id, *c, &[0.5, 0.99]) {
                println!(
                    "     without {}: mean {:.3} p50 {:.3} p99 {:.3}",
                    waits::culprit_words(t.culprit_of(*c)),
                    mean.0 as f64 / 1e6,
                    q[0].0 as f64 / 1e6,
                    q[1].0 as f64 / 1e6
                );
            }
        }
    }
}
