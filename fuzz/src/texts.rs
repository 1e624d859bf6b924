//! Texts: of tools, of settings, of the command line.

use crate::scratch::with_file;
use events::{Format, Mask, OwnFormat, Window};
use evidence::{Recorded, Samples, System};
use explain::compare::Condition;
use explain::texts::Texts;
use explain::Explanation;
use report::{Detail, Style};
use std::io::BufReader;
use tooltext::ToolOutput;
use whatif::question::{assignment, stretch, Sweep, Word};
use whatif::settings::Settings;
use whatif::suggest::Aim;

/// What tools print, and fio's JSON.
pub fn tool_text(bytes: &[u8]) {
    let output = ToolOutput::read("mail.txt", bytes);
    let _ = (output.has_readings(), output.says_anything());
}

/// What tools print, with all that is told of it: what it shows, on the screen and as JSON.
pub fn judged(bytes: &[u8]) {
    let output = ToolOutput::read("mail.txt", bytes);
    assert!(output.understood <= output.words);
    for reading in output.runs.iter().flat_map(|run| &run.readings) {
        for row in &reading.rows {
            assert!(row.values.iter().all(|(_, n)| n.value.is_finite()), "{row:?}");
        }
    }
    let explanation = Explanation::of_texts(Texts::alone(vec![output]));
    let style = Style { detail: Detail::All, ..Style::default() };
    let _ = report::render(&explanation, style);
    let _ = serde_json::to_string(&report::to_json_with_texts(&explanation));
}

/// A text, and the same quoted: marks change no number.
pub fn quoted(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let marked: String = text.lines().map(|line| format!("> {line}\n")).collect();
    for text in [text.as_bytes(), marked.as_bytes()] {
        let output = ToolOutput::read("mail.txt", text);
        assert!(output.understood <= output.words);
    }
}

/// fio's logs, of which the beginning is looked at first.
pub fn fio_log(bytes: &[u8]) {
    let (start, rest) = bytes.split_at(bytes.len().min(4096));
    let _ = ToolOutput::read_stream("x_clat.1.log", start.to_vec(), BufReader::new(rest));
}

/// Settings and what was recorded, as `iowhy record` writes them.
pub fn system_json(bytes: &[u8]) {
    System::default().add_document(capture::SYSTEM_JSON, bytes);
    with_file(capture::CAPTURE_JSON, bytes, |file| {
        let _ = Recorded::read(file);
    });
}

/// Counters once a second.
pub fn samples(bytes: &[u8]) {
    if let Ok(samples) = Samples::from_reader(bytes) {
        let _ = (samples.span(), samples.active_disks());
    }
}

/// Settings as people save them.
pub fn settings(bytes: &[u8]) {
    for name in ["settings.txt", "queue-vda.txt", "mounts.txt", "mdstat.txt"] {
        System::default().add_document(name, bytes);
    }
}

/// Conditions, spans, filters and formats of the command line.
pub fn arguments(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let _ = text.parse::<Condition>();
    let _ = Window::parse(text);
    let _ = Mask::of_names(text);
    let _ = Mask::of_hex(text);
    let _ = Format::parse(text);
    let _ = OwnFormat::parse(text);
    let _ = text.parse::<Aim>();
    let _ = text.parse::<Word>();
    let _ = text.parse::<Sweep>().map(|sweep| assert!(sweep.values().is_sorted()));
    let _ = stretch(text);
    let told = |path: &str| Some(if path == "queue/scheduler" { "mq-deadline" } else { "256" }.into());
    if let (Ok(set), Ok(recorded)) = (assignment(text), Settings::recorded(told, 256, false, false)) {
        let _ = recorded.with(&[set]);
    }
}
