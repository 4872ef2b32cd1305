//! A proxy's status: one JSON object, for `--status`; the same numbers for Prometheus.
//!
//! Its socket has an abstract name (unix(7)) in the network namespace, which vanishes with the
//! process.

use std::net;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};

use airtcp_host::daemon::metrics::Page;
use airtcp_host::daemon::status::{Outlets, Requests, STATUS, Status, ask};
use airtcp_host::error::{Result, Tried};
use serde::Serialize;
use serde_json::json;

use crate::counters::Counters;

const NAME: &str = "airtcp-proxy/";

/// The numbers of [`Counters`], whether each is a gauge rather than a
/// counter, and its description.
const NUMBERS: [(&str, bool, &str); 11] = [
    ("accepted", false, "Connections of clients."),
    ("open", true, "Connections there now."),
    (
        "connecting",
        true,
        "Those whose server has not answered yet.",
    ),
    ("closed", false, "Connections closed cleanly by both ends."),
    (
        "failed",
        false,
        "Connections reset because one end had failed.",
    ),
    (
        "connect_failed",
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

/// Serves the status, and at this address to Prometheus.
///
/// # Errors
///
/// The system has no sockets left, the address is in use, or no thread can be started.
pub fn serve(prometheus: Option<net::SocketAddr>) -> Result<Requests> {
    let socket = address(std::process::id())
        .and_then(|address| UnixListener::bind_addr(&address))
        .tried(|| "cannot make a socket for --status".to_owned())?;
    Requests::serve(Outlets {
        socket,
        prometheus,
        file: None,
        orders: &[],
    })
}

impl Status for Counters {
    fn document(&self) -> String {
        #[derive(Serialize)]
        struct Said<'a> {
            process: u32,
            #[serde(flatten)]
            counters: &'a Counters,
        }
        let said = Said {
            process: std::process::id(),
            counters: self,
        };
        serde_json::to_string(&said).unwrap_or_default()
    }

    fn prometheus(&self) -> String {
        let status = json!(self);
        let mut page = Page::new("airtcp_proxy", &[]);
        for (name, is_gauge, help) in NUMBERS {
            let value = &status[name];
            if is_gauge {
                page.gauge(name, help, value);
            } else {
                page.counter(name, help, value);
            }
        }
        page.into_text()
    }
}

/// Prints the answers of every proxy of this network namespace. Returns the exit status.
///
/// # Errors
///
/// The system does not list them.
pub fn print_all() -> Result<i32> {
    let names = std::fs::read_to_string("/proc/net/unix")
        .tried(|| "cannot read /proc/net/unix".to_owned())?;
    let mut processes: Vec<u32> = names
        .lines()
        .filter_map(|line| line.rsplit_once('@')?.1.strip_prefix(NAME)?.parse().ok())
        .collect();
    processes.sort_unstable();
    processes.dedup();
    if processes.is_empty() {
        println!("no proxy is running here");
    }
    for process in processes {
        let address = address(process).tried(|| "cannot name a socket".to_owned())?;
        let failed = |error: String| json!({ "process": process, "error": error }).to_string();
        let answer = match ask(&address, STATUS) {
            Ok(answer) => answer.unwrap_or_else(|| failed("it has ended".to_owned())),
            Err(error) => failed(error.to_string()),
        };
        println!("{answer}");
    }
    Ok(0)
}

fn address(process: u32) -> std::io::Result<SocketAddr> {
    SocketAddr::from_abstract_name(format!("{NAME}{process}"))
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn every_counter_is_on_the_page() {
        let counters = Counters {
            accepted: 3,
            open: 2,
            ..Counters::default()
        };
        let page = counters.prometheus();
        assert!(page.contains(
            "# TYPE airtcp_proxy_accepted_total counter\nairtcp_proxy_accepted_total 3\n"
        ));
        assert!(page.contains("# TYPE airtcp_proxy_open gauge\nairtcp_proxy_open 2\n"));
        let status: Value = serde_json::from_str(&counters.document()).unwrap();
        assert_eq!(status["process"], std::process::id());
        // All except the process number.
        let numbers = status.as_object().unwrap().len() - 1;
        assert_eq!(page.matches("# TYPE").count(), numbers);
        assert!(!page.contains("null"), "{page}");
    }
}
