//! `[cell]`: the downlink of a cellular base station.

use super::wlan::Attempts;
use super::{LineDelay, QueueTable, RadioTable, SECOND};
use crate::names::{CellRates, SchedulerName};
use airtcp_units::bounded::{Limit, Real, Span, Whole};
use airtcp_units::{Duration, Probability};

keys! {
    /// A base station that serves one user a slot.
    #[derive(Clone, Default)]
    pub struct CellTable takes {
        /// Who is served.
        scheduler: SchedulerName = SchedulerName::default();
        /// Slots over which proportional fairness averages a user's rate.
        // Jalali, Padovani & Pankaj, VTC 2000.
        time_constant: f64 = 1000.0, as Real<1_000_000, 1_000_000_000_000>;
        /// Length of a slot.
        // CDMA2000 1xEV-DO: 600 slots a second.
        slot: Duration = Duration::from_nanos(1_666_667), as Span<1_000, SECOND>;
        /// Mapping from signal-to-noise ratio to rate.
        rates: CellRates = CellRates::default();
        /// Bandwidth in MHz (`rates = "shannon"`).
        bandwidth_mhz: f64 = 1.25, as Real<1_000, 1_000_000_000>;
        /// Distance of the link from Shannon's limit, in dB (`rates = "shannon"`).
        gap_db: f64 = 3.0, as Real<0, 100_000_000>;
        /// Block error rate: the chance that a slot's block is damaged.
        // 1xEV-DO chooses rates for 1 % of errors.
        block_error: Probability = Probability::new(0.01).unwrap_or(Probability::NEVER);
        /// Slots until a damaged block is retransmitted.
        arq_delay: u32 = 12, as Whole<1, 10_000>;
        /// Most transmissions of a block, the first included.
        retry_limit: Option<u32> = Some(4), as Limit<Attempts>;
        /// The queue of each user.
        queue: QueueTable, holding keys;
        /// Delay of acknowledgments on the uplink, which is not modelled further.
        uplink_delay: Duration = Duration::from_millis(40), as LineDelay;
        /// Further saturated users: always backlogged, without TCP.
        saturated_users: u32 = 0, as Whole<0, 1_000>;
        /// Where the users are, and how their signals fade.
        radio: RadioTable, holding keys;
    }
}
