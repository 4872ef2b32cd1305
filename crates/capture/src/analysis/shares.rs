//! Attributes the time of a transfer to its limits.

use airtcp_units::{Duration, Instant};

use super::findings::{Ack, Findings, Sent};
use super::limit::{Limit, Shares};
use super::rate::Path;
use super::spans::Spans;
use super::standing_queue::StandingQueue;
use super::stops::Stop;

/// Minimum queueing delay, besides this number of packets, that means a full link.
const FULL: Duration = Duration::from_millis(4);
const FULL_PACKETS: f64 = 2.5;
/// Maximum distance of the bytes in flight from the receiver's window, in segments, to be limited
/// by it.
const NEAR_WINDOW: u64 = 2;

/// Observed state of the sender between two packets.
struct State<'a> {
    path: Option<&'a Path<'a>>,
    mss: u64,
    una: u64,
    end: u64,
    window: Option<u64>,
    in_flight: u64,
    /// Maximum bytes in flight since the last loss.
    peak: u64,
    /// The standing queue's delay.
    queueing: Duration,
    /// Whether the newest data was the application's last.
    is_short: bool,
    is_full_after: Duration,
}

impl State<'_> {
    fn sent(&mut self, sent: &Sent) {
        if sent.end > self.end {
            self.end = sent.end;
            self.is_short = sent.is_short;
        }
        self.in_flight = u64::from(sent.in_flight);
        self.peak = self.peak.max(self.in_flight);
    }

    fn ack(&mut self, ack: &Ack) {
        self.una = self.una.max(ack.acknowledged);
        self.window = ack.window;
        self.in_flight = u64::from(ack.in_flight);
    }

    /// Whether the receiver's window leaves no room.
    fn is_window_full(&self) -> bool {
        let outstanding = self.end.saturating_sub(self.una);
        self.window
            .is_some_and(|window| outstanding + NEAR_WINDOW * self.mss >= window)
    }

    fn limit(&self, is_recovering: bool) -> Limit {
        // First: with a closed window nothing is in flight, either.
        if self.is_window_full() {
            Limit::ReceiverWindow
        } else if self.in_flight == 0 {
            Limit::Application
        } else if self.path.is_some() && self.queueing > self.is_full_after {
            Limit::Link
        } else if is_recovering {
            Limit::Recovery
        } else if self.is_short || self.in_flight * 2 < self.peak {
            Limit::Application
        } else {
            Limit::Window
        }
    }
}

/// The shares of a flow. In order, `waits` are the periods in which the sender waited for its
/// timer, and `held_back` those in which it held a short segment back.
pub(super) fn share_out(
    findings: &Findings,
    path: Option<&Path<'_>>,
    stops: &[Stop],
    waits: &[(Instant, Instant)],
    held_back: &[(Instant, Instant)],
    mss: u32,
) -> Shares {
    let mut shares = Shares::default();
    let (sent, acks) = (&findings.sent, &findings.acks);
    // For each sampled packet: the time of its acknowledgment, and of its transmission.
    let mut rtts: Vec<(Instant, Instant)> = sent
        .iter()
        .filter(|packet| packet.rtt().is_some())
        .map(|packet| (packet.acknowledged, packet.time))
        .collect();
    rtts.sort_unstable();
    let stops: Vec<(Instant, Instant)> = stops.iter().map(|stop| (stop.start, stop.end)).collect();
    let mut spans = Spans::new([
        &stops,
        waits,
        held_back,
        &findings.recoveries,
        &findings.gaps,
    ]);
    let mut state = State {
        path,
        mss: u64::from(mss),
        una: 0,
        end: 0,
        window: None,
        in_flight: 0,
        peak: 0,
        queueing: Duration::ZERO,
        is_short: false,
        is_full_after: full_after(path, sent, acks),
    };
    let data = sent.partition_point(|packet| packet.end == 0);
    let (mut next_sent, mut next_ack, mut next_rtt) = (data, 0, 0);
    let mut queue = StandingQueue::default();
    let mut reductions = findings.reductions.iter().peekable();
    let shrinks_for = path.map_or(Duration::ZERO, |path| path.base + path.base);
    let mut shrinks_until = Instant::ZERO;
    let mut now = sent.get(data).map_or(findings.end, |packet| packet.time);
    let mut was_recovering = false;
    while next_sent < sent.len() || next_ack < acks.len() {
        let sent_at = sent
            .get(next_sent)
            .map(|packet| (packet.time, packet.number));
        let ack_at = acks.get(next_ack).map(|ack| (ack.time, ack.number));
        // At one tick of a coarse clock, or of a simulator, in the order of the capture.
        let is_sent = match (sent_at, ack_at) {
            (Some(sent_at), Some(ack_at)) => sent_at <= ack_at,
            (sent_at, _) => sent_at.is_some(),
        };
        let then = if is_sent { sent_at } else { ack_at }.map_or(now, |(time, _)| time);
        let limit = |state: &State<'_>, is_recovering| state.limit(is_recovering);
        let is_under_way = state.in_flight > 0 || state.is_window_full();
        spans.spread(now, then, &mut shares, is_under_way, |is_recovering| {
            limit(&state, is_recovering)
        });
        now = now.max(then);
        if is_sent {
            state.sent(&sent[next_sent]);
            next_sent += 1;
        } else {
            state.ack(&acks[next_ack]);
            next_ack += 1;
        }
        while let Some((time, sent_at)) = rtts.get(next_rtt)
            && *time <= now
        {
            if let Some(path) = path {
                let base = path.base_at(*sent_at);
                queue.sample(*time, (*time - *sent_at).max(base) - base);
            }
            next_rtt += 1;
        }
        state.queueing = path.map_or(Duration::ZERO, |path| queue.delay(now, path.base_at(now)));
        while let Some(reduction) = reductions.next_if(|time| **time <= now) {
            shrinks_until = *reduction + shrinks_for;
        }
        // A recovery changes the bytes allowed in flight; without SACK its last ACK changes their
        // count. So does the reaction to a congestion mark, over the following round trips.
        let is_recovering = spans.is_recovering(now);
        // A flight that also fills the queue is larger than the link requires: BBR's at startup is
        // three times its later one.
        let is_queued = path.is_some() && state.queueing > state.is_full_after;
        if is_recovering || was_recovering || now < shrinks_until || is_queued {
            state.peak = state.in_flight;
        }
        was_recovering = is_recovering;
    }
    shares
}

/// The queueing delay above which the link is full.
fn full_after(path: Option<&Path<'_>>, sent: &[Sent], acks: &[Ack]) -> Duration {
    let Some(path) = path else { return FULL };
    let packet_time = super::stops::typical_packet_time(path, sent, acks);
    let packets = packet_time.as_secs_f64() * FULL_PACKETS;
    FULL.max(Duration::from_secs_f64(packets).unwrap_or(FULL))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without another limit, a sender of full segments with less than half of its earlier bytes in
    /// flight has no more data, and with at least half waits for its window; a sender of the
    /// application's last data has no more either.
    #[test]
    fn less_than_half_of_the_flight_is_the_applications() {
        let limit = |in_flight, is_short| {
            let state = State {
                path: None,
                mss: 1000,
                una: 0,
                end: 8000,
                window: None,
                in_flight,
                peak: 8000,
                queueing: Duration::ZERO,
                is_short,
                is_full_after: Duration::ZERO,
            };
            state.limit(false)
        };
        assert_eq!(limit(8000, false), Limit::Window);
        assert_eq!(limit(4000, false), Limit::Window);
        assert_eq!(limit(3999, false), Limit::Application);
        assert_eq!(limit(8000, true), Limit::Application);
        assert_eq!(limit(0, false), Limit::Application);
    }
}
