//! The state of all hosts that Fast Open (RFC 7413) keeps across connections: cookies that clients
//! were granted, and servers' keys.

use airtcp_endpoint::{
    CacheSettings, FastOpenCache, FastOpenConnect, FastOpenKeys, FastOpenListen, FourTuple,
};
use airtcp_packet::Segment;
use airtcp_tcp::Connection;
use airtcp_units::Instant;

/// Number of servers that a client remembers: one for each flow and more.
const SERVERS: usize = 1 << 20;

/// The cookies and keys. One cache serves all clients, whose addresses differ, and one key all
/// servers: a cookie is of both addresses.
#[derive(Debug)]
pub(super) struct Cookies {
    cache: FastOpenCache,
    keys: FastOpenKeys,
}

impl Default for Cookies {
    fn default() -> Self {
        let settings = CacheSettings {
            most: SERVERS,
            ..CacheSettings::default()
        };
        Self {
            cache: FastOpenCache::new([1; 16], settings),
            keys: FastOpenKeys::new([2; 16]),
        }
    }
}

impl Cookies {
    /// Adds a cookie and data to the SYN of a client that opens a connection now, or the request of
    /// a cookie, if a segment without options holds `payload` bytes. A client without data to send
    /// opens the connection as any other.
    pub fn open(&self, now: Instant, tuple: &FourTuple, payload: u16, client: &mut Connection) {
        if client.sender().written() == 0 {
            return;
        }
        let how = FastOpenConnect::default();
        client.open_fast(self.cache.syn(now, tuple, payload, how));
    }

    /// Decides on a SYN that arrives at a server.
    pub fn answer(&self, tuple: &FourTuple, syn: &Segment, server: &mut Connection) {
        let answer = FastOpenListen::default().answer(&self.keys, tuple, syn);
        server.answer_fast_open(answer);
    }

    /// Learns from a SYN-ACK that arrives at a client.
    pub fn learn(&mut self, tuple: &FourTuple, syn_ack: &Segment, client: &Connection) {
        if let Some(asked) = client.fast_open_asked() {
            self.cache.learn(tuple, asked, syn_ack);
        }
    }
}
