//! The smallest recorder: `record [--block] [--device DEV] [--for SECONDS] -o DIR|- [-- COMMAND ...]`, `record --clean`.

use record::{clean, record, Detail, Host, Output, Plan, Report, Stop};
use std::ffi::OsString;
use std::process::ExitCode;
use std::time::Duration;

fn main() -> ExitCode {
    match run() {
        Ok(status) => ExitCode::from(status),
        Err(e) => {
            eprintln!("error: {e}");
            if let Some(help) = e.help() {
                eprintln!("help: {help}");
            }
            ExitCode::FAILURE
        }
    }
}

fn run() -> record::Result<u8> {
    let host = Host::here()?;
    let mut plan = Plan {
        detail: Detail::Path,
        devices: Vec::new(),
        buffer_kib: None,
        output: Output::Folder("capture".into()),
        stop: Stop::Signal,
    };
    let mut args = std::env::args_os().skip(1);
    while let Some(arg) = args.next() {
        let mut value = || args.next().unwrap_or_default().to_string_lossy().into_owned();
        match arg.to_str() {
            Some("--clean") => {
                println!("{:#?}", clean(&host.tracefs, &host.proc)?);
                return Ok(0);
            }
            Some("--block") => plan.detail = Detail::Block,
            Some("--device") => plan.devices.push(value()),
            Some("--buffer") => plan.buffer_kib = value().parse().ok(),
            Some("--for") => plan.stop = Stop::After(Duration::from_secs_f64(value().parse().unwrap_or(1.0))),
            Some("-o") => {
                let to = value();
                plan.output = if to == "-" { Output::Stream } else { Output::Folder(to.into()) };
            }
            Some("--") => plan.stop = Stop::Command(args.by_ref().collect::<Vec<OsString>>()),
            _ => {
                return Err(record::Error::refused(
                    format!("what is {arg:?}?"),
                    "see the first line of the source",
                ))
            }
        }
    }
    let done = record(&host, &plan, &mut |r| match r {
        Report::Note(n) => eprintln!("note: {n}"),
        Report::Started => eprintln!("recording"),
        Report::Progress(p) => eprintln!(
            "{:.0} s, {:.0} events/s, {} bytes, {} lost",
            p.time.as_secs_f64(),
            p.events_per_second,
            p.bytes.0,
            p.lost
        ),
    })?;
    let c = &done.capture;
    eprintln!("{} events, {} bytes, {} lost, ended by {:?}", c.events, c.bytes, c.lost, c.ended_by);
    Ok(c.exit_status.unwrap_or(0) as u8)
}
