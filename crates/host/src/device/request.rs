//! A request to rtnetlink(7), and its answer.

use std::io;

use netlink_packet_core::{NLM_F_ACK, NLM_F_REQUEST, NetlinkMessage, NetlinkPayload};
use netlink_packet_route::RouteNetlinkMessage;
use netlink_sys::{Socket, SocketAddr, protocols::NETLINK_ROUTE};

/// Requests a change from the kernel in the calling thread's namespace. `flags` are added to those
/// of every request.
///
/// # Errors
///
/// The kernel's error.
pub fn request(message: RouteNetlinkMessage, flags: u16) -> io::Result<()> {
    exchange(message, NLM_F_ACK | flags).map(drop)
}

/// Asks the kernel for one object in the calling thread's namespace.
///
/// # Errors
///
/// The kernel's error, or an unexpected answer.
pub fn ask(message: RouteNetlinkMessage) -> io::Result<RouteNetlinkMessage> {
    match exchange(message, 0)? {
        NetlinkPayload::InnerMessage(answer) => Ok(answer),
        other => Err(io::Error::other(format!("unexpected answer {other:?}"))),
    }
}

fn exchange(
    message: RouteNetlinkMessage,
    flags: u16,
) -> io::Result<NetlinkPayload<RouteNetlinkMessage>> {
    let mut request = NetlinkMessage::from(message);
    request.header.flags = NLM_F_REQUEST | flags;
    request.finalize();
    let mut bytes = vec![0; request.buffer_len()];
    request.serialize(&mut bytes);

    let socket = Socket::new(NETLINK_ROUTE)?;
    socket.connect(&SocketAddr::new(0, 0))?;
    socket.send(&bytes, 0)?;
    let (answer, _) = socket.recv_from_full()?;
    let answer = NetlinkMessage::<RouteNetlinkMessage>::deserialize(&answer)
        .map_err(|error| io::Error::other(error.to_string()))?;
    match answer.payload {
        NetlinkPayload::Error(error) if error.code.is_some() => Err(error.to_io()),
        payload => Ok(payload),
    }
}
