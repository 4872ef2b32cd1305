//! A request to rtnetlink(7), and its answer.

use std::io;

use netlink_packet_core::NLM_F_ACK;
use netlink_packet_route::RouteNetlinkMessage;

use super::{Connection, Part};

/// Requests a change from the kernel in the calling thread's namespace. `flags` are added to
/// every request's.
///
/// # Errors
///
/// The kernel's error.
pub fn request(message: &RouteNetlinkMessage, flags: u16) -> io::Result<()> {
    Connection::open(Part::Route)?
        .ask::<RouteNetlinkMessage>(message, NLM_F_ACK | flags)
        .map(drop)
}

/// Asks the kernel for one object in the calling thread's namespace.
///
/// # Errors
///
/// The kernel's error, or an unexpected answer.
pub fn ask(message: &RouteNetlinkMessage) -> io::Result<RouteNetlinkMessage> {
    let answers = Connection::open(Part::Route)?.ask(message, 0)?;
    let answer = answers.into_iter().next();
    answer.ok_or_else(|| io::Error::other("the kernel's answer has no object"))
}
