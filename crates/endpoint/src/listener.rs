//! Listeners.

use alloc::collections::VecDeque;
use alloc::sync::Arc;

use airtcp_tcp::Config;
use airtcp_units::Instant;

use crate::cookie;
use crate::fast_open::{FastOpenListen, Pending};
use crate::ids::ConnectionId;
use crate::settings::Options;

/// A listener's settings.
#[derive(Clone, Debug)]
pub struct ListenOptions {
    /// The settings of its connections.
    pub options: Options,
    /// Limit on connections being opened, and on those waiting to be accepted (Linux, `somaxconn`:
    /// 4096).
    pub backlog: usize,
    /// Beyond that limit, SYNs are answered without keeping state (RFC 4987 §3.6). If off, they are
    /// dropped.
    pub syn_cookies: bool,
    /// Whether, and how, data in SYNs is delivered before the handshake is complete (RFC 7413); an
    /// application may then be handed the same data twice, if a SYN is duplicated.
    pub fast_open: Option<FastOpenListen>,
}

impl Default for ListenOptions {
    fn default() -> Self {
        Self {
            options: Options::default(),
            backlog: 4096,
            syn_cookies: true,
            fast_open: None,
        }
    }
}

/// A listener.
#[derive(Debug)]
pub(crate) struct Listener {
    pub options: Options,
    /// The configurations for IPv4 and IPv6 packets.
    configs: [Arc<Config>; 2],
    backlog: usize,
    has_cookies: bool,
    /// Number of connections being opened.
    pub opening: usize,
    /// Connections waiting to be accepted.
    waiting: VecDeque<ConnectionId>,
    /// Connections that carry data before their handshake is complete.
    pub early: Pending,
    /// End of the time in which acknowledgments may answer cookies.
    cookies_until: Instant,
}

impl Listener {
    /// Number of connections waiting to be accepted.
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Creates a listener without connections. `configs`: the configurations for IPv4 and IPv6.
    pub fn new(settings: ListenOptions, configs: [Arc<Config>; 2]) -> Self {
        Self {
            options: settings.options,
            configs,
            backlog: settings.backlog.max(1),
            has_cookies: settings.syn_cookies,
            opening: 0,
            waiting: VecDeque::new(),
            early: Pending::new(settings.fast_open),
            cookies_until: Instant::ZERO,
        }
    }

    pub fn config(&self, is_ipv6: bool) -> Arc<Config> {
        Arc::clone(&self.configs[usize::from(is_ipv6)])
    }

    /// Whether another connection may be opened.
    pub const fn has_room_to_open(&self) -> bool {
        self.opening < self.backlog
    }

    /// Whether another connection may wait to be accepted.
    pub fn has_room_to_wait(&self) -> bool {
        self.waiting.len() < self.backlog
    }

    /// Records a SYN for which there is no room. Returns whether it is answered by a cookie.
    pub fn answers_by_cookie(&mut self, now: Instant) -> bool {
        if self.has_cookies {
            self.cookies_until = now + cookie::PERIOD * 2;
        }
        self.has_cookies
    }

    /// Whether cookies were sent recently.
    pub fn expects_cookies(&self, now: Instant) -> bool {
        now < self.cookies_until
    }

    /// Queues an established connection.
    pub fn push(&mut self, id: ConnectionId) {
        self.waiting.push_back(id);
    }

    /// Takes the connection that has waited longest.
    pub fn pop(&mut self) -> Option<ConnectionId> {
        self.waiting.pop_front()
    }
}
