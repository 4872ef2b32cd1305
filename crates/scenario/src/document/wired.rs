//! `[wired]`: the path between the access point and the wired hosts.

use super::{AqmTable, LineDelay, LossTable, QueueTable};
use crate::names::Shape;
use airtcp_units::bounded::{Limit, Rate};
use airtcp_units::{BitRate, Duration};

line_keys! {
    /// The path between the access point and the wired hosts, the same in both directions.
    #[derive(Clone, Copy, Default)]
    pub struct WiredTable takes {
        /// Rate of the line, which all flows share; by default 1 Gbit/s with 802.11n, ac and
        /// ax, LTE and NR.
        // The path between an access point and servers (Fotiadis §IV).
        rate: Option<BitRate> = Some(BitRate::from_bps(100_000_000)), as Limit<Rate>;
        /// One-way delay of a packet, the same in each direction.
        delay: Duration, usually WiredTable::usual_delay, as LineDelay;
        /// The queue in front of the line; by default 1000 packets with 802.11n, ac and
        /// ax, LTE and NR.
        queue: QueueTable = QueueTable::default(), holding keys;
        shared aqm;
        /// Packets lost between the access point and the wired hosts, or refused by the receiver.
        /// Where flows go both ways, acknowledgments that share the line with data are lost too.
        loss: LossTable, holding keys;
        /// A further delay for each flow, drawn once: half of this round trip each way.
        round_trip: RoundTripTable, holding keys;
    }
}

keys! {
    /// Distribution of round-trip times over flows.
    #[derive(Clone, Copy, Default)]
    pub struct RoundTripTable under RoundTrips takes {
        /// The shape of the distribution.
        shape: Shape = Shape::default();
        /// Shortest (`uniform`).
        from: LineDelay;
        /// Longest (`uniform`).
        to: LineDelay;
        /// Mean (`normal`, `exponential`).
        mean: LineDelay;
        /// Standard deviation (`normal`). A draw below 0 counts as 0.
        deviation: LineDelay;
    }
}

alternatives! {
    /// The distribution of round-trip times over flows; the defaults are of Mahmoodi et al. §IV.
    #[derive(Copy)]
    pub enum RoundTrips of RoundTripTable by shape: Shape {
        /// Every time between two is as likely.
        Uniform: Uniform takes {
            from: Duration = Duration::from_millis(5),
            to: Duration = Duration::from_millis(100),
        };
        /// Gauss's bell.
        Normal: Normal takes {
            mean: Duration = Duration::from_millis(50),
            deviation: Duration = Duration::from_millis(20),
        };
        /// Exponential.
        Exponential: Exponential takes { mean: Duration = Duration::from_millis(50) };
    }
}

const USUAL_DELAY: Duration = Duration::from_millis(15);

impl WiredTable {
    /// With a further round trip the line's delay defaults to zero.
    fn usual_delay(&self) -> Duration {
        match self.round_trip {
            Some(_) => Duration::ZERO,
            None => USUAL_DELAY,
        }
    }
}
