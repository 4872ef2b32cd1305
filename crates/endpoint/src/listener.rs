//! Who waits for connections.

use std::collections::VecDeque;
use std::sync::Arc;

use airtcp_tcp::Config;
use airtcp_units::Instant;
use slotmap::new_key_type;

use crate::cookie;
use crate::endpoint::ConnectionId;
use crate::settings::Options;

new_key_type! {
    /// A listener of an endpoint.
    pub struct ListenerId;
}

/// What a listener is set to.
#[derive(Clone, Debug)]
pub struct ListenOptions {
    /// What its connections are set to.
    pub options: Options,
    /// The most connections that are being opened, and the most that wait to be accepted (Linux,
    /// `somaxconn`: 4096).
    pub backlog: usize,
    /// Beyond that, SYNs are answered and not remembered (RFC 4987 §3.6). Off, they are dropped.
    pub syn_cookies: bool,
}

impl Default for ListenOptions {
    fn default() -> Self {
        Self {
            options: Options::default(),
            backlog: 4096,
            syn_cookies: true,
        }
    }
}

/// A listener.
#[derive(Debug)]
pub(crate) struct Listener {
    pub options: Options,
    /// The stack as it fits packets of IPv4, and of IPv6.
    configs: [Arc<Config>; 2],
    backlog: usize,
    has_cookies: bool,
    /// Connections that are being opened.
    pub opening: usize,
    /// Connections that wait to be accepted.
    waiting: VecDeque<ConnectionId>,
    /// Until when acknowledgments may be to cookies.
    cookies_until: Instant,
}

impl Listener {
    /// How many connections wait to be accepted.
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Nobody has come. `configs`: the stack for IPv4, and for IPv6.
    pub fn new(settings: ListenOptions, configs: [Arc<Config>; 2]) -> Self {
        Self {
            options: settings.options,
            configs,
            backlog: settings.backlog.max(1),
            has_cookies: settings.syn_cookies,
            opening: 0,
            waiting: VecDeque::new(),
            cookies_until: Instant::ZERO,
        }
    }

    pub fn config(&self, is_ipv6: bool) -> Arc<Config> {
        Arc::clone(&self.configs[usize::from(is_ipv6)])
    }

    /// Whether one more can be being opened.
    pub const fn has_room_to_open(&self) -> bool {
        self.opening < self.backlog
    }

    /// Whether one more can wait to be accepted.
    pub fn has_room_to_wait(&self) -> bool {
        self.waiting.len() < self.backlog
    }

    /// A SYN came that there is no room for. Returns whether it is answered by a cookie.
    pub fn answers_by_cookie(&mut self, now: Instant) -> bool {
        if self.has_cookies {
            self.cookies_until = now + cookie::PERIOD * 2;
        }
        self.has_cookies
    }

    /// Whether cookies were sent lately.
    pub fn expects_cookies(&self, now: Instant) -> bool {
        now < self.cookies_until
    }

    /// A connection is open.
    pub fn push(&mut self, id: ConnectionId) {
        self.waiting.push_back(id);
    }

    /// The connection that has waited longest.
    pub fn pop(&mut self) -> Option<ConnectionId> {
        self.waiting.pop_front()
    }
}
