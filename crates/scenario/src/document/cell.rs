//! `[cell]`: a cellular base station.

use super::ran::{
    CqiTable, DrxTable, HandoverTable, HarqTable, OuterLoopTable, PdcpTable, RlcTable,
    SessionsTable, UplinkTable,
};
use super::wlan::Attempts;
use super::{AqmTable, LineDelay, OutageTable, QueueTable, RadioTable, SECOND};
use crate::names::{
    CellRates, CellStandard, DuplexName, McsTableName, SchedulerName, SubcarrierSpacing,
};
use airtcp_units::bounded::{Limit, Real, Span, Whole};
use airtcp_units::{Duration, Probability};

keys! {
    /// A base station: of 1xEV-DO, which serves one user a slot and whose uplink is a delay, or of
    /// LTE or NR, which share the resource blocks of a slot in both directions.
    #[derive(Clone, Default)]
    pub struct CellTable takes {
        /// Which generation.
        standard: CellStandard = CellStandard::default();
        /// Users with flows: flow i is of user i modulo this (`lte`, `nr`). One a flow when left
        /// out.
        users: Whole<1, 2_000>;
        /// Who is served.
        scheduler: SchedulerName = SchedulerName::default();
        /// Slots over which proportional fairness averages a user's rate.
        // Jalali, Padovani & Pankaj, VTC 2000.
        time_constant: f64 = 1000.0, as Real<1_000_000, 1_000_000_000_000>;
        /// Length of a slot (`1xev-do`).
        // CDMA2000 1xEV-DO: 600 slots a second.
        slot: Duration = Duration::from_nanos(1_666_667), as Span<1_000, SECOND>;
        /// Mapping from signal-to-noise ratio to rate (`1xev-do`).
        rates: CellRates = CellRates::default();
        /// Bandwidth in MHz: 1.25 by default with `rates = "shannon"`, 10 in LTE, 20 in NR. In LTE
        /// 1.4, 3, 5, 10, 15 or 20; in NR one of the `subcarrier_spacing`'s.
        bandwidth_mhz: Real<1_000, 1_000_000_000>;
        /// Distance of the link from Shannon's limit, in dB (`rates = "shannon"`, `lte`, `nr`).
        gap_db: f64 = 3.0, as Real<0, 100_000_000>;
        /// Subcarrier spacing, which makes the slot: 1 ms at 15 kHz (`nr`; TS 38.211 §4.2).
        subcarrier_spacing: SubcarrierSpacing;
        /// Whether both directions have a carrier each, or take turns (`lte`, `nr`): "fdd" in LTE
        /// and "tdd" in NR when left out.
        duplex: DuplexName;
        /// Directions of the slots, repeated (`duplex = "tdd"`): D for down, U for up, and S for a
        /// special slot, which counts as down. DSUUD in LTE (configuration 1 of TS 36.211 table
        /// 4.2-2), DDDSU in NR when left out.
        tdd_pattern: String;
        /// Modulation and coding schemes (`lte`, `nr`): up to "64qam" in LTE and "256qam" in NR
        /// when left out.
        mcs_table: McsTableName;
        /// Spatial layers of the downlink (`nr`); the signal's power is shared among them.
        layers: u32 = 2, as Whole<1, 4>;
        /// OFDM symbols of control in a subframe (`lte`).
        control_symbols: u32 = 3, as Whole<1, 3>;
        /// Parts of the carrier that fade separately, each with a quality report (`lte`, `nr`).
        subbands: u32 = 4, as Whole<1, 8>;
        /// Reports of a user's channel (`lte`, `nr`).
        cqi: CqiTable, holding keys;
        /// Outer-loop link adaptation (`lte`, `nr`).
        outer_loop: OuterLoopTable, holding keys;
        /// Hybrid ARQ (`lte`, `nr`).
        harq: HarqTable, holding keys;
        /// Radio link control (`lte`, `nr`).
        rlc: RlcTable, holding keys;
        /// Packet data convergence (`lte`, `nr`).
        pdcp: PdcpTable, holding keys;
        /// Access to the uplink (`lte`, `nr`).
        uplink: UplinkTable, holding keys;
        /// Discontinuous reception (`lte`, `nr`): off when left out.
        drx: DrxTable, holding keys;
        /// Handovers (`lte`, `nr`): none when left out.
        handover: HandoverTable, holding keys;
        /// Times in which no block arrives, in both directions (`lte`, `nr`).
        outage: OutageTable, holding keys;
        /// Block error rate: the chance that a slot's block is damaged (`1xev-do`; `lte` and `nr`
        /// have it from the signal).
        // 1xEV-DO chooses rates for 1 % of errors.
        block_error: Probability = Probability::new(0.01).unwrap_or(Probability::NEVER);
        /// Slots until a damaged block is retransmitted (`1xev-do`).
        arq_delay: u32 = 12, as Whole<1, 10_000>;
        /// Most transmissions of a block, the first included (`1xev-do`).
        retry_limit: Option<u32> = Some(4), as Limit<Attempts>;
        /// The queue of each user at the base station: in LTE and NR 4096 packets when left out.
        queue: QueueTable, holding keys;
        /// Which of the packets in the base station's queues is served, dropped or marked (`lte`,
        /// `nr`).
        aqm: AqmTable, holding keys;
        /// Delay of acknowledgments on the uplink, which is not modelled further (`1xev-do`).
        uplink_delay: Duration = Duration::from_millis(40), as LineDelay;
        /// Further saturated users: backlogged, without TCP.
        saturated_users: u32 = 0, as Whole<0, 1_000>;
        /// Sessions of the saturated users, who then come and go (`lte`, `nr`): they are always
        /// backlogged when left out.
        sessions: SessionsTable, holding keys;
        /// Where the users are, and how their signals fade.
        radio: RadioTable, holding keys;
    }
}
