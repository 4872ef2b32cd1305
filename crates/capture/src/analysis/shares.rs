//! Where the time of a transfer went.

use airtcp_units::{Duration, Instant};

use super::findings::{Ack, Findings, Sent};
use super::rate::Path;
use super::stops::Stop;

/// A queue above this, and above this number of packets, means that the link is full.
const FULL: Duration = Duration::from_millis(4);
const FULL_PACKETS: f64 = 2.5;
/// The receiver's window is what limits when what is under way comes this near, in segments.
const NEAR_WINDOW: u64 = 2;

/// Cause that held the transfer back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// The link delivered nothing, and lost nothing.
    Held,
    /// The sender waited for its timer.
    Timeout,
    /// The receiver's window.
    ReceiverWindow,
    /// The sender's application had no more.
    Application,
    /// The link was full.
    Link,
    /// Losses were being repaired.
    Recovery,
    /// The congestion window.
    Window,
}

impl Limit {
    /// Every limit, in the order of tables.
    pub const ALL: [Self; 7] = [
        Self::Held,
        Self::Timeout,
        Self::ReceiverWindow,
        Self::Application,
        Self::Link,
        Self::Recovery,
        Self::Window,
    ];

    /// Its name in tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Held => "held",
            Self::Timeout => "timeout",
            Self::ReceiverWindow => "receiver_window",
            Self::Application => "application",
            Self::Link => "link",
            Self::Recovery => "recovery",
            Self::Window => "window",
        }
    }
}

/// The time from the first data to the last answer, by what held the transfer back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shares {
    nanos: [u64; Limit::ALL.len()],
    /// Stretches in which the capture dropped packets: not counted above.
    pub left_out: Duration,
}

impl Shares {
    /// The time that `limit` took.
    #[must_use]
    pub fn time(&self, limit: Limit) -> Duration {
        Duration::from_nanos(self.nanos[limit as usize])
    }

    /// The whole time.
    #[must_use]
    pub fn whole(&self) -> Duration {
        Duration::from_nanos(self.nanos.iter().sum())
    }

    /// The share of `limit`, from 0 to 1. All of them sum to 1, unless there is no time at all.
    #[must_use]
    pub fn share(&self, limit: Limit) -> f64 {
        self.time(limit).as_secs_f64() / self.whole().as_secs_f64().max(1e-9)
    }

    /// The time in which data was under way.
    #[must_use]
    pub fn under_way(&self) -> Duration {
        self.whole() - self.time(Limit::Application)
    }
}

/// State of the sender between two packets, as seen.
struct State<'a> {
    path: Option<&'a Path<'a>>,
    mss: u64,
    una: u64,
    end: u64,
    window: Option<u64>,
    in_flight: u64,
    /// The most under way since the last loss.
    peak: u64,
    queueing: Duration,
    /// The newest data was the last that the application had.
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
        self.window = ack.window.or(self.window);
        self.in_flight = u64::from(ack.in_flight);
    }

    fn limit(&self, is_recovering: bool) -> Limit {
        let outstanding = self.end.saturating_sub(self.una);
        // Before all else: behind a closed window nothing is in flight, either.
        if self
            .window
            .is_some_and(|window| outstanding + NEAR_WINDOW * self.mss >= window)
        {
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

/// The shares of a flow. `waits` are the times in which the sender waited for its timer, in order.
pub(super) fn share_out(
    findings: &Findings,
    path: Option<&Path<'_>>,
    stops: &[Stop],
    waits: &[(Instant, Instant)],
    mss: u32,
) -> Shares {
    let mut shares = Shares::default();
    let (sent, acks) = (&findings.sent, &findings.acks);
    let mut rtts: Vec<(Instant, Duration)> = sent
        .iter()
        .filter_map(|packet| Some((packet.acknowledged, packet.rtt()?)))
        .collect();
    rtts.sort_unstable();
    let stops: Vec<(Instant, Instant)> = stops.iter().map(|stop| (stop.start, stop.end)).collect();
    let mut spans = Spans::new([&stops, waits, &findings.recoveries, &findings.gaps]);
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
    let mut reductions = findings.reductions.iter().peekable();
    let shrinks_for = path.map_or(Duration::ZERO, |path| path.base + path.base);
    let mut shrinks_until = Instant::ZERO;
    let mut now = sent.get(data).map_or(findings.end, |packet| packet.time);
    let mut was_recovering = false;
    while next_sent < sent.len() || next_ack < acks.len() {
        let sent_at = sent.get(next_sent).map(|packet| packet.time);
        let ack_at = acks.get(next_ack).map(|ack| ack.time);
        let is_sent = match (sent_at, ack_at) {
            (Some(sent_at), Some(ack_at)) => sent_at <= ack_at,
            (sent_at, _) => sent_at.is_some(),
        };
        let then = if is_sent { sent_at } else { ack_at }.unwrap_or(now);
        let limit = |state: &State<'_>, is_recovering| state.limit(is_recovering);
        spans.spread(now, then, &mut shares, |is_recovering| {
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
        while let Some((time, rtt)) = rtts.get(next_rtt)
            && *time <= now
        {
            state.queueing = path.map_or(Duration::ZERO, |path| *rtt - path.base);
            next_rtt += 1;
        }
        while let Some(reduction) = reductions.next_if(|time| **time <= now) {
            shrinks_until = *reduction + shrinks_for;
        }
        // A recovery changes what may be under way; without SACK its last ACK changes what is. So
        // does the answer to a congestion mark, over the round trips after it.
        let is_recovering = spans.is_recovering(now);
        if is_recovering || was_recovering || now < shrinks_until {
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

/// Spans of time that decide over what is between two packets, walked in order: stops, waits for
/// the timer, recoveries and gaps of the capture.
struct Spans<'a> {
    lists: [&'a [(Instant, Instant)]; 4],
    at: [usize; 4],
}

impl<'a> Spans<'a> {
    fn new(lists: [&'a [(Instant, Instant)]; 4]) -> Self {
        Self { lists, at: [0; 4] }
    }

    /// The span of list `which` that `now` is in, or the next one.
    fn current(&mut self, which: usize, now: Instant) -> Option<(Instant, Instant)> {
        let list = self.lists[which];
        while let Some(span) = list.get(self.at[which]) {
            if span.1 > now {
                return Some(*span);
            }
            self.at[which] += 1;
        }
        None
    }

    fn is_recovering(&mut self, now: Instant) -> bool {
        self.current(2, now).is_some_and(|span| span.0 <= now)
    }

    /// Gives the time from `now` to `then` to what held the transfer back in it.
    fn spread(
        &mut self,
        mut now: Instant,
        then: Instant,
        shares: &mut Shares,
        limit: impl Fn(bool) -> Limit,
    ) {
        while now < then {
            let mut until = then;
            let mut inside = [false; 4];
            for (which, is_inside) in inside.iter_mut().enumerate() {
                if let Some((from, to)) = self.current(which, now) {
                    *is_inside = from <= now;
                    until = until.min(if *is_inside { to } else { from });
                }
            }
            let [is_held, is_waiting, is_recovering, is_gap] = inside;
            let length = until - now;
            let limit = if is_held {
                Limit::Held
            } else if is_waiting {
                Limit::Timeout
            } else {
                limit(is_recovering)
            };
            if is_gap {
                shares.left_out += length;
            } else {
                shares.nanos[limit as usize] += length.as_nanos();
            }
            now = until;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With nothing else to name, a sender of full segments with less than half of what it had in
    /// flight has no more to send, and with half of it waits for its window; so does whoever sent
    /// the last that the application had.
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
