//! The proxy's counters for Prometheus: `--metrics`.
//!
//! A thread queries the proxy like `--status`, so that a slow client delays no connection. It has
//! no privileges at all.

use std::net::{SocketAddr, TcpListener};
use std::thread::Builder;

use airtcp_host::daemon::metrics::{self, Page};
use airtcp_host::error::{Result, Tried};
use airtcp_host::privileges::{Calls, CapabilitySet, Needs, keep_only};
use serde_json::Value;

use crate::status;

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
                let _ = metrics::answer(stream, || {
                    let status = status::ask(std::process::id()).unwrap_or_default();
                    serde_json::from_str(&status).map_or_else(|_| String::new(), |all| page(&all))
                });
            }
        })
        .map(drop)
        .tried(failed)
}

/// The numbers of an answer to `--status`.
fn page(status: &Value) -> String {
    let mut page = Page::new("airtcp_proxy", &[]);
    for (name, is_gauge, help) in NUMBERS {
        let Some(value) = status[name].as_u64() else {
            continue;
        };
        if is_gauge {
            page.gauge(name, help, value);
        } else {
            page.counter(name, help, value);
        }
    }
    page.into_text()
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
        let status: Value = serde_json::from_str(&counters.json()).unwrap();
        let page = page(&status);
        assert!(page.contains(
            "# TYPE airtcp_proxy_accepted_total counter\nairtcp_proxy_accepted_total 3\n"
        ));
        assert!(page.contains("# TYPE airtcp_proxy_open gauge\nairtcp_proxy_open 2\n"));
        // All except the process number.
        let numbers = status.as_object().unwrap().len() - 1;
        assert_eq!(page.matches("# TYPE").count(), numbers);
    }
}
