//! The proxy's counters for Prometheus: `--metrics`.
//!
//! A thread queries the proxy like `--status`, so that a slow client delays no connection. It has
//! no privileges at all.

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread::Builder;
use std::time::Duration;

use airtcp_host::error::{Result, Tried};
use airtcp_host::privileges::{Calls, CapabilitySet, Needs, keep_only};
use serde_json::Value;

use crate::status;

/// Time allowed for a request.
const PATIENCE: Duration = Duration::from_secs(1);
/// Maximum length of a request, in bytes.
const MAX: u64 = 4096;

/// The numbers of [`Counters`](crate::counters::Counters), whether each is a gauge rather than a
/// counter, and its description.
const NUMBERS: [(&str, bool, &str); 11] = [
    ("accepted", false, "Connections of clients."),
    ("open", true, "Connections there now."),
    (
        "connecting",
        true,
        "Those whose server has not answered yet.",
    ),
    (
        "over",
        false,
        "Connections that ended in order at both ends.",
    ),
    (
        "failed",
        false,
        "Connections reset because one end had failed.",
    ),
    (
        "unreached",
        false,
        "Connections reset because no server was reached.",
    ),
    ("up_bytes", false, "Bytes handed to servers."),
    ("down_bytes", false, "Bytes handed to clients."),
    ("pipes", true, "Pipes that hold data now."),
    (
        "reports",
        false,
        "Reports of the radio's driver on connections here.",
    ),
    (
        "granted_bytes",
        true,
        "What the kernel may hold at most for the connections.",
    ),
];

/// Serves the numbers at an address, in a thread, until the process ends.
///
/// # Errors
///
/// The address is in use, or no thread can be started.
pub fn serve(address: SocketAddr) -> Result<()> {
    let listener = TcpListener::bind(address).tried(|| format!("--metrics {address}"))?;
    let failed = || "cannot start a thread for --metrics".to_owned();
    Builder::new()
        .name("metrics".to_owned())
        .spawn(move || {
            let limited = keep_only(&Needs {
                capabilities: CapabilitySet::empty(),
                calls: Calls::Traffic,
                writes: &[],
                reads: Some(&[]),
            });
            if let Err(error) = limited {
                eprintln!("airtcp-net: no metrics: {error}");
                return;
            }
            for stream in listener.incoming().flatten() {
                // A client that does not wait gets no answer.
                let _ = answer(stream);
            }
        })
        .map(drop)
        .tried(failed)
}

/// Answers a client: Prometheus requests a single page, which every client gets.
fn answer(mut stream: TcpStream) -> std::io::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let mut lines = BufReader::new(Read::by_ref(&mut stream).take(MAX));
    let mut line = String::new();
    while lines.read_line(&mut line)? > 0 && !line.trim().is_empty() {
        line.clear();
    }
    let told = status::ask(std::process::id()).unwrap_or_default();
    let body = serde_json::from_str(&told).map_or_else(|_| String::new(), |told| page(&told));
    write!(
        stream,
        "HTTP/1.0 200 OK\r\nContent-Type: text/plain; version=0.0.4\r\nContent-Length: {}\r\n\r\n\
         {body}",
        body.len()
    )
}

/// The text format of Prometheus, version 0.0.4.
fn page(told: &Value) -> String {
    let mut page = String::new();
    for (name, is_state, help) in NUMBERS {
        let Some(value) = told[name].as_u64() else {
            continue;
        };
        let (ending, kind) = if is_state {
            ("", "gauge")
        } else {
            ("_total", "counter")
        };
        let _ = writeln!(
            page,
            "# HELP airtcp_proxy_{name}{ending} {help}\n# TYPE airtcp_proxy_{name}{ending} {kind}\n\
             airtcp_proxy_{name}{ending} {value}"
        );
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counters::Counters;

    #[test]
    fn every_counter_is_on_the_page() {
        let counters = Counters {
            accepted: 3,
            open: 2,
            ..Counters::default()
        };
        let told: Value = serde_json::from_str(&counters.json()).unwrap();
        let page = page(&told);
        assert!(page.contains(
            "# TYPE airtcp_proxy_accepted_total counter\nairtcp_proxy_accepted_total 3\n"
        ));
        assert!(page.contains("# TYPE airtcp_proxy_open gauge\nairtcp_proxy_open 2\n"));
        // All except the process number.
        let numbers = told.as_object().unwrap().len() - 1;
        assert_eq!(page.matches("# TYPE").count(), numbers);
    }
}
