//! Controlled delay: packets that wait for longer than a target for a whole interval are dropped at
//! the head of the queue, at an increasing rate, until the delay is below the target (RFC 8289).
//!
//! The steps are those in the RFC's pseudo-code (§5). Where packets may be marked, a mark replaces
//! a drop, and the packet is delivered (RFC 8289 §3.2; Linux, `codel_dequeue`).

use airtcp_units::{Duration, Instant};

use super::EcnField;
use crate::frame::QueuedPacket;

/// Intervals for which a drop rate that was right is remembered (RFC 8289 §5.5).
const REMEMBERED_INTERVALS: u64 = 16;

/// The parameters of CoDel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CoDelConfig {
    /// Delay in the queue that is acceptable (RFC 8289 §4.4: 5 ms).
    pub target: Duration,
    /// Time for which the delay must be above that: a worst-case round trip (§4.3: 100 ms).
    pub interval: Duration,
    /// Packets of endpoints that understand marks are marked and not dropped.
    pub ecn: bool,
    /// Bytes that may always wait: a largest packet (§5.6, `maxpacket`; Linux, `params->mtu`).
    pub largest_packet: u32,
}

impl Default for CoDelConfig {
    fn default() -> Self {
        Self {
            target: Duration::from_millis(5),
            interval: Duration::from_millis(100),
            ecn: false,
            largest_packet: 1500,
        }
    }
}

/// CoDel's memory from one departure to the next.
#[derive(Clone, Debug, Default)]
pub(super) struct Control {
    /// Time at which the delay will have been above the target for an interval; `None` while it is
    /// below.
    first_above: Option<Instant>,
    is_dropping: bool,
    /// Time of the next drop.
    drop_next: Instant,
    /// Packets dropped since dropping began, and the initial value of that count.
    count: u32,
    last_count: u32,
}

/// A packet from the head of a queue, and the bytes queued after it.
pub(super) struct Head<P> {
    pub waiting: QueuedPacket<P>,
    pub backlog: u64,
}

impl Control {
    /// The packet to be served at `now`. `take` takes the head from the queue, `discard` gets
    /// dropped packets.
    pub(super) fn dequeue<P: EcnField>(
        &mut self,
        now: Instant,
        config: &CoDelConfig,
        mut take: impl FnMut() -> Option<Head<P>>,
        mut discard: impl FnMut(QueuedPacket<P>),
    ) -> Option<QueuedPacket<P>> {
        let mut head = take();
        let may_drop = self.may_drop(now, config, head.as_ref());
        if self.is_dropping {
            self.is_dropping = may_drop;
            while self.is_dropping && now >= self.drop_next {
                self.count = self.count.saturating_add(1);
                if marks(config, head.as_mut()) {
                    self.drop_next = self.control_law(self.drop_next, config);
                    break;
                }
                head.map(|head| head.waiting)
                    .into_iter()
                    .for_each(&mut discard);
                head = take();
                if self.may_drop(now, config, head.as_ref()) {
                    self.drop_next = self.control_law(self.drop_next, config);
                } else {
                    self.is_dropping = false;
                }
            }
        } else if may_drop {
            if !marks(config, head.as_mut()) {
                head.map(|head| head.waiting)
                    .into_iter()
                    .for_each(&mut discard);
                head = take();
                self.may_drop(now, config, head.as_ref());
            }
            self.begin_dropping(now, config);
        }
        head.map(|head| head.waiting)
    }

    /// Whether a packet at the head that has waited since `since`, with `backlog` after it, is
    /// served like nearly all: [`dequeue`](Self::dequeue) would do no more than take it.
    #[inline]
    pub(super) fn passes(
        &mut self,
        now: Instant,
        config: &CoDelConfig,
        since: Instant,
        backlog: u64,
    ) -> bool {
        let is_above = now - since >= config.target && backlog > u64::from(config.largest_packet);
        if self.is_dropping || is_above {
            return false;
        }
        self.first_above = None;
        true
    }

    /// `packets` found no room and were dropped: the delay is not under control (Linux,
    /// `fq_codel_drop`).
    pub(super) const fn on_overflow(&mut self, packets: u32) {
        self.count = self.count.saturating_add(packets);
    }

    /// Resumes the drop rate at which the last phase ended, if that was recent.
    fn begin_dropping(&mut self, now: Instant, config: &CoDelConfig) {
        self.is_dropping = true;
        let dropped = self.count.saturating_sub(self.last_count);
        let is_recent = now - self.drop_next < config.interval * REMEMBERED_INTERVALS;
        self.count = if dropped > 1 && is_recent { dropped } else { 1 };
        self.last_count = self.count;
        self.drop_next = self.control_law(now, config);
    }

    /// Whether the delay has been above the target for an interval when `head` leaves.
    fn may_drop<P>(&mut self, now: Instant, config: &CoDelConfig, head: Option<&Head<P>>) -> bool {
        let is_above = head.is_some_and(|head| {
            now - head.waiting.since >= config.target
                && head.backlog > u64::from(config.largest_packet)
        });
        if !is_above {
            self.first_above = None;
            return false;
        }
        let Some(since) = self.first_above else {
            self.first_above = Some(now + config.interval);
            return false;
        };
        now >= since
    }

    /// RFC 8289 §5.6: the time from one drop to the next falls with the square root of their
    /// number.
    fn control_law(&self, from: Instant, config: &CoDelConfig) -> Instant {
        let nanos = config.interval.as_nanos() as f64 / libm::sqrt(f64::from(self.count));
        from + Duration::from_nanos(libm::round(nanos) as u64)
    }
}

/// Marks the packet instead of dropping it, if both sides support that.
fn marks<P: EcnField>(config: &CoDelConfig, head: Option<&mut Head<P>>) -> bool {
    match head {
        Some(head) if config.ecn && head.waiting.packet.ecn().is_capable() => {
            head.waiting.packet.mark();
            true
        }
        _ => false,
    }
}
