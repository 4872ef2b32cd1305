//! The largest segment that the path carries: learned from routers, or by probing (RFC 4821).
//!
//! ```text
//!        low                    probe                     high
//!   ──────┼───────────────────────┼─────────────────────────┼──────  payload of a segment
//!    known to arrive        half way between         not known to be lost
//! ```
//!
//! A probe carries new data, so that nothing is wasted if it arrives. If only the probe is lost it
//! was too large, which is no sign of congestion: it is cut and retransmitted, and the windows
//! stay. Segments that time out repeatedly show that the path carries less than before: a black
//! hole (RFC 2923 §2.1).

use airtcp_units::{Duration, Instant};

use super::repair::Entry;
use super::timers::Slot;
use super::transmission::Polling;
use super::{Sender, Transmission};

/// The search ends when its bounds are this near (Linux, `tcp_probe_threshold`: 8).
const NEAR: u64 = 8;
/// Time after which the search starts over from its upper end (RFC 4821 §7.7; Linux,
/// `tcp_probe_interval`: 10 minutes).
const INTERVAL: Duration = Duration::from_secs(600);
/// Full segments that must follow a probe, so that its loss is found by acknowledgments (RFC 4821
/// §7.4).
const FOLLOWED_BY: u64 = 4;
/// Number of expiries of one segment that mean a black hole (Linux, `tcp_retries1`: 3).
const EXPIRIES: u8 = 3;
/// Minimum segment size after a black hole (Linux, `TCP_MIN_MSS` less options).
const MIN: u64 = 48;

/// The search for the largest segment. All lengths are of payload.
#[derive(Clone, Debug)]
pub(super) struct PathMtu {
    low: u64,
    high: u64,
    /// The size agreed on by both sides: the search never goes beyond.
    most: u64,
    /// First byte of the probe in flight, and the byte after its last.
    probe: Option<(u64, u64)>,
    /// Time at which the next probe may leave.
    next: Instant,
}

impl PathMtu {
    const fn new(low: u64, most: u64) -> Self {
        Self {
            low,
            high: most,
            most,
            probe: None,
            next: Instant::ZERO,
        }
    }

    /// The next size to try; `None` if the bounds are close enough.
    fn candidate(&mut self, now: Instant) -> Option<u64> {
        if now < self.next || self.probe.is_some() {
            return None;
        }
        if self.high.saturating_sub(self.low) >= NEAR {
            // The size agreed on by both sides is the likeliest of all.
            return Some(if self.high == self.most {
                self.high
            } else {
                u64::midpoint(self.low, self.high)
            });
        }
        // The path may have changed.
        self.high = self.most;
        self.next = now + INTERVAL;
        None
    }

    fn on_lost(&mut self) {
        if let Some((start, end)) = self.probe.take() {
            self.high = (end - start - 1).max(self.low);
        }
    }
}

impl Sender {
    /// Searches for the largest segment that the path carries, from `first` bytes of payload
    /// upwards (RFC 4821 §7.2). Routers' reports are heeded with or without a search.
    pub(crate) fn probe_path(&mut self, first: u64) {
        let most = self.congestion.mss();
        let search = PathMtu::new(first.clamp(1, most), most);
        self.extras.set_path(Some(search));
        self.set_mss(first.clamp(1, most));
        self.polling = Polling::Special;
    }

    /// Handles a router's report that at most `mss` bytes of payload fit (RFC 1191 §4). Larger
    /// segments are lost, which is no sign of congestion (Linux, `tcp_simple_retransmit`).
    pub(crate) fn on_path_limit(&mut self, mss: u64) {
        let mss = mss.max(MIN);
        if let Some(path) = self.extras.path_mut() {
            path.on_lost();
            path.low = path.low.min(mss);
            path.high = mss;
        }
        if mss < self.congestion.mss() {
            self.set_mss(mss);
            let written = self.space.written();
            if self.board.mark_larger_lost(mss, written) {
                self.repair_cut_segments();
            }
        }
    }

    /// Returns a probe, if one may leave now (RFC 4821 §7.4).
    #[cold]
    pub(super) fn poll_path_probe(&mut self, now: Instant) -> Option<Transmission> {
        let una = self.space.una();
        let path = self.extras.path_mut()?;
        if let Some((start, end)) = path.probe
            && una >= end
        {
            path.probe = None;
            path.low = end - start;
            let mss = path.low;
            self.set_mss(mss);
        }
        if !self.sends_in_order() {
            return None;
        }
        let (in_flight, window) = (self.board.outstanding(), self.congestion.cwnd());
        let (nxt, mss) = (self.space.nxt(), self.congestion.mss());
        let size = self.extras.path_mut()?.candidate(now)?;
        let needed = size + FOLLOWED_BY * mss;
        let has_room = in_flight + needed <= window
            && self.space.right_edge() >= nxt + needed
            && self.space.written() >= nxt + needed;
        if !has_room {
            return None;
        }
        let fresh = self.space.fresh(size);
        self.send_new(now, &fresh);
        if let Some(path) = self.extras.path_mut() {
            path.probe = Some((fresh.start, fresh.end));
        }
        Some(Transmission {
            range: fresh.start..fresh.end,
            fin: false,
            retransmission: false,
            pushed: false,
        })
    }

    /// Checks a loss just found. Returns whether it was only a probe, and has been dealt with.
    #[cold]
    pub(super) fn is_path_probe_lost(&mut self) -> bool {
        let Some((start, end)) = self.extras.path().and_then(|path| path.probe) else {
            return false;
        };
        let alone = self.space.una() == start
            && self.repair.is_open()
            && self.board.lost() <= end - start
            && self
                .board
                .front()
                .is_some_and(|front| front.start == start && front.transmissions == 1);
        if alone {
            if let Some(path) = self.extras.path_mut() {
                path.on_lost();
            }
            self.board.mark_lost(0);
            self.repair_cut_segments();
        }
        alone
    }

    /// Handles an expiry of the retransmission timer; `expiries` counts the segment's.
    #[cold]
    pub(super) fn on_path_silent(&mut self, expiries: u8) {
        let Some(path) = self.extras.path_mut() else {
            return;
        };
        path.on_lost();
        if expiries >= EXPIRIES {
            path.low = (self.congestion.mss() / 2)
                .clamp(MIN.min(self.congestion.mss()), path.low.max(MIN));
            let mss = path.low.min(self.congestion.mss());
            self.set_mss(mss);
        }
    }

    /// Retransmits data presumed lost in segments of the current size, with the windows as they
    /// are.
    pub(super) fn repair_cut_segments(&mut self) {
        self.detection.forget_duplicates();
        self.detection.forget_arrivals();
        self.round_trips.forget();
        self.tail_probe.call_off();
        if self.repair.is_open() {
            self.repair.begin(Entry::Reopened, self.space.nxt());
        }
        self.repair.set_first(self.space.una());
        self.timers.cancel(Slot::Outstanding);
    }

    /// Limits segments to `mss` bytes.
    fn set_mss(&mut self, mss: u64) {
        self.congestion.set_mss(mss);
    }

    /// Splits the segment at `index` if it is larger than the current limit.
    pub(super) fn cut(&mut self, index: usize) {
        let written = self.space.written();
        if let Some(segment) = self.board.get(index)
            && segment.end().min(written) - segment.start > self.congestion.mss()
        {
            self.board.split(index, self.congestion.mss());
        }
    }
}
