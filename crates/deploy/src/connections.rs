//! The connections of a network namespace as reported by sock_diag(7).

use std::io;
use std::mem::offset_of;

use airtcp_host::error::{Result, Tried};
use airtcp_host::netlink::frame::{as_text, find, long_word, word};
use airtcp_host::netlink::{Connection as Netlink, Part};
use libc::{AF_INET, AF_INET6, IPPROTO_TCP, tcp_info};
use netlink_packet_core::NLM_F_DUMP;
use rustix::io::Errno;

/// SOCK_DIAG_BY_FAMILY of include/uapi/linux/sock_diag.h.
const BY_FAMILY: u16 = 20;
/// INET_DIAG_INFO and INET_DIAG_CONG of include/uapi/linux/inet_diag.h.
const INFO: u16 = 2;
const CONGESTION: u16 = 4;
/// TCP_ESTABLISHED of include/net/tcp_states.h.
const ESTABLISHED: u32 = 1;
/// Bytes of struct inet_diag_sockid.
const SOCKET: usize = 48;
/// Bytes of struct inet_diag_msg, and the places of ports and cookie there.
const ANSWER: usize = 72;
const PORTS_AT: usize = 4;
const COOKIE_AT: usize = 44;

/// A connection as the kernel reports it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Connection {
    /// Its cookie, unique until the machine restarts.
    pub cookie: u64,
    /// The local port.
    pub local_port: u16,
    /// The remote port.
    pub remote_port: u16,
    /// Its congestion control.
    pub control: String,
    /// Bytes acknowledged.
    pub acknowledged: u64,
    /// The time during which it had data to send, in microseconds.
    pub busy_us: u64,
    /// Data segments sent, retransmissions included.
    pub data_segments: u32,
    /// Segments retransmitted.
    pub retransmissions: u32,
    /// The smoothed round trip, in microseconds.
    pub srtt_us: u32,
}

/// Returns the established connections of the calling thread's namespace, IPv4 and IPv6.
///
/// # Errors
///
/// The kernel has no sock_diag, or does not answer.
pub fn established() -> Result<Vec<Connection>> {
    let mut connections =
        dump(AF_INET).tried(|| "cannot ask sock_diag for connections".to_owned())?;
    match dump(AF_INET6) {
        Ok(more) => connections.extend(more),
        // A kernel without IPv6.
        Err(cause) if cause.raw_os_error() == Some(Errno::NOENT.raw_os_error()) => {}
        other => {
            other.tried(|| "cannot ask sock_diag for connections of IPv6".to_owned())?;
        }
    }
    Ok(connections)
}

fn dump(family: i32) -> io::Result<Vec<Connection>> {
    // struct inet_diag_req_v2: family, protocol, extensions, padding; states; any socket.
    let extensions = 1 << (INFO - 1) | 1 << (CONGESTION - 1);
    let mut request = vec![family as u8, IPPROTO_TCP as u8, extensions, 0];
    request.extend((1_u32 << ESTABLISHED).to_ne_bytes());
    request.extend([0; SOCKET]);
    let answers = Netlink::open(Part::SockDiag)?.exchange(BY_FAMILY, NLM_F_DUMP, &request)?;
    Ok(answers
        .iter()
        .filter_map(|(_, body)| connection(body))
        .collect())
}

fn connection(body: &[u8]) -> Option<Connection> {
    let port = |at| Some(u16::from_be_bytes(body.get(at..at + 2)?.try_into().ok()?));
    let attributes = body.get(ANSWER..)?;
    let info = find(attributes, INFO).unwrap_or_default();
    // An old kernel's structure ends earlier.
    let short = |at| word(info, at).unwrap_or(0);
    let long = |at| long_word(info, at).unwrap_or(0);
    Some(Connection {
        cookie: long_word(body, COOKIE_AT)?,
        local_port: port(PORTS_AT)?,
        remote_port: port(PORTS_AT + 2)?,
        control: find(attributes, CONGESTION)
            .map(as_text)
            .unwrap_or_default(),
        acknowledged: long(offset_of!(tcp_info, tcpi_bytes_acked)),
        busy_us: long(offset_of!(tcp_info, tcpi_busy_time)),
        data_segments: short(offset_of!(tcp_info, tcpi_data_segs_out)),
        retransmissions: short(offset_of!(tcp_info, tcpi_total_retrans)),
        srtt_us: short(offset_of!(tcp_info, tcpi_rtt)),
    })
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};

    use rustix::net::sockopt;

    use super::*;
    use airtcp_host::namespace::Namespace;

    /// sock_diag's report on a connection of this process matches its sockets.
    #[test]
    fn a_connection_is_reported_as_its_socket_says() {
        let namespace = match Namespace::new() {
            Ok(namespace) => namespace,
            Err(error) => {
                airtcp_needs::skip(error);
                return;
            }
        };
        namespace
            .enter(|| {
                let listener = TcpListener::bind("127.0.0.1:0").unwrap();
                let to = listener.local_addr().unwrap();
                let mut stream = TcpStream::connect(to).unwrap();
                let (mut other, _) = listener.accept().unwrap();
                stream.write_all(&[7; 1000]).unwrap();
                other.read_exact(&mut [0; 1000]).unwrap();
                // The answer carries the acknowledgment.
                other.write_all(b"x").unwrap();
                stream.read_exact(&mut [0]).unwrap();
                let found = established()?;
                assert_eq!(found.len(), 2, "both ends: {found:?}");
                let mine = stream.local_addr().unwrap().port();
                let one = found.iter().find(|one| one.local_port == mine).unwrap();
                assert_eq!(one.remote_port, to.port());
                assert_eq!(one.cookie, sockopt::socket_cookie(&stream).unwrap());
                assert_eq!(one.control, sockopt::tcp_congestion(&stream).unwrap());
                // The handshake's byte counts too.
                assert!((1000..=1001).contains(&one.acknowledged), "{one:?}");
                assert_eq!(one.data_segments, 1);
                Ok(())
            })
            .unwrap();
    }
}
