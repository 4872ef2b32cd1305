//! A link's reports to a station on the station's segments, as from its radio's driver: the number
//! of retransmissions of each, and the link's retransmission timeout (WSC-TCP, §3.1).
//!
//! A report is a datagram to an abstract name (unix(7)) in the station's network namespace, where
//! the station's TCP stack can receive it; without a listener it is lost.

use std::fs;
use std::net::SocketAddr as Ends;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::sync::Arc;

use airtcp_packet::{LinkFeedback, SequenceNumber};
use airtcp_units::Duration;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result, Tried};
use crate::namespace::Namespace;

/// The name at which reports of a network namespace's links arrive.
const NAME: &str = "airtcp-link-reports";
/// Limit on the datagrams queued by a socket of a network namespace: the default is ten, which is
/// fewer than a radio delivers while a program waits for a processor. User namespaces have no such
/// setting.
const KEPT: (&str, &str) = ("/proc/sys/net/unix/max_dgram_qlen", "1024");
/// The longest report, in bytes.
const MAX: usize = 512;

/// A link's report about one segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// The sending end, as the link sees it.
    pub local: Ends,
    /// The other end.
    pub remote: Ends,
    /// Its first sequence number.
    pub sequence: u32,
    /// Number of times the link has retransmitted it.
    pub retransmissions: u32,
    /// The link's retransmission timeout, in nanoseconds, if known.
    pub retry_timeout_ns: Option<u64>,
}

impl Report {
    /// The feedback for a connection: on the link, if any, and on the segment.
    pub fn feedback(&self) -> [Option<LinkFeedback>; 2] {
        let timeout = self.retry_timeout_ns.map(Duration::from_nanos);
        [
            timeout.map(LinkFeedback::RetryTimeout),
            Some(LinkFeedback::Delivered {
                sequence: SequenceNumber(self.sequence),
                retransmissions: self.retransmissions,
            }),
        ]
    }
}

/// Senders of reports: a socket in each station's namespace.
#[derive(Debug)]
pub struct Reports {
    sockets: Vec<UnixDatagram>,
    to: SocketAddr,
}

impl Reports {
    /// Creates the sockets for these stations.
    ///
    /// # Errors
    ///
    /// The system has no sockets left.
    pub fn new(stations: &[Arc<Namespace>]) -> Result<Self> {
        let what = || "cannot make a socket for reports of the link".to_owned();
        let sockets = stations.iter().map(|station| {
            station.enter(|| {
                let _ = fs::write(KEPT.0, KEPT.1);
                let socket = UnixDatagram::unbound().tried(what)?;
                socket.set_nonblocking(true).tried(what)?;
                Ok(socket)
            })
        });
        Ok(Self {
            sockets: sockets.collect::<Result<_>>()?,
            to: name().tried(what)?,
        })
    }

    /// Sends a report to a station.
    pub fn tell(&self, station: usize, report: &Report) {
        if let (Some(socket), Ok(bytes)) = (self.sockets.get(station), serde_json::to_vec(report)) {
            // There is no listener, or it does not keep up.
            let _ = socket.send_to_addr(&bytes, &self.to);
        }
    }
}

/// Opens a socket for the reports of this network namespace's links.
///
/// # Errors
///
/// Another process receives them already.
pub fn listener() -> Result<UnixDatagram> {
    let bound = name().and_then(|name| UnixDatagram::bind_addr(&name));
    let socket = bound.map_err(|cause| {
        Error::system("cannot listen for reports of the link", cause)
            .remedied_by("one program of a network namespace hears them")
    })?;
    socket
        .set_nonblocking(true)
        .tried(|| "cannot set a socket not to wait".to_owned())?;
    Ok(socket)
}

/// The next waiting report, if any. Malformed ones are skipped.
pub fn next(socket: &UnixDatagram) -> Option<Report> {
    let mut bytes = [0; MAX];
    loop {
        let length = socket.recv(&mut bytes).ok()?;
        if let Ok(report) = serde_json::from_slice(&bytes[..length]) {
            return Some(report);
        }
    }
}

fn name() -> std::io::Result<SocketAddr> {
    SocketAddr::from_abstract_name(NAME)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_station_hears_of_its_own_link_alone() {
        let stations = [Namespace::new(), Namespace::new()];
        let [Ok(first), Ok(second)] = stations else {
            airtcp_needs::skip("the system forbids namespaces");
            return;
        };
        let stations = [Arc::new(first), Arc::new(second)];
        let reports = Reports::new(&stations).unwrap();
        let report = Report {
            local: "10.0.0.1:1".parse().unwrap(),
            remote: "[fd00::2]:2".parse().unwrap(),
            sequence: u32::MAX,
            retransmissions: 3,
            retry_timeout_ns: Some(5_000_000),
        };
        // No listener yet.
        reports.tell(0, &report);
        let [first, second] = stations.each_ref().map(|one| one.enter(listener).unwrap());
        reports.tell(0, &report);
        assert_eq!(next(&first), Some(report));
        assert_eq!((next(&first), next(&second)), (None, None));
    }
}
