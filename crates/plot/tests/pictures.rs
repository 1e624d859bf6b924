//! Every kind of picture of real recordings: SVG is well-formed and shows what was measured, PNG is read again, films
//! move, the same recording gives the same bytes, hostile names change nothing.

use explain::Explanation;
use plot::colours::Scheme;
use plot::{animated, draw, film, picture, png, svg, Kind, Layer, Panel, Picture, Subject, Terminal};
use stats::{Analysis, Flow, Pictures};
use std::path::Path;
use trace::Batch;

const RECORDINGS: [&str; 4] =
    ["randread-vs-bufferedwrite", "fsync-ordered-data", "raid5-randwrite8k", "misc-events"];

fn read(path: &Path) -> (Explanation, Pictures) {
    let mut recording = trace::open(path).expect("a recording");
    let (mut analysis, mut flow) = (Analysis::default(), Flow::default());
    let (mut pictures, mut batch) = (Pictures::default(), Batch::default());
    while recording.source.fill(&mut batch).expect("events") {
        flow.feed(&batch);
        analysis.feed_with(&batch, &mut pictures);
    }
    let subject = explain::Subject {
        sources: vec![recording.format.into()],
        file_names: recording.names.clone(),
        quality: recording.source.quality(),
        ..explain::Subject::default()
    };
    (Explanation::new(subject, analysis.finish(flow)), pictures)
}

fn fixture(name: &str) -> (Explanation, Pictures) {
    read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures").join(name))
}

fn each(name: &str, mut see: impl FnMut(Kind, Picture, &Explanation)) {
    let (explanation, pictures) = fixture(name);
    let subject = Subject { label: name, explanation: &explanation, pictures: &pictures, device: None };
    Kind::ALL.into_iter().for_each(|kind| see(kind, picture(&subject, kind), &explanation));
}

#[test]
fn every_kind_is_well_formed_and_always_the_same() {
    for name in RECORDINGS {
        let mut first = vec![];
        each(name, |kind, picture, _| {
            for scheme in [Scheme::Light, Scheme::Dark] {
                let text = svg(&draw(&picture, 960.0, scheme));
                let parsed = roxmltree::Document::parse(&text)
                    .unwrap_or_else(|e| panic!("{name} {}: {e}", kind.name()));
                assert_eq!(parsed.root_element().tag_name().name(), "svg");
                let forbidden = ["script", "image", "a", "use", "foreignObject", "style"];
                assert!(parsed.descendants().all(|n| !forbidden.contains(&n.tag_name().name())));
                assert!(text.len() < 1_500_000, "{name} {}: {} bytes", kind.name(), text.len());
                first.push(text);
            }
        });
        let mut again = vec![];
        each(name, |_, picture, _| {
            again.extend([Scheme::Light, Scheme::Dark].map(|s| svg(&draw(&picture, 960.0, s))));
        });
        assert!(first == again, "{name}: drawn twice, drawn differently");
    }
}

#[test]
fn a_heat_map_has_as_many_as_were_completed() {
    each("randread-vs-bufferedwrite", |kind, picture, explanation| {
        let device = explanation.top_devices()[0];
        let done: u64 = life::Class::ALL.iter().map(|c| device.requests[c.index()].count).sum();
        let layers = picture.panels.iter().flat_map(|p| match p {
            Panel::Chart { layers, .. } => layers.iter().collect::<Vec<_>>(),
            Panel::Bars { .. } => vec![],
        });
        match kind {
            Kind::Heatmap => {
                let cells = layers.map(|l| {
                    if let Layer::Heat(cells) = l {
                        cells.iter().map(|c| c.2).sum()
                    } else {
                        0.0
                    }
                });
                assert_eq!(cells.sum::<f64>(), done as f64);
            }
            Kind::Histogram => {
                let of = |l: &Layer| match l {
                    Layer::Columns { columns, .. } => columns.iter().map(|c| c.2).sum(),
                    _ => 0.0,
                };
                assert_eq!(layers.map(of).sum::<f64>(), done as f64);
            }
            _ => {}
        }
    });
}

/// Words of a threshold over the chart would cover what is slowest, which is what one looks for.
#[test]
fn words_of_the_tail_stand_in_the_legend() {
    for name in ["randread-vs-bufferedwrite", "fsync-ordered-data", "raid5-randwrite8k"] {
        each(name, |kind, picture, _| {
            if kind != Kind::Heatmap {
                return;
            }
            let text = svg(&draw(&picture, 960.0, Scheme::Light));
            let parsed = roxmltree::Document::parse(&text).unwrap();
            let texts: Vec<(f32, &str)> = parsed
                .descendants()
                .filter(|n| n.tag_name().name() == "text")
                .map(|n| (n.attribute("y").unwrap().parse().unwrap(), n.text().unwrap_or("")))
                .collect();
            let legend: Vec<f32> = texts.iter().filter(|(_, t)| *t == "max").map(|(y, _)| *y).collect();
            let tails: Vec<f32> =
                texts.iter().filter(|(_, t)| t.starts_with("the slowest")).map(|(y, _)| *y).collect();
            assert!(!tails.is_empty());
            assert!(
                tails.iter().all(|y| legend.iter().any(|line| (y - line).abs() < 40.0 && y >= line)),
                "{name}"
            );
        });
    }
}

/// Each phase has its curve, which ends with the longest that was measured.
#[test]
fn latencies_are_spread_by_phase_too() {
    each("randread-vs-bufferedwrite", |kind, picture, explanation| {
        if kind != Kind::Cdf {
            return;
        }
        let device = explanation.top_devices()[0];
        let title = |p: &Panel| match p {
            Panel::Chart { title, layers, .. } => Some((title.clone(), layers.clone())),
            Panel::Bars { .. } => None,
        };
        let panels: Vec<_> = picture.panels.iter().filter_map(title).collect();
        let (_, layers) = panels.iter().find(|(t, _)| t.ends_with("reads, by phase")).expect("reads");
        assert!(panels.iter().any(|(t, _)| t.ends_with("writeback, by phase")));
        let phases = device.phases(life::Class::Read);
        let measured: Vec<_> = phases.each().into_iter().filter(|(_, d)| !d.is_empty()).collect();
        assert_eq!(layers.len(), measured.len());
        assert!(measured.len() >= 4);
        for (layer, (name, distribution)) in layers.iter().zip(measured) {
            let Layer::Line { label, points, .. } = layer else { panic!("{name} is no line") };
            assert!(label.to_lowercase().contains(name), "{label} for {name}");
            let (longest, max) = (points.last().unwrap().0, distribution.max() as f64);
            assert!(longest <= max && longest >= max * 0.98, "{name}: {longest} for {max}");
        }
    });
}

#[test]
fn a_task_has_one_colour_on_all_devices() {
    each("fsync-slow-mirror", |kind, picture, _| {
        if kind != Kind::Offset {
            return;
        }
        assert!(picture.panels.len() > 1);
        let mut colours = std::collections::BTreeMap::new();
        for panel in &picture.panels {
            let Panel::Chart { layers, .. } = panel else { continue };
            for layer in layers {
                if let Layer::Marks { label, colour, .. } = layer {
                    let task = label.rsplit_once(' ').unwrap().0.to_string();
                    let known = *colours.entry(task).or_insert(*colour);
                    assert_eq!(known, *colour, "{label}");
                }
            }
        }
        assert!(colours.len() > 1);
    });
}

#[test]
fn a_png_is_what_was_drawn() {
    each("randread-vs-bufferedwrite", |kind, picture, _| {
        let scene = draw(&picture, 700.0, Scheme::Light);
        let bytes = png(&scene).expect("a picture");
        let map = tiny_skia::Pixmap::decode_png(&bytes).unwrap();
        assert_eq!((map.width(), map.height()), (1400, (scene.height * 2.0) as u32));
        let mut colours: Vec<_> = map.pixels().iter().map(|p| (p.red(), p.green(), p.blue())).collect();
        colours.sort_unstable();
        colours.dedup();
        assert!(colours.len() > 20, "{}: text and data are there", kind.name());
        assert_eq!(bytes, png(&scene).unwrap());
    });
}

#[test]
fn films_move() {
    let (explanation, pictures) = fixture("misc-events");
    let subject = Subject { label: "film", explanation: &explanation, pictures: &pictures, device: None };
    let scene = draw(&picture(&subject, Kind::Offset), 320.0, Scheme::Light);
    let ink = Scheme::Light.theme().ink;
    let moving = animated(&scene, ink).unwrap();
    let parsed = roxmltree::Document::parse(&moving).unwrap();
    assert_eq!(parsed.descendants().filter(|n| n.tag_name().name() == "animate").count(), 2);
    let overview = draw(&plot::overview(&subject), 640.0, Scheme::Dark);
    assert!(roxmltree::Document::parse(&animated(&overview, ink).unwrap()).is_ok());
    let still = draw(&picture(&subject, Kind::Ledger), 320.0, Scheme::Light);
    assert!(animated(&still, ink).is_err(), "nothing in it is over time");

    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("film.mp4");
    match film(&scene, ink, &file) {
        Err(plot::FilmError::NoFfmpeg(_)) => eprintln!("SKIPPED: ffmpeg is not installed, no film was made"),
        Err(e) => panic!("{e}"),
        Ok(()) => {
            let size = std::fs::metadata(&file).unwrap().len();
            assert!(size > 10_000, "{size} bytes");
        }
    }
}

#[test]
fn a_terminal_gets_every_kind() {
    for (colours, blocks) in [(true, true), (false, false)] {
        each("randread-vs-bufferedwrite", |kind, picture, _| {
            let text = plot::terminal(&picture, Terminal { width: 90, colours, blocks });
            assert!(text.lines().count() > 5, "{}", kind.name());
            if !colours {
                assert!(text.is_ascii(), "{}", kind.name());
                assert!(text.lines().all(|l| l.len() <= 120), "{}", kind.name());
            }
        });
    }
}

/// Names of a recording and of a task.
#[test]
fn hostile_names_change_nothing() {
    let (explanation, pictures) = fixture("misc-events");
    let long = "x".repeat(70_000);
    for label in
        ["</text><script>alert(1)</script>", "a\u{0}\u{1b}[2J\u{202e}b", "]]>&amp;\"'", long.as_str()]
    {
        let subject = Subject { label, explanation: &explanation, pictures: &pictures, device: None };
        for kind in Kind::ALL {
            let picture = picture(&subject, kind);
            let text = svg(&draw(&picture, 960.0, Scheme::Light));
            let parsed = roxmltree::Document::parse(&text).unwrap();
            assert!(parsed.descendants().all(|n| n.tag_name().name() != "script"));
            assert!(text.len() < 1_500_000);
            let shown = plot::terminal(&picture, Terminal { width: 80, colours: false, blocks: false });
            assert!(!shown.contains('\u{1b}') && !shown.contains('\u{202e}') && shown.len() < 20_000);
        }
    }
}
