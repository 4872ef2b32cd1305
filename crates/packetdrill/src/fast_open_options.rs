//! A socket's options of Fast Open (tcp(7)).

use std::net::SocketAddr;

use airtcp_endpoint::FastOpenKeys;

/// A socket's settings of Fast Open.
#[derive(Clone, Copy, Debug, Default)]
pub struct FastOpenOptions {
    /// TCP_FASTOPEN: limit on connections before their handshake is complete.
    pub pending: usize,
    /// TCP_FASTOPEN_KEY.
    pub keys: Option<FastOpenKeys>,
    /// TCP_FASTOPEN_CONNECT: the SYN waits for data if a cookie is known.
    pub defers: bool,
    /// TCP_FASTOPEN_NO_COOKIE.
    pub without_cookie: bool,
    /// The server for the deferred SYN.
    pub deferred: Option<SocketAddr>,
}
