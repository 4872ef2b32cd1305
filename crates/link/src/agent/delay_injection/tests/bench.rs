//! An uplink transfer past the agent, by hand.

use airtcp_packet::Timestamps;

use super::super::*;
use crate::agent::flow_table::DEFAULT_FLOW_LIMIT;

pub(super) const FLOW: FlowKey = 7;

pub(super) fn at(millis: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(millis)
}

/// A constant delay, with draws for random distances.
pub(super) fn constant(delay: StaticDelay) -> DelayRule {
    DelayRule::Static {
        delay,
        draws: Stream::new(5, "agent.delay"),
    }
}

/// An uplink transfer: the mobile's data and the acknowledgments for it.
pub(super) struct Bench {
    pub(super) agent: DelayInjection<u32>,
    /// Whether it is a download: every segment passes in the opposite direction.
    mirrored: bool,
    pub(super) acknowledged: u32,
    /// Packets by the order in which they came.
    pub(super) packets: u32,
    /// Departures: time in ms, and packet.
    pub(super) left: Vec<(f64, u32)>,
    pub(super) judged: Vec<AgentEvent>,
}

impl Bench {
    pub(super) fn new(rule: DelayRule) -> Self {
        Self::of(rule, false)
    }

    pub(super) fn of(rule: DelayRule, mirrored: bool) -> Self {
        let agent = DelayInjection::new(rule, DEFAULT_FLOW_LIMIT).unwrap();
        let mut bench = Self {
            agent,
            mirrored,
            acknowledged: 0,
            packets: 0,
            left: Vec::new(),
            judged: Vec::new(),
        };
        bench.pass(
            at(0),
            Toward::Wired,
            Segment {
                payload_bytes: 1_000_000,
                flags: Flags::ACK,
                ..Segment::default()
            },
        );
        bench.left.clear();
        bench.packets = 0;
        bench
    }

    pub(super) fn adaptive(rule: AdaptiveDelay) -> Self {
        Self::new(DelayRule::Adaptive(rule))
    }

    pub(super) fn pass(&mut self, now: Instant, toward: Toward, segment: Segment) {
        self.run_until(now);
        let passage = Passage {
            flow: FLOW,
            toward: if self.mirrored {
                toward.opposite()
            } else {
                toward
            },
            segment,
            packet: self.packets,
        };
        self.packets += 1;
        let judged = &mut self.judged;
        self.agent
            .handle(now, passage, &mut |_, event| judged.push(event));
        self.collect(now);
    }

    /// An acknowledgment for 1000 more bytes of data that was stamped `delay` ms ago.
    pub(super) fn ack(&mut self, now: u64, delay: u64) {
        let timestamps = Some(Timestamps {
            value: 0,
            echo: (now - delay) as u32,
        });
        self.ack_with(now, timestamps);
    }

    pub(super) fn ack_with(&mut self, now: u64, timestamps: Option<Timestamps>) {
        self.acknowledged += 1_000;
        let segment = Segment {
            acknowledgment: SequenceNumber(self.acknowledged),
            flags: Flags::ACK,
            timestamps,
            ..Segment::default()
        };
        self.pass(at(now), Toward::Mobile, segment);
    }

    pub(super) fn run_until(&mut self, now: Instant) {
        while self.agent.next_wakeup() <= now {
            let due = self.agent.next_wakeup();
            self.agent.on_wakeup(due, &mut |_, _| ());
            self.collect(due);
        }
    }

    pub(super) fn collect(&mut self, now: Instant) {
        while let Some(emission) = self.agent.poll(now) {
            let Emission::Pass(passage) = emission else {
                panic!("only passes: {emission:?}");
            };
            self.left.push((now.as_secs_f64() * 1e3, passage.packet));
        }
    }

    /// Path delay, threshold, D, spike, held of the last judged acknowledgment, times in ms.
    pub(super) fn last(&self) -> (f64, f64, f64, bool, f64) {
        let Some(&AgentEvent::AckJudged {
            path_delay,
            threshold,
            delay,
            spike,
            held,
        }) = self.judged.last()
        else {
            panic!("none was judged");
        };
        let ms = Duration::as_millis_f64;
        (ms(path_delay), ms(threshold), ms(delay), spike, ms(held))
    }

    pub(super) fn assert_last(&self, expected: (f64, f64, f64, bool, f64)) {
        let found = self.last();
        let close = |a: f64, b: f64| (a - b).abs() < 1e-4;
        assert!(
            close(found.0, expected.0)
                && close(found.1, expected.1)
                && close(found.2, expected.2)
                && found.3 == expected.3
                && close(found.4, expected.4),
            "found {found:?}, expected {expected:?}"
        );
    }
}

pub(super) fn synchronised() -> AdaptiveDelay {
    AdaptiveDelay {
        clock_offset: ClockOffset::Synchronised,
        ..AdaptiveDelay::default()
    }
}
