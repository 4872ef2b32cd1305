//! A listener's side: its handling of SYNs with data, and their limit.

use alloc::collections::VecDeque;

use airtcp_packet::Segment;
use airtcp_tcp::FastOpenAnswer;
use airtcp_units::{Duration, Instant};

use super::keys::{Check, FastOpenKeys};
use crate::tuple::FourTuple;

/// How long a connection that was reset before its handshake was complete still counts: a client
/// that forges its address must not escape the limit by the reset that the address's owner sends
/// (Linux, `reqsk_fastopen_remove`: 60 s).
const RESET_COUNTS_FOR: Duration = Duration::from_secs(60);

/// A listener's use of Fast Open.
#[derive(Clone, Copy, Debug)]
pub struct FastOpenListen {
    /// Limit on connections with data delivered before the handshake is complete (TCP_FASTOPEN):
    /// beyond it a SYN's data is left to be retransmitted.
    pub pending: usize,
    /// Whether a SYN's data is taken without a cookie (Linux, `tcp_fastopen`, 0x200): for networks
    /// in which no address can be forged.
    pub without_cookie: bool,
    /// Keys that replace the endpoint's.
    pub keys: Option<FastOpenKeys>,
}

impl Default for FastOpenListen {
    /// 1024 connections (Linux, 0x400 of `tcp_fastopen` takes the backlog), with cookies.
    fn default() -> Self {
        Self {
            pending: 1024,
            without_cookie: false,
            keys: None,
        }
    }
}

impl FastOpenListen {
    /// The decision on `syn` as long as there is room for another connection (Linux,
    /// `tcp_try_fastopen`); `keys` are used by a listener without keys.
    #[must_use]
    pub fn answer(&self, keys: &FastOpenKeys, tuple: &FourTuple, syn: &Segment) -> FastOpenAnswer {
        let opened = FastOpenAnswer {
            opens: asks(syn),
            grants: None,
        };
        if self.without_cookie {
            return opened;
        }
        let Some(option) = syn.fast_open() else {
            return FastOpenAnswer::default();
        };
        let keys = self.keys.as_ref().unwrap_or(keys);
        match keys.check(tuple, option) {
            Check::Valid => opened,
            Check::Old => FastOpenAnswer {
                grants: keys.grant(tuple, option),
                ..opened
            },
            Check::Invalid => FastOpenAnswer {
                opens: false,
                grants: keys.grant(tuple, option),
            },
        }
    }
}

/// Whether a SYN uses Fast Open at all.
fn asks(syn: &Segment) -> bool {
    syn.payload_bytes > 0 || syn.fast_open().is_some()
}

/// The connections of a listener with data delivered before the handshake was complete.
#[derive(Debug, Default)]
pub(crate) struct Pending {
    settings: Option<FastOpenListen>,
    open: usize,
    /// Times at which reset connections no longer count.
    reset: VecDeque<Instant>,
}

impl Pending {
    pub const fn new(settings: Option<FastOpenListen>) -> Self {
        Self {
            settings,
            open: 0,
            reset: VecDeque::new(),
        }
    }

    /// The decision on `syn`; `keys`: the endpoint's.
    pub fn answer(
        &mut self,
        now: Instant,
        keys: &FastOpenKeys,
        tuple: &FourTuple,
        syn: &Segment,
    ) -> FastOpenAnswer {
        let Some(settings) = self.settings.filter(|_| asks(syn)) else {
            return FastOpenAnswer::default();
        };
        if !self.has_room(now, settings.pending) {
            return FastOpenAnswer::default();
        }
        settings.answer(keys, tuple, syn)
    }

    fn has_room(&mut self, now: Instant, most: usize) -> bool {
        while self.reset.front().is_some_and(|&until| until <= now) {
            self.reset.pop_front();
        }
        self.open + self.reset.len() < most
    }

    /// Counts a connection with delivered data.
    pub const fn on_open(&mut self) {
        self.open += 1;
    }

    /// A connection's handshake is complete, or it is gone; `reset` by the peer.
    pub fn on_settled(&mut self, now: Instant, reset: bool) {
        self.open = self.open.saturating_sub(1);
        if reset {
            self.reset.push_back(now + RESET_COUNTS_FOR);
        }
    }
}
