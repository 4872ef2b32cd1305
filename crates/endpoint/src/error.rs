//! Errors of operations on listeners and connections.

use core::error::Error;
use core::fmt;
use core::net::SocketAddr;

use airtcp_tcp::End;

use crate::tuple::FourTuple;

/// The reason a listener cannot be created.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListenError {
    /// Another listener has that address, or every address with that port.
    InUse(SocketAddr),
    /// Port 0 is not valid for a single address.
    NoPort,
}

impl fmt::Display for ListenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InUse(address) => write!(
                f,
                "cannot listen at {address}: another listener has that port; choose another, or \
                 close that one first"
            ),
            Self::NoPort => f.write_str(
                "cannot listen at port 0 of one address: expected 1 to 65535, or an unspecified \
                 address for every port",
            ),
        }
    }
}

impl Error for ListenError {}

/// The reason a connection cannot be opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConnectError {
    /// There is a connection between these ends, or was recently (TIME-WAIT).
    InUse(FourTuple),
    /// Every port of this side is in use towards that peer.
    NoPort(SocketAddr),
    /// One side is IPv4 and the other IPv6, or the peer has no port.
    Address(FourTuple),
    /// There are as many connections, or bytes in buffers, as
    /// [`Settings`](crate::Settings) allow.
    Full,
}

impl fmt::Display for ConnectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InUse(tuple) => write!(
                f,
                "there is, or was until lately, a connection from {tuple}: leave the local port 0 \
                 to have another chosen"
            ),
            Self::NoPort(remote) => write!(f, "every local port is in use towards {remote}"),
            Self::Address(tuple) => write!(
                f,
                "cannot connect {tuple}: expected two addresses of one family, and a port of the \
                 peer from 1 to 65535"
            ),
            Self::Full => f.write_str(
                "there are as many connections as Settings::most_connections, or bytes as \
                 Settings::most_buffered allow",
            ),
        }
    }
}

impl Error for ConnectError {}

/// The reason an operation on a connection is impossible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamError {
    /// It was released, or never was.
    Unknown,
    /// The writing side is closed.
    WritingIsShut,
    /// It has ended.
    Ended(End),
}

impl fmt::Display for StreamError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unknown => "there is no such connection: it was released",
            Self::WritingIsShut => "writing was shut on this side of the connection",
            Self::Ended(End::Orderly) => "the connection was closed by both sides",
            Self::Ended(End::Reset) => "the connection was reset by the peer",
            Self::Ended(End::Refused) => "the connection was refused by the peer",
            Self::Ended(End::TimedOut) => "the connection timed out: the peer is silent",
            Self::Ended(End::Aborted) => "the connection was aborted on this side",
        })
    }
}

impl Error for StreamError {}
