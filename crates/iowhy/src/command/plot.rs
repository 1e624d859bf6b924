//! `iowhy plot`: still pictures, films, pictures in a terminal.

use super::html::{labelled, pictured};
use super::print_as_it_is;
use crate::failure::Failure;
use crate::part::Part;
use clap::builder::PossibleValue;
use clap::{Args, ValueEnum};
use plot::colours::Scheme;
use plot::{FilmError, Kind, Picture, Scene, Subject, Terminal};
use std::ffi::OsString;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};

/// Draw a recording: a picture for a paper or a mail, a film, or in the terminal.
#[derive(Args)]
pub struct Plot {
    /// A recording, as explain takes it; it may be labelled: before=A
    #[arg(value_name = "CAPTURE")]
    pub capture: OsString,
    /// What is drawn. If nothing is said: in a file the heat map, in a terminal the histogram too, in a film who touched
    /// where, how long it took and how much was done
    #[arg(long, value_name = "KIND")]
    pub kind: Option<Chosen>,
    /// Write the picture to this file: .svg or .png. Without, it is drawn in the terminal
    #[arg(short, long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Write a film in which the picture comes with time: .mp4 or .webm through ffmpeg, or .svg, which moves by itself
    #[arg(long, value_name = "FILE", conflicts_with = "out")]
    pub movie: Option<PathBuf>,
    /// Only this device, by name or major,minor
    #[arg(long, value_name = "NAME")]
    pub device: Option<String>,
    /// The part that is drawn
    #[command(flatten)]
    pub part: Part,
    /// The paper
    #[arg(long, default_value = "light", value_name = "COLOUR")]
    pub paper: Paper,
    /// How wide the picture is, in points of a screen; a PNG has twice as many. In a terminal: letters in a line
    #[arg(long, value_name = "POINTS", value_parser = clap::value_parser!(u32).range(40..=8000))]
    pub width: Option<u32>,
}

/// A kind, as it is called on the command line.
#[derive(Clone, Copy, Debug)]
pub struct Chosen(pub Kind);

impl ValueEnum for Chosen {
    fn value_variants<'a>() -> &'a [Chosen] {
        const ALL: [Chosen; Kind::ALL.len()] = {
            let mut all = [Chosen(Kind::Heatmap); Kind::ALL.len()];
            let mut i = 0;
            while i < all.len() {
                all[i] = Chosen(Kind::ALL[i]);
                i += 1;
            }
            all
        };
        &ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.0.name()).help(self.0.words()))
    }
}

/// The colour of the paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Paper {
    /// White
    Light,
    /// Dark, for slides
    Dark,
}

/// The width of a picture if none is asked for: a column of a page on a screen.
const WIDTH: u32 = 960;
/// Letters in a line if the terminal does not say.
const LETTERS: usize = 100;

impl Plot {
    /// Reads and draws.
    pub fn run(&self) -> Result<(), Failure> {
        // A name that nothing can be written to is told before the recording is read.
        let written = [&self.out, &self.movie].into_iter().flatten();
        for file in written {
            self.ending(file)?;
        }
        let (label, path) = labelled(&self.capture);
        // Pictures go to papers and mails: where the recording lay is nobody's business.
        let label = path
            .file_name()
            .filter(|_| label == path.to_string_lossy())
            .map_or(label.clone(), |name| name.to_string_lossy().into_owned());
        let (explanation, pictures) = pictured(false, path, self.part)?;
        let device = match &self.device {
            None => None,
            Some(name) => {
                let is = |d: &&stats::Device| explanation.name(d.id) == *name || d.id.to_string() == *name;
                let found = explanation.facts.devices.iter().find(is).map(|d| d.id);
                Some(found.ok_or_else(|| {
                    let all: Vec<String> =
                        explanation.facts.devices.iter().map(|d| explanation.name(d.id)).collect();
                    Failure::Other {
                        what: format!("no device is called {name}"),
                        help: Some(format!("recorded were {}", all.join(", "))),
                    }
                })?)
            }
        };
        let subject = Subject { label: &label, explanation: &explanation, pictures: &pictures, device };
        let of = |kind: Kind| plot::picture(&subject, kind);
        if let Some(file) = &self.out {
            let scene = self.scene(&of(self.kind.map_or(Kind::Heatmap, |k| k.0)));
            let bytes = match self.ending(file)? {
                "svg" => plot::svg(&scene).into_bytes(),
                _ => plot::png(&scene).ok_or_else(|| too_large(file))?,
            };
            return std::fs::write(file, bytes).map_err(Failure::write(&file.display().to_string()));
        }
        if let Some(file) = &self.movie {
            let shown = self.kind.map_or_else(|| plot::overview(&subject), |k| of(k.0));
            return self.film(&self.scene(&shown), file);
        }
        let terminal = self.terminal();
        let kinds = self.kind.map_or(vec![Kind::Heatmap, Kind::Histogram], |k| vec![k.0]);
        let text: Vec<String> = kinds.into_iter().map(|kind| plot::terminal(&of(kind), terminal)).collect();
        print_as_it_is(&text.join("\n"))
    }

    fn scheme(&self) -> Scheme {
        match self.paper {
            Paper::Light => Scheme::Light,
            Paper::Dark => Scheme::Dark,
        }
    }

    fn scene(&self, picture: &Picture) -> Scene {
        plot::draw(picture, self.width.unwrap_or(WIDTH) as f32, self.scheme())
    }

    fn film(&self, scene: &Scene, file: &Path) -> Result<(), Failure> {
        let cursor = self.scheme().theme().ink;
        let failed = |e: FilmError| {
            let help = match &e {
                FilmError::NoFfmpeg(_) => Some(format!(
                    "install ffmpeg, or write a film that needs none: --movie {}",
                    file.with_extension("svg").display()
                )),
                FilmError::Still => {
                    Some("films are of heatmap, latency, offset, throughput, iops, queue-depth".into())
                }
                FilmError::Failed(_) => None,
            };
            Failure::Other { what: e.to_string(), help }
        };
        if self.ending(file)? == "svg" {
            let text = plot::animated(scene, cursor).map_err(failed)?;
            return std::fs::write(file, text).map_err(Failure::write(&file.display().to_string()));
        }
        plot::film(scene, cursor, file).map_err(failed)
    }

    /// The ending of a file's name, which says its format.
    fn ending<'a>(&self, file: &'a Path) -> Result<&'a str, Failure> {
        let known: &[&str] = if self.movie.is_some() { &["svg", "mp4", "webm"] } else { &["svg", "png"] };
        let ending = file.extension().and_then(|e| e.to_str()).unwrap_or("");
        known.iter().find(|k| **k == ending).map(|_| ending).ok_or_else(|| Failure::Other {
            what: format!("{}: the ending of its name must be one of {}", file.display(), known.join(", ")),
            help: None,
        })
    }

    fn terminal(&self) -> Terminal {
        let set = |name: &str| std::env::var(name).ok().filter(|v| !v.is_empty());
        let columns = set("COLUMNS").and_then(|c| c.parse().ok()).filter(|c| (40..1000).contains(c));
        let width = self.width.map(|w| w as usize).or(columns).unwrap_or(LETTERS);
        let (colours, blocks) = abilities(std::io::stdout().is_terminal(), set);
        Terminal { width, colours, blocks }
    }
}

/// Whether standard output has 256 colours, and whether it shows blocks, by what the environment says (`set`). A file or a
/// pipe gets plain ASCII, and so does what calls itself dumb (terminfo's word for a terminal that can only print).
fn abilities(is_terminal: bool, set: impl Fn(&str) -> Option<String>) -> (bool, bool) {
    let term = set("TERM").unwrap_or_default();
    if !is_terminal || term == "dumb" || term.is_empty() {
        return (false, false);
    }
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(&set).unwrap_or_default().to_lowercase();
    let blocks = locale.contains("utf-8") || locale.contains("utf8");
    let many = term.contains("256color") || set("COLORTERM").is_some();
    (many && set("NO_COLOR").is_none(), blocks)
}

fn too_large(file: &Path) -> Failure {
    Failure::Other { what: format!("{}: such a large picture cannot be made", file.display()), help: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_gets_what_it_can_show() {
        let of = |is_terminal, all: &[(&str, &str)]| {
            abilities(is_terminal, |name| all.iter().find(|(n, _)| *n == name).map(|(_, v)| v.to_string()))
        };
        let (many, utf8) = (("TERM", "xterm-256color"), ("LANG", "de_DE.UTF-8"));
        assert_eq!(of(true, &[many, utf8]), (true, true));
        assert_eq!(of(true, &[many, ("LANG", "C")]), (true, false));
        assert_eq!(of(true, &[many, utf8, ("LC_ALL", "C")]), (true, false), "LC_ALL goes before LANG");
        assert_eq!(of(true, &[many, utf8, ("NO_COLOR", "1")]), (false, true));
        assert_eq!(of(true, &[("TERM", "xterm"), utf8]), (false, true));
        assert_eq!(of(true, &[("TERM", "xterm"), ("COLORTERM", "truecolor"), utf8]), (true, true));
        assert_eq!(of(true, &[("TERM", "dumb"), ("COLORTERM", "truecolor"), utf8]), (false, false));
        assert_eq!(of(true, &[utf8]), (false, false), "who has no TERM is no terminal that one knows");
        assert_eq!(of(false, &[many, utf8]), (false, false));
    }
}
