//! Every kind of picture of real recordings: SVG is well-formed and shows what was measured, PNG is read again, films
//! move, the same recording gives the same bytes, hostile names change nothing.

use plot::colours::Scheme;
use plot::{animated, draw, film, picture, png, svg, Kind, Layer, Panel, Picture, Subject, Terminal};
use report::Explanation;
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
    let subject = report::Subject {
        window: None,
        sources: vec![recording.format.into()],
        file_names: recording.names.clone(),
        kernel: None,
        system: Default::default(),
        samples: Default::default(),
        quality: recording.source.quality(),
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

/// What somebody called a recording or a task.
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
