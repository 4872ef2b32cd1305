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
        delay: LineDelay;
        /// The queue in front of the line; by default 1000 packets with 802.11n, ac and
        /// ax, LTE and NR.
        queue: QueueTable, holding keys;
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
    pub struct RoundTripTable takes {
        /// The shape of the distribution.
        shape: Shape = Shape::default();
        /// Shortest (`uniform`).
        // Mahmoodi et al. §IV.
        from: Duration = Duration::from_millis(5), as LineDelay;
        /// Longest (`uniform`).
        to: Duration = Duration::from_millis(100), as LineDelay;
        /// Mean (`normal`, `exponential`).
        mean: Duration = Duration::from_millis(50), as LineDelay;
        /// Standard deviation (`normal`). A draw below 0 counts as 0.
        deviation: Duration = Duration::from_millis(20), as LineDelay;
    }
}
