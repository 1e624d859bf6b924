//! `iowhy view`: serves the page of `report --html` on this machine only.
//!
//! It listens only on 127.0.0.1, and answers only requests whose `Host` is this machine: another site's page that was
//! led here by DNS rebinding gets nothing.

use super::html;
use crate::failure::Failure;
use crate::question::{Question, QUESTION};
use crate::stdout::print;
use clap::Args;
use explain::Interrupt;
use std::ffi::{OsStr, OsString};
use std::io::{ErrorKind, IsTerminal, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::time::Duration;

/// The interval at which an interrupt is checked.
const PATIENCE: Duration = Duration::from_millis(50);
/// A browser that sends nothing for this long is dropped.
const SILENCE: Duration = Duration::from_secs(2);
/// Maximal number of bytes that are read of a request; browsers send less than one KiB to a new site.
const MOST_OF_A_REQUEST: usize = 16 << 10;

/// Show a recording as pictures, in a browser on this machine.
#[derive(Args)]
pub struct View {
    /// A recording, as explain takes it; several are drawn over one another and may be labelled: before=A after=B
    #[arg(value_name = "CAPTURE", required = true)]
    pub captures: Vec<OsString>,
    /// The port to listen on; 0 takes any free one
    #[arg(long, default_value_t = 0, value_name = "PORT")]
    pub port: u16,
    /// Only print the address, open no browser
    #[arg(long)]
    pub no_browser: bool,
    /// What is shown
    #[command(flatten, next_help_heading = QUESTION)]
    pub question: Question,
}

impl View {
    /// Makes the page and answers requests until interrupted.
    pub fn run(&self) -> Result<(), Failure> {
        let captures: Vec<&OsStr> = self.captures.iter().map(OsString::as_os_str).collect();
        let page = html::page(&captures, &self.question)?;
        let here = format!("127.0.0.1:{}", self.port);
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, self.port)).map_err(Failure::write(&here))?;
        let port = listener.local_addr().map_err(Failure::write(&here))?.port();
        listener.set_nonblocking(true).map_err(Failure::write(&here))?;
        let interrupt = Interrupt::catch();
        let address = format!("http://127.0.0.1:{port}/");
        print(&format!("{address} (Ctrl-C ends it)\n"))?;
        if !self.no_browser {
            open_browser(&address);
        }
        while !interrupt.came() {
            match listener.accept() {
                // An error on one connection does not stop the server.
                Ok((stream, _)) => drop(answer(stream, &page, port)),
                Err(e) if e.kind() == ErrorKind::WouldBlock => std::thread::sleep(PATIENCE),
                Err(e) => return Err(Failure::write(&here)(e)),
            }
        }
        Ok(())
    }
}

/// Opens the desktop's browser, if there is a desktop; the address was printed in any case.
fn open_browser(address: &str) {
    let set = |name: &str| std::env::var_os(name).is_some_and(|v| !v.is_empty());
    if std::io::stdout().is_terminal() && (set("DISPLAY") || set("WAYLAND_DISPLAY")) {
        let mut open = Command::new("xdg-open");
        open.arg(address).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        drop(open.spawn());
    }
}

fn answer(mut stream: TcpStream, page: &str, port: u16) -> std::io::Result<()> {
    stream.set_nonblocking(false)?;
    stream.set_read_timeout(Some(SILENCE))?;
    stream.set_write_timeout(Some(SILENCE))?;
    let mut request = Vec::new();
    let mut part = [0; 2048];
    while request.len() < MOST_OF_A_REQUEST && !request.windows(4).any(|w| w == b"\r\n\r\n") {
        match stream.read(&mut part)? {
            0 => break,
            n => request.extend_from_slice(&part[..n]),
        }
    }
    let (status, body) = respond(&String::from_utf8_lossy(&request), page, port);
    write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {}\r\n\
         Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nX-Frame-Options: DENY\r\n\
         Connection: close\r\n\r\n",
        body.len()
    )?;
    stream.write_all(body.as_bytes())
}

/// The status and body of the answer to a request.
fn respond<'a>(request: &str, page: &'a str, port: u16) -> (&'static str, &'a str) {
    let mut lines = request.lines();
    let first: Vec<&str> = lines.next().unwrap_or("").split(' ').collect();
    let host = lines.find_map(|l| l.split_once(':').filter(|(name, _)| name.eq_ignore_ascii_case("host")));
    let host = host.map_or("", |(_, value)| value.trim());
    let ours = [format!("127.0.0.1:{port}"), format!("localhost:{port}")];
    match first[..] {
        ["GET" | "HEAD", ..] if !ours.iter().any(|name| name == host) => ("421 Misdirected Request", ""),
        ["GET", "/", _] => ("200 OK", page),
        ["GET" | "HEAD", _, _] => ("404 Not Found", ""),
        _ => ("400 Bad Request", ""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machine_by_its_own_name_gets_the_page() {
        let ask = |text: &str| respond(text, "page", 8080);
        assert_eq!(ask("GET / HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n\r\n"), ("200 OK", "page"));
        assert_eq!(ask("GET / HTTP/1.1\r\nhost: localhost:8080\r\n\r\n").1, "page");
        for request in [
            "",
            "\r\n",
            "GET / HTTP/1.1\r\nHost: evil.example:8080\r\n\r\n",
            "GET / HTTP/1.1\r\n\r\n",
            "GET /../etc/passwd HTTP/1.1\r\nHost: localhost:8080\r\n\r\n",
            "POST / HTTP/1.1\r\nHost: localhost:8080\r\n\r\n",
        ] {
            assert_eq!(ask(request).1, "", "{request:?}");
        }
    }
}
