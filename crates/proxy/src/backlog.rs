//! Bounds on the data waiting in the proxy for a destination: its delivery in two of its base round
//! trips, about one of them unsent and one unread.
//!
//! The base round trip is the minimum. The smoothed one includes the path's queue: bounds based on
//! it would make the two queues lengthen each other.

use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use airtcp_host::tcp_info::{TcpInfo, tcp_info};

use crate::socket::bound_receiving;

/// Scheduling delay of a busy machine: less data would leave the destination idle meanwhile.
const LATE: Duration = Duration::from_millis(2);
/// The smallest useful bounds: two segments, and a window of IW10 (RFC 6928 §2).
const MIN_UNSENT: usize = 4 << 10;
const MIN_UNREAD: usize = 16 << 10;

/// Bounds on the data waiting for a destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Bytes passed to the destination's TCP and not sent once.
    pub unsent: usize,
    /// Bytes that the source's TCP holds, or has advertised. The window is at least the source's
    /// need to keep pace: twice the delivery in the source's base round trip.
    pub unread: usize,
}

impl Bounds {
    /// The bounds for a destination that takes `rate` bytes per second, by the base round trips to
    /// it and to the source.
    pub fn new(rate: f64, destination: Duration, source: Duration) -> Self {
        let worth = |time: Duration| (rate * time.as_secs_f64()) as usize;
        let one = worth(destination.max(LATE));
        Self {
            unsent: one.max(MIN_UNSENT),
            unread: one.max(worth(2 * source)).max(MIN_UNREAD),
        }
    }
}

/// The rate at which a destination takes data, in bytes per second: the recent maximum. It decays
/// by an eighth per check, so that one slow round trip, as after a loss, does not leave the
/// destination idle in the next.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rate(f64);

impl Rate {
    /// Takes a sample, and returns the rate.
    pub fn sample(&mut self, rate: f64) -> f64 {
        self.0 = rate.max(self.0 * 7.0 / 8.0);
        self.0
    }

    /// The rate.
    pub const fn get(self) -> f64 {
        self.0
    }
}

/// A sample of the kernel's delivery rate: a window per smoothed round trip, at most the kernel's
/// measurement. Its measurement of a first burst absorbed by a queue is too high.
pub fn rate_of(info: &TcpInfo) -> f64 {
    let window = f64::from(info.cwnd) * f64::from(info.mss);
    let seconds = f64::from(info.srtt_us.max(1)) * 1e-6;
    (window / seconds).min(info.delivery_rate as f64)
}

/// The base round trip of a connection; zero before the first sample (tcp_min_rtt).
pub fn base_of(info: &TcpInfo) -> Duration {
    match info.least_rtt_us {
        u32::MAX => Duration::ZERO,
        microseconds => Duration::from_micros(microseconds.into()),
    }
}

/// The size of a source's receive buffer. While the destination keeps pace it doubles when its size
/// has passed within two round trips, since it may then be the bottleneck, as in the kernel's
/// dynamic right-sizing (tcp_rcv_space_adjust). While the destination is the bottleneck it
/// approaches the bound on waiting data, from above by halves.
#[derive(Clone, Copy, Debug)]
pub struct Window {
    bytes: usize,
    /// Bytes passed since the last growth or check for it.
    passed: usize,
    since: Instant,
}

impl Window {
    /// Creates a window of that many bytes, and sets it on the source.
    pub fn new(bytes: usize, source: &OwnedFd) -> Self {
        bound_receiving(source, bytes);
        Self {
            bytes,
            passed: 0,
            since: Instant::now(),
        }
    }

    /// Its size, in bytes.
    pub const fn bytes(&self) -> usize {
        self.bytes
    }

    /// Records passed bytes. Returns a larger size if needed, by the destination's round trip.
    pub fn passed(
        &mut self,
        bytes: usize,
        source: &OwnedFd,
        destination: Duration,
    ) -> Option<usize> {
        self.passed += bytes;
        if self.passed < self.bytes {
            return None;
        }
        let received = tcp_info(source).map_or(0, |info| info.receiver_rtt_us);
        let longer = destination.max(Duration::from_micros(received.into()));
        let is_bottleneck = self.since.elapsed() < 2 * longer;
        self.passed = 0;
        self.since = Instant::now();
        is_bottleneck.then_some(self.bytes * 2)
    }

    /// The next size on the way to `bound`; `None` if it is near.
    pub const fn approach(&self, bound: usize) -> Option<usize> {
        if bound > self.bytes {
            Some(bound)
        } else if bound < self.bytes - self.bytes / 4 {
            let half = self.bytes / 2;
            Some(if bound > half { bound } else { half })
        } else {
            None
        }
    }

    /// Changes its size.
    pub fn resize(&mut self, bytes: usize, source: &OwnedFd) {
        self.bytes = bytes;
        bound_receiving(source, bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 3 Mbit/s over 50 ms: two base round trips are 37.5 kB.
    #[test]
    fn two_base_round_trips_wait() {
        let milliseconds = Duration::from_millis;
        let bounds = Bounds::new(375_000.0, milliseconds(50), milliseconds(1));
        assert_eq!(bounds.unsent, 18_750);
        assert_eq!(bounds.unread, 18_750);
        // A distant source needs a window for its path.
        let far = Bounds::new(375_000.0, milliseconds(50), milliseconds(100));
        assert_eq!(far.unread, 75_000);
        // Never below TCP's needs, nor below the amount that a delayed round would leave idle.
        let slow = Bounds::new(1000.0, milliseconds(50), milliseconds(1));
        assert_eq!((slow.unsent, slow.unread), (MIN_UNSENT, MIN_UNREAD));
        let near = Bounds::new(1e9, Duration::ZERO, Duration::ZERO);
        assert_eq!(near.unsent, 2_000_000);
    }

    #[test]
    fn a_rate_falls_slowly_and_a_first_burst_is_not_one() {
        let mut rate = Rate::default();
        assert_eq!(rate.sample(800.0), 800.0);
        assert_eq!(rate.sample(400.0), 700.0);
        assert_eq!(rate.sample(900.0), 900.0);
        let info = TcpInfo {
            cwnd: 10,
            mss: 1000,
            srtt_us: 10_000,
            delivery_rate: 1 << 30,
            ..TcpInfo::default()
        };
        assert_eq!(rate_of(&info), 1e6);
    }

    #[test]
    fn a_window_approaches_its_bound_by_halves_and_grows_at_once() {
        let socket: OwnedFd = std::net::UdpSocket::bind("127.0.0.1:0").unwrap().into();
        let mut window = Window::new(256 << 10, &socket);
        let mut sizes = Vec::new();
        while let Some(size) = window.approach(20 << 10) {
            window.resize(size, &socket);
            sizes.push(size >> 10);
        }
        assert_eq!(sizes, [128, 64, 32, 20]);
        assert_eq!(window.approach(19 << 10), None);
        assert_eq!(window.approach(50 << 10), Some(50 << 10));
    }
}
