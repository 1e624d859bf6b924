//! `iowhy events` as a program: its exit status, what goes where, and the end of a pipe.

use std::io::{Read, Write};
use std::process::{Child, Command, Output, Stdio};

const TEXT: &str = "\x20 8,0    1        7     5.000000001   697  Q  WS 223490 + 8 [kjournald]
  8,0    1        8     5.000000100     0  C  WS 223490 + 8 [0]
";

fn start(arguments: &[&str]) -> Child {
    Command::new(env!("CARGO_BIN_EXE_iowhy"))
        .arg("events")
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn run(arguments: &[&str], input: &str) -> Output {
    let mut child = start(arguments);
    // The program may refuse its arguments and leave without reading.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    child.wait_with_output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn pasted_text_keeps_its_times() {
    let out = run(&["-q", "-"], TEXT);
    assert_eq!((text(&out.stdout).as_str(), text(&out.stderr).as_str()), (TEXT, ""));
    assert!(out.status.success());
}

#[test]
fn lines_that_are_no_events_are_told_on_standard_error() {
    let out = run(&["-f", "%a%n ", "-q", "-"], &format!("Hello,\n{TEXT}"));
    assert_eq!(text(&out.stdout), "Q8 C8 ");
    let said = "iowhy: standard input: line 1 is not an event of blkparse's: \"Hello,\"\n";
    assert_eq!(text(&out.stderr), said);
    assert!(out.status.success());
}

#[test]
fn a_wrong_format_is_wrong_usage() {
    let out = run(&["-f", "%S %y", "-"], TEXT);
    assert_eq!(out.status.code(), Some(2));
    let said = text(&out.stderr);
    assert!(said.contains("there is no field `y`") && said.contains("\n  %S %y\n      ^\n"), "{said}");
    for bad in [["-a", "reads"], ["-A", "0"], ["-w", "2:1"], ["-F", "m,x"]] {
        assert_eq!(run(&[bad[0], bad[1], "-"], TEXT).status.code(), Some(2), "{bad:?}");
    }
}

#[test]
fn a_reader_that_leaves_ends_even_an_endless_pipe() {
    let mut child = start(&["-"]);
    let mut input = child.stdin.take().unwrap();
    let feeder = std::thread::spawn(move || {
        let many = TEXT.repeat(1000);
        while input.write_all(many.as_bytes()).is_ok() {}
    });
    let mut some = [0; 100];
    child.stdout.take().unwrap().read_exact(&mut some).unwrap();
    assert_eq!(text(&some[..67]), TEXT[..67]);
    let out = child.wait_with_output().unwrap();
    assert!(out.status.success());
    assert_eq!(text(&out.stderr), "");
    feeder.join().unwrap();
}

#[test]
fn output_goes_into_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out");
    let name = path.to_str().unwrap();
    assert!(run(&["-q", "-o", name, "-"], TEXT).status.success());
    assert_eq!(std::fs::read_to_string(&path).unwrap(), TEXT);
    let out = run(&["-o", folder.path().to_str().unwrap(), "-"], TEXT);
    assert_eq!(out.status.code(), Some(1));
    assert!(text(&out.stderr).starts_with("iowhy: "), "{}", text(&out.stderr));
}
