//! `iowhy plot`: still pictures, films, and pictures in a terminal.

use super::html::{labelled, pictured};
use super::style::style;
use crate::failure::Failure;
use crate::question::{Question, QUESTION};
use crate::stdout::print_as_it_is;
use clap::builder::PossibleValue;
use clap::{Args, ValueEnum};
use explain::blame;
use explain::Explanation;
use plot::colours::Scheme;
use plot::{FilmError, Flame, Kind, Picture, Scene, Subject, Terminal};
use std::ffi::{OsStr, OsString};
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use trace::DevId;

/// Draw a recording: a picture for a paper or a mail, a film, or in the terminal.
#[derive(Args)]
pub struct Plot {
    /// A recording, as explain takes it; it may be labelled: before=A
    #[arg(value_name = "CAPTURE")]
    pub capture: OsString,
    /// What to draw [default: heatmap; in a terminal also histogram; in a film offset, heatmap, throughput and queue-depth]
    #[arg(long, value_name = "KIND")]
    pub kind: Option<Chosen>,
    /// Write the picture to this file: .svg or .png. Without, it is drawn in the terminal
    #[arg(short, long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Write a film that draws the picture over time: .mp4 or .webm through ffmpeg, or .svg, which moves by itself
    #[arg(long, value_name = "FILE", conflicts_with = "out")]
    pub movie: Option<PathBuf>,
    /// The background
    #[arg(long, default_value = "light", value_name = "COLOUR")]
    pub paper: Paper,
    /// Width in points of a screen (a PNG has twice as many); in a terminal, in columns
    #[arg(long, value_name = "POINTS", value_parser = clap::value_parser!(u32).range(40..=8000))]
    pub width: Option<u32>,
    /// flame: colour frames by the change from this recording, as shares of all time: red more, blue less
    #[arg(long, value_name = "OTHER")]
    pub diff: Option<OsString>,
    /// What is drawn
    #[command(flatten, next_help_heading = QUESTION)]
    pub question: Question,
}

/// A kind of picture, by its name on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Chosen {
    /// A picture with axes or bars.
    Chart(Kind),
    /// A flame graph of the table of waits.
    Flame,
}

impl ValueEnum for Chosen {
    fn value_variants<'a>() -> &'a [Chosen] {
        const ALL: [Chosen; Kind::ALL.len() + 1] = {
            let mut all = [Chosen::Flame; Kind::ALL.len() + 1];
            let mut i = 0;
            while i < Kind::ALL.len() {
                all[i] = Chosen::Chart(Kind::ALL[i]);
                i += 1;
            }
            all
        };
        &ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(match self {
            Chosen::Chart(kind) => PossibleValue::new(kind.name()).help(kind.words()),
            Chosen::Flame => {
                PossibleValue::new("flame").help("Who waited, for what, because of whom: a flame graph")
            }
        })
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

/// The default width of a picture, in points: a column of a page on a screen.
const WIDTH: u32 = 960;
/// The default width of a flame graph, in points: names in narrow frames are cut.
const FLAME_WIDTH: u32 = 1400;
/// Maximal number of columns that are used of a wide terminal.
const MOST_COLUMNS: usize = 1000;

impl Plot {
    /// Reads the recording and draws the picture.
    pub fn run(&self) -> Result<(), Failure> {
        // A file that cannot be written is reported before the recording is read.
        let written = [&self.out, &self.movie].into_iter().flatten();
        for file in written {
            self.ending(file)?;
            Failure::unless_it_has_a_folder(file)?;
        }
        let kind = match self.kind {
            Some(Chosen::Flame) => return self.flame(),
            _ if self.question.tail || self.diff.is_some() => {
                return Err(usage("--tail and --diff are of flame graphs", "say --kind flame"))
            }
            Some(Chosen::Chart(kind)) => Some(kind),
            None => None,
        };
        let (label, path) = named(&self.capture);
        let (explanation, pictures) = pictured(false, path, &self.question)?;
        let device = self.device(&explanation);
        let subject = Subject { label: &label, explanation: &explanation, pictures: &pictures, device };
        let of = |kind: Kind| plot::picture(&subject, kind);
        if let Some(file) = &self.out {
            let scene = self.scene(&of(kind.unwrap_or(Kind::Heatmap)));
            let bytes = match self.ending(file)? {
                "svg" => plot::svg(&scene).into_bytes(),
                _ => plot::png(&scene).ok_or_else(|| too_large(file))?,
            };
            return std::fs::write(file, bytes).map_err(Failure::write(&file.display().to_string()));
        }
        if let Some(file) = &self.movie {
            let shown = kind.map_or_else(|| plot::overview(&subject), of);
            return self.film(&self.scene(&shown), file);
        }
        let terminal = self.terminal();
        let kinds = kind.map_or(vec![Kind::Heatmap, Kind::Histogram], |kind| vec![kind]);
        let text: Vec<String> = kinds.into_iter().map(|kind| plot::terminal(&of(kind), terminal)).collect();
        print_as_it_is(&text.join("\n"))
    }

    /// Draws a flame graph, only as an SVG, which can be zoomed and searched in a browser.
    fn flame(&self) -> Result<(), Failure> {
        let file = self.out.as_ref().filter(|file| self.ending(file).is_ok_and(|ending| ending == "svg"));
        let Some(file) = file.filter(|_| self.paper == Paper::Light) else {
            let help = "-o FILE.svg; in a terminal: iowhy report CAPTURE blame; as text: iowhy export --to folded CAPTURE";
            return Err(usage("a flame graph is an SVG on light paper", help));
        };
        let (label, path) = named(&self.capture);
        let explained = |path: &Path| Ok::<_, Failure>(self.question.of_recording(path)?.explain()?);
        let which = self.question.which();
        let explanation = explained(path)?;
        let stacks = blame::stacks(&explanation, which);
        let mut about =
            if self.question.tail { "the slowest of each victim" } else { "all operations" }.to_string();
        let mut other = None;
        if let Some(diff) = &self.diff {
            let (label, path) = named(diff);
            about.push_str(&format!("; tops are red where it is more than in {label}, blue where less"));
            let there = explained(path)?;
            other = Some(blame::stacks(&there, which));
        }
        let flame = Flame {
            title: &format!("{label}: who waited, for what, because of whom"),
            about: &about,
            stacks: &stacks,
            other: other.as_ref(),
            width: self.width.unwrap_or(FLAME_WIDTH),
        };
        let svg =
            plot::flame(&flame).map_err(|_| no("no task waited in this recording", "try another part"))?;
        std::fs::write(file, svg).map_err(Failure::write(&file.display().to_string()))
    }

    /// The device that is drawn, if the filter selects a device or mount; else `None`, which means all.
    fn device(&self, e: &Explanation) -> Option<DevId> {
        let asked = !self.question.device.is_empty() || !self.question.mount.is_empty();
        e.top_devices().first().filter(|_| asked).map(|d| d.id)
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

    /// The extension of a file's name, which selects its format; an error if the format is unknown.
    fn ending<'a>(&self, file: &'a Path) -> Result<&'a str, Failure> {
        let known: &[&str] = if self.movie.is_some() { &["svg", "mp4", "webm"] } else { &["svg", "png"] };
        let ending = file.extension().and_then(|e| e.to_str()).unwrap_or("");
        known.iter().find(|k| **k == ending).map(|_| ending).ok_or_else(|| Failure::Usage {
            what: format!("{}: its file extension must be one of {}", file.display(), known.join(", ")),
            help: None,
        })
    }

    fn terminal(&self) -> Terminal {
        let set = |name: &str| std::env::var(name).ok().filter(|v| !v.is_empty());
        let width = self.width.map_or_else(|| style().width.min(MOST_COLUMNS), |w| w as usize);
        let (colours, blocks) = abilities(std::io::stdout().is_terminal(), set);
        Terminal { width, colours, blocks }
    }
}

/// Whether standard output has 256 colours, and whether it shows block characters, according to the environment (`set`). A
/// file or a pipe gets plain ASCII, and so does a terminal of the type dumb (terminfo's name for one that can only print).
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

/// The name and path of a recording. Pictures are for papers and mails, so the name has no folders.
fn named(capture: &OsStr) -> (String, &Path) {
    let (label, path) = labelled(capture);
    let name = path.file_name().filter(|_| label == path.to_string_lossy());
    (name.map_or(label.clone(), |name| name.to_string_lossy().into_owned()), path)
}

fn usage(what: &str, help: &str) -> Failure {
    Failure::Usage { what: what.into(), help: Some(help.into()) }
}

fn no(what: &str, help: &str) -> Failure {
    Failure::Other { what: what.into(), help: Some(help.into()) }
}

fn too_large(file: &Path) -> Failure {
    Failure::Other { what: format!("{}: the picture is too large", file.display()), help: None }
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
