//! The receiver's acknowledgment policy.

use airtcp_units::Duration;

use super::findings::{Ack, Sent};

/// Maximum number of segments per ACK with a separate count.
const MAX: usize = 8;

/// The receiver's acknowledgment policy, as observed here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Acking {
    /// ACKs that newly acknowledge one segment, two, up to eight or more, of in-order data.
    pub segments: [u64; MAX],
    /// Extra delay of ACKs of a single segment over ACKs of two: the receiver's timer. `None`
    /// without enough of both.
    pub lone_delay: Option<Duration>,
    /// Compressed ACKs: they arrived within a quarter of the time that the acknowledged data takes
    /// at the mean rate.
    pub compressed: u64,
    /// Number of ACKs.
    pub acks: u64,
}

impl Acking {
    /// Infers the policy of a flow's receiver.
    pub(super) fn of(sent: &[Sent], acks: &[Ack], mss: u32) -> Self {
        let mut acking = Self {
            acks: acks.len() as u64,
            ..Self::default()
        };
        let mss = u64::from(mss.max(1));
        let mut delays: [Vec<Duration>; 2] = [Vec::new(), Vec::new()];
        let mut measured = sent.iter().filter(|packet| packet.is_measured).peekable();
        let span = match (acks.first(), acks.last()) {
            (Some(first), Some(last)) => (last.time - first.time).as_secs_f64(),
            _ => 0.0,
        };
        let delivered = acks.last().map_or(0, |ack| ack.delivered) as f64;
        let mut before: Option<&Ack> = None;
        for ack in acks {
            let in_order = ack.sacked_high.is_none() && ack.newly > 0 && !ack.is_duplicate;
            let count = u64::from(ack.newly).div_ceil(mss) as usize;
            while measured
                .peek()
                .is_some_and(|packet| packet.acknowledged < ack.time)
            {
                measured.next();
            }
            if in_order && (1..=2).contains(&count) {
                let rtt = measured
                    .peek()
                    .filter(|packet| packet.acknowledged == ack.time)
                    .and_then(|packet| packet.rtt());
                if let Some(rtt) = rtt {
                    delays[count - 1].push(rtt);
                }
            }
            if in_order && count > 0 {
                acking.segments[count.min(MAX) - 1] += 1;
            }
            if let Some(before) = before
                && delivered > 0.0
                && ack.newly > 0
            {
                let expected = f64::from(ack.newly) * span / delivered;
                let took = (ack.time - before.time).as_secs_f64();
                acking.compressed += u64::from(took * 4.0 < expected);
            }
            before = Some(ack);
        }
        let [one, two] = delays.map(median);
        acking.lone_delay = match (one, two) {
            (Some(one), Some(two)) => Some(one - two),
            _ => None,
        };
        acking
    }

    /// Mean number of segments per ACK, for in-order data.
    #[must_use]
    pub fn mean_segments(&self) -> f64 {
        let acks: u64 = self.segments.iter().sum();
        let segments: u64 = (1..)
            .zip(self.segments)
            .map(|(many, acks)| many * acks)
            .sum();
        segments as f64 / acks.max(1) as f64
    }
}

/// The median of at least ten delays.
fn median(mut delays: Vec<Duration>) -> Option<Duration> {
    let at = delays.len() / 2;
    (delays.len() >= 10).then(|| *delays.select_nth_unstable(at).1)
}
