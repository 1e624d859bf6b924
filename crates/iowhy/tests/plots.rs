//! `iowhy plot` as a person has it: in a terminal of any kind, and as a film with and without ffmpeg.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

fn fixture() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/randread-vs-bufferedwrite")
}

fn film(name: &str, folder: &Path, path: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_iowhy"))
        .arg("plot")
        .arg(fixture())
        .args(["--kind", "offset", "--width", "320", "--movie", name])
        .env("PATH", path)
        .current_dir(folder)
        .output()
        .unwrap()
}

#[test]
fn films_are_what_their_names_say() {
    let folder = tempfile::tempdir().unwrap();
    let path = std::env::var("PATH").unwrap_or_default();
    // EBML's mark (RFC 8794) in the first bytes, ISO's box "ftyp" (ISO 14496-12) behind its length.
    for (name, at, mark) in [("film.webm", 0, &b"\x1a\x45\xdf\xa3"[..]), ("film.mp4", 4, b"ftyp")] {
        let made = film(name, folder.path(), &path);
        let said = String::from_utf8_lossy(&made.stderr).to_string();
        if said.contains("ffmpeg cannot be started") {
            eprintln!("SKIPPED: ffmpeg is not installed, no {name} was made");
            continue;
        }
        assert!(made.status.success(), "{name}: {said}");
        let bytes = std::fs::read(folder.path().join(name)).unwrap();
        assert_eq!(&bytes[at..at + mark.len()], mark, "{name}");
        assert!(bytes.len() > 10_000, "{name}: {} bytes", bytes.len());
    }
}

#[test]
fn without_ffmpeg_it_says_so_and_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["film.mp4", "film.webm"] {
        let made = film(name, folder.path(), "/nowhere");
        assert_eq!(made.status.code(), Some(1));
        let said = String::from_utf8(made.stderr).unwrap();
        assert!(said.contains("ffmpeg cannot be started"), "{said}");
        assert!(said.contains("install ffmpeg, or write a film that needs none: --movie film.svg"), "{said}");
        assert!(!folder.path().join(name).exists());
    }
    assert!(film("film.svg", folder.path(), "/nowhere").status.success());
    let moves = std::fs::read_to_string(folder.path().join("film.svg")).unwrap();
    assert_eq!(moves.matches("<animate ").count(), 2);
}

/// What is drawn in a terminal: `script` (util-linux) gives it one. It may drop what a program wrote right before it
/// ended, so the shell waits for a line until all is read.
fn in_a_terminal(environment: &str) -> Option<String> {
    let command = format!(
        "env -i PATH=/nowhere {environment} '{}' plot --width 80 '{}' && echo DRAWN || echo FAILED; read line",
        env!("CARGO_BIN_EXE_iowhy"),
        fixture().display()
    );
    let mut script = Command::new("script");
    script.args(["-qec", &command, "/dev/null"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut script = script.spawn().ok()?;
    let (mut text, mut part) = (vec![], [0; 4096]);
    let out = script.stdout.as_mut().unwrap();
    let is_over = |text: &[u8]| ["DRAWN\r\n", "FAILED\r\n"].iter().any(|end| text.ends_with(end.as_bytes()));
    while !is_over(&text) {
        match out.read(&mut part).unwrap() {
            0 => break,
            n => text.extend_from_slice(&part[..n]),
        }
    }
    script.stdin.take().unwrap().write_all(b"\n").unwrap();
    script.wait().unwrap();
    let text = String::from_utf8_lossy(&text).to_string();
    assert!(text.contains("vda reads") && text.ends_with("DRAWN\r\n"), "{text}");
    Some(text)
}

#[test]
fn a_terminal_gets_colours_and_blocks_if_it_has_them() {
    let utf8 = "LANG=C.UTF-8";
    let Some(best) = in_a_terminal(&format!("TERM=xterm-256color {utf8}")) else {
        eprintln!("SKIPPED: script (util-linux) is not installed, nothing was drawn in a terminal");
        return;
    };
    assert!(best.contains("\x1b[38;5;") && best.contains('\u{2580}'));
    let shown = |environment: &str| in_a_terminal(environment).unwrap();
    let plain = shown(&format!("TERM=xterm-256color NO_COLOR=1 {utf8}"));
    assert!(!plain.contains('\x1b') && !plain.is_ascii(), "blocks without colours");
    let ascii = shown("TERM=xterm-256color LANG=C");
    assert!(ascii.contains("\x1b[38;5;") && ascii.is_ascii(), "colours without blocks");
    let dumb = shown(&format!("TERM=dumb COLORTERM=truecolor {utf8}"));
    assert!(!dumb.contains('\x1b') && dumb.is_ascii(), "a dumb one can only print");
    assert!(dumb.lines().all(|line| line.trim_end().len() <= 100));
}
