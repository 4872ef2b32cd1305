//! The two ends of a connection.

use core::fmt;
use core::net::SocketAddr;

/// The ends of a connection as this side sees them.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct FourTuple {
    /// This side.
    pub local: SocketAddr,
    /// The peer.
    pub remote: SocketAddr,
}

impl fmt::Debug for FourTuple {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for FourTuple {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} with {}", self.local, self.remote)
    }
}
