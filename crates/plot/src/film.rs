//! Films: a picture over time that is uncovered column by column, with a line at the current time; by ffmpeg, or as an animated SVG.
//!
//! Each frame is the one before with a few more columns of the whole picture, so a film costs one drawing.

use crate::raster::Canvas;
use crate::scene::{Colour, Item, Scene};
use crate::svg;
use std::io::{self, Write};
use std::path::Path;
use std::process::{Command, Stdio};

/// The length of the moving part of a film, in seconds.
pub const SECONDS: u32 = 20;
/// Frames per second.
const FRAMES: u32 = 25;
/// How long the whole picture stays at the end, in seconds.
const STAYS: u32 = 2;

/// The reason why there is no film.
#[derive(Debug, thiserror::Error)]
pub enum FilmError {
    /// ffmpeg could not be started.
    #[error("ffmpeg cannot be started: {0}")]
    NoFfmpeg(io::Error),
    /// ffmpeg failed; its last line of output.
    #[error("ffmpeg failed: {0}")]
    Failed(String),
    /// The picture has no time axis.
    #[error("this picture has no time axis: there is nothing to animate")]
    Still,
}

/// Writes the film of a picture by ffmpeg, in the format that the file's extension selects.
pub fn film(scene: &Scene, cursor: Colour, file: &Path) -> Result<(), FilmError> {
    let [left, top, width, height] = scene.over_time.ok_or(FilmError::Still)?;
    let even = Scene {
        width: (scene.width / 2.0).ceil() * 2.0,
        height: (scene.height / 2.0).ceil() * 2.0,
        ..scene.clone()
    };
    let paper = || Canvas::new(&even, 1.0).ok_or(FilmError::Still);
    let mut now = paper()?;
    scene.frame.iter().for_each(|item| now.draw(item));
    let mut whole = paper()?;
    scene.items().for_each(|item| whole.draw(item));
    let (w, h) = now.size();
    // At its default speed, encoding VP9 takes five times the length of the film.
    let pace: &[&str] = match file.extension().and_then(|e| e.to_str()) {
        Some("webm") => {
            &["-deadline", "realtime", "-cpu-used", "8", "-row-mt", "1", "-crf", "30", "-b:v", "2M"]
        }
        _ => &["-preset", "veryfast"],
    };
    // The same recording gives the same bytes: no dates in the file.
    let mut ffmpeg = Command::new("ffmpeg")
        .args(["-v", "error", "-y", "-f", "rawvideo", "-pix_fmt", "rgba"])
        .args(["-s", &format!("{w}x{h}"), "-r", &FRAMES.to_string(), "-i", "-"])
        .args(["-pix_fmt", "yuv420p", "-fflags", "+bitexact", "-flags:v", "+bitexact"])
        .args(pace)
        .arg(file)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(FilmError::NoFfmpeg)?;
    let rows = top as u32..(top + height) as u32;
    let mut send = || -> io::Result<()> {
        let Some(to) = ffmpeg.stdin.as_mut() else { return Ok(()) };
        let moving = SECONDS * FRAMES;
        let mut seen = left as u32;
        for frame in 1..=moving {
            let x = left + width * frame as f32 / moving as f32;
            now.uncover(&whole, seen, x as u32 + 1, rows.clone());
            seen = x as u32;
            let mut lit = Canvas::new(&even, 1.0).ok_or(io::ErrorKind::OutOfMemory)?;
            lit.uncover(&now, 0, w, 0..h);
            lit.draw(&Item::Rects { fill: cursor, rects: vec![[x, top, 1.5, height]] });
            to.write_all(lit.bytes())?;
        }
        (0..STAYS * FRAMES).try_for_each(|_| to.write_all(whole.bytes()))
    };
    let sent = send();
    drop(ffmpeg.stdin.take());
    let output = ffmpeg.wait_with_output().map_err(FilmError::NoFfmpeg)?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(FilmError::Failed(said.lines().last().unwrap_or("it says nothing").to_string()));
    }
    sent.map_err(|e| FilmError::Failed(e.to_string()))
}

/// The film as an SVG that is animated by SMIL and repeats forever.
pub fn animated(scene: &Scene, cursor: Colour) -> Result<String, FilmError> {
    let [left, top, width, height] = scene.over_time.ok_or(FilmError::Still)?;
    let moves = |name: &str, from: f32, to: f32, then: f32| {
        let until = SECONDS as f32 / (SECONDS + STAYS) as f32;
        format!(
            "<animate attributeName=\"{name}\" values=\"{from};{to};{then};{then}\" keyTimes=\"0;{until:.3};{until:.3};1\" \
             dur=\"{}s\" repeatCount=\"indefinite\"/>",
            SECONDS + STAYS
        )
    };
    let clip = format!(
        "<clipPath id=\"seen\"><rect x=\"0\" y=\"0\" width=\"{}\" height=\"{}\">{}</rect></clipPath>\n<g clip-path=\"url(#seen)\">\n",
        scene.width,
        scene.height,
        moves("width", left, left + width, scene.width)
    );
    let data = format!("{clip}{}</g>\n", svg::items(&scene.data));
    let line = format!(
        "<rect x=\"{left}\" y=\"{top}\" width=\"1.5\" height=\"{height}\" fill=\"#{:02x}{:02x}{:02x}\">{}</rect>\n",
        cursor.r,
        cursor.g,
        cursor.b,
        moves("x", left, left + width, left + width)
    );
    Ok(svg::wrap(scene, &svg::items(&scene.frame), &data, &line))
}
