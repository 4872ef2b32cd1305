//! The connections of a network namespace as reported by sock_diag(7).

use std::io;

use airtcp_host::error::{Result, Tried};
use airtcp_host::netlink::{Connection as Netlink, Part};
use netlink_packet_core::NLM_F_DUMP;
use netlink_packet_sock_diag::SockDiagMessage;
use netlink_packet_sock_diag::constants::{AF_INET, AF_INET6, IPPROTO_TCP};
use netlink_packet_sock_diag::inet::nlas::Nla;
use netlink_packet_sock_diag::inet::{
    ExtensionFlags, InetRequest, InetResponse, SocketId, StateFlags,
};
use rustix::io::Errno;

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
    let mut connections = dump(AF_INET, SocketId::new_v4())
        .tried(|| "cannot ask sock_diag for connections".to_owned())?;
    match dump(AF_INET6, SocketId::new_v6()) {
        Ok(more) => connections.extend(more),
        // A kernel without IPv6.
        Err(cause) if cause.raw_os_error() == Some(Errno::NOENT.raw_os_error()) => {}
        other => {
            other.tried(|| "cannot ask sock_diag for connections of IPv6".to_owned())?;
        }
    }
    Ok(connections)
}

fn dump(family: u8, any: SocketId) -> io::Result<Vec<Connection>> {
    let request = InetRequest {
        family,
        protocol: IPPROTO_TCP,
        extensions: ExtensionFlags::INFO | ExtensionFlags::CONG,
        states: StateFlags::ESTABLISHED,
        socket_id: any,
    };
    let question = SockDiagMessage::InetRequest(request);
    let answers = Netlink::open(Part::SockDiag)?.ask(&question, NLM_F_DUMP)?;
    Ok(answers
        .iter()
        .filter_map(|answer| match answer {
            SockDiagMessage::InetResponse(response) => Some(connection(response)),
            _ => None,
        })
        .collect())
}

fn connection(response: &InetResponse) -> Connection {
    let id = &response.header.socket_id;
    let mut connection = Connection {
        cookie: u64::from_ne_bytes(id.cookie),
        local_port: id.source_port,
        remote_port: id.destination_port,
        ..Connection::default()
    };
    for attribute in &response.nlas {
        match attribute {
            Nla::Congestion(name) => connection.control.clone_from(name),
            Nla::TcpInfo(info) => {
                connection.acknowledged = info.bytes_acked;
                connection.busy_us = info.busy_time;
                connection.data_segments = info.data_segs_out;
                connection.retransmissions = info.total_retrans;
                connection.srtt_us = info.rtt;
            }
            _ => {}
        }
    }
    connection
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
