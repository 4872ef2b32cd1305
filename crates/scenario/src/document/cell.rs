//! `[cell]`: a cellular base station.

use super::keys::{Rule, below};
use super::ran::{
    CqiTable, DrxTable, HandoverTable, HarqTable, OuterLoopTable, PdcpTable, RlcTable,
    SessionsTable, UPLINK_PACKETS, UplinkTable,
};
use super::wlan::Attempts;
use super::{AqmTable, LineDelay, OutageTable, QueueTable, RadioTable, SECOND};
use crate::error::Problem;
use crate::names::{
    CellRates, CellStandard, DuplexName, McsTableName, RlcModeName, SchedulerName,
    SubcarrierSpacing,
};
use airtcp_units::bounded::{Limit, Real, Span, Whole};
use airtcp_units::written::completed;
use airtcp_units::{Duration, Probability};

keys! {
    /// A base station: of 1xEV-DO, which serves one user a slot and whose uplink is a delay, or of
    /// LTE or NR, which share the resource blocks of a slot in both directions.
    #[derive(Clone, Default)]
    pub struct CellTable under Generations, Schedulers, RateLaws, Duplexes, Bearers takes {
        /// Which generation.
        standard: CellStandard = CellStandard::default();
        /// Users with flows: flow i is of user i modulo this (`lte`, `nr`). One a flow when left
        /// out.
        users: Users;
        /// Who is served.
        scheduler: SchedulerName = SchedulerName::default();
        /// Slots over which proportional fairness averages a user's rate.
        time_constant: Real<1_000_000, 1_000_000_000_000>;
        /// Length of a slot (`1xev-do`).
        slot: Span<1_000, SECOND>;
        /// Mapping from signal-to-noise ratio to rate (`1xev-do`).
        rates: CellRates;
        /// Bandwidth in MHz: 1.25 by default with `rates = "shannon"`, 10 in LTE, 20 in NR. In LTE
        /// 1.4, 3, 5, 10, 15 or 20; in NR one of the `subcarrier_spacing`'s.
        bandwidth_mhz: Megahertz;
        /// Distance of the link from Shannon's limit, in dB (`rates = "shannon"`, `lte`, `nr`).
        gap_db: Gap;
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
        layers: Whole<1, 4>;
        /// OFDM symbols of control in a subframe (`lte`).
        control_symbols: Whole<1, 3>;
        /// Parts of the carrier that fade separately, each with a quality report (`lte`, `nr`).
        subbands: Whole<1, 8>;
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
        block_error: Probability;
        /// Slots until a damaged block is retransmitted (`1xev-do`).
        arq_delay: Whole<1, 10_000>;
        /// Most transmissions of a block, the first included (`1xev-do`).
        retry_limit: Limit<Attempts>;
        /// The queue of each user at the base station: in LTE and NR 4096 packets when left out.
        queue: QueueTable = QueueTable::default(), holding keys;
        /// Which of the packets in the base station's queues is served, dropped or marked (`lte`,
        /// `nr`).
        aqm: AqmTable, holding keys;
        /// Delay of acknowledgments on the uplink, which is not modelled further (`1xev-do`).
        uplink_delay: LineDelay;
        /// Further saturated users: backlogged, without TCP.
        saturated_users: u32 = 0, as Whole<0, 1_000>;
        /// Sessions of the saturated users, who then come and go (`lte`, `nr`): they are always
        /// backlogged when left out.
        sessions: SessionsTable, holding keys;
        /// Where the users are, and how their signals fade.
        radio: RadioTable, holding keys;
    }
}

type Users = Whole<1, 2_000>;
type Megahertz = Real<1_000, 1_000_000_000>;
type Gap = Real<0, 100_000_000>;

alternatives! {
    /// The generations of cellular networks.
    pub enum Generations of CellTable by standard: CellStandard, with table {
        /// One user a slot, at rates for 1 % of errors, in 600 slots a second.
        EvDo: EvDo
            takes {
                slot: Duration = Duration::from_nanos(1_666_667),
                rates: CellRates = CellRates::default(),
                block_error: Probability = Probability::new(0.01).unwrap_or(Probability::NEVER),
                arq_delay: u32 = 12,
                retry_limit: Option<u32> = Some(4),
                uplink_delay: Duration = Duration::from_millis(40),
            }
            allows { bandwidth_mhz: Megahertz, gap_db: Gap };
        /// LTE.
        Lte: Lte
            takes {
                bandwidth_mhz: f64 = 10.0,
                gap_db: f64 = USUAL_GAP_DB,
                duplex: DuplexName = table.duplex(),
                mcs_table: McsTableName = McsTableName::Qam64,
                control_symbols: u32 = 3,
                subbands: u32 = 4,
                cqi: CqiTable = CqiTable::default(),
                outer_loop: OuterLoopTable = OuterLoopTable::default(),
                harq: HarqTable = HarqTable::default(),
                rlc: RlcTable = RlcTable::default(),
                pdcp: PdcpTable = PdcpTable::default(),
                uplink: UplinkTable = UplinkTable::default(),
            }
            allows {
                users: Users,
                tdd_pattern: String,
                drx: DrxTable,
                handover: HandoverTable,
                outage: OutageTable,
                aqm: AqmTable,
                sessions: SessionsTable,
            };
        /// NR.
        Nr: Nr
            takes {
                subcarrier_spacing: SubcarrierSpacing = SubcarrierSpacing::default(),
                bandwidth_mhz: f64 = usual_bandwidth(subcarrier_spacing),
                gap_db: f64 = USUAL_GAP_DB,
                duplex: DuplexName = table.duplex(),
                mcs_table: McsTableName = McsTableName::Qam256,
                layers: u32 = 2,
                subbands: u32 = 4,
                cqi: CqiTable = CqiTable::default(),
                outer_loop: OuterLoopTable = OuterLoopTable::default(),
                harq: HarqTable = HarqTable::default(),
                rlc: RlcTable = RlcTable::default(),
                pdcp: PdcpTable = PdcpTable::default(),
                uplink: UplinkTable = UplinkTable::default(),
            }
            allows {
                users: Users,
                tdd_pattern: String,
                drx: DrxTable,
                handover: HandoverTable,
                outage: OutageTable,
                aqm: AqmTable,
                sessions: SessionsTable,
            };
    }
    because { subcarrier_spacing: "LTE has 15 kHz" }
}

alternatives! {
    /// Who is served.
    #[derive(Copy)]
    pub enum Schedulers of CellTable by scheduler: SchedulerName {
        /// By the rate relative to its average (Jalali, Padovani & Pankaj, VTC 2000).
        ProportionalFair: ProportionalFair takes { time_constant: f64 = 1000.0 };
        /// In turn.
        RoundRobin: RoundRobin;
        /// By the rate.
        MaxRate: MaxRate;
    }
}

alternatives! {
    /// Mapping from signal-to-noise ratio to rate in 1xEV-DO.
    #[derive(Copy)]
    pub enum RateLaws of CellTable by rates: CellRates, only CellTable::is_ev_do {
        /// A table of rates.
        EvDo: Evdo;
        /// Shannon's formula. The default bandwidth is that of a carrier of 1xEV-DO.
        Shannon: Shannon takes { bandwidth_mhz: f64 = 1.25, gap_db: f64 = USUAL_GAP_DB };
    }
}

alternatives! {
    /// How both directions of LTE and NR share the spectrum.
    pub enum Duplexes of CellTable by duplex: DuplexName, only CellTable::is_ran, with table {
        /// A carrier each.
        Fdd: Fdd;
        /// In turn.
        Tdd: Tdd takes { tdd_pattern: String = table.usual_pattern().to_owned() };
    }
}

/// Distance from Shannon's limit, in dB.
pub(crate) const USUAL_GAP_DB: f64 = 3.0;

fn usual_bandwidth(spacing: SubcarrierSpacing) -> f64 {
    match spacing {
        SubcarrierSpacing::Khz120 => 100.0,
        _ => 20.0,
    }
}

impl CellTable {
    fn is_ev_do(&self) -> bool {
        self.standard() == CellStandard::EvDo
    }

    fn is_ran(&self) -> bool {
        !self.is_ev_do()
    }

    /// The mapping from signal-to-noise ratio to rate.
    pub fn rates(&self) -> CellRates {
        self.rates.unwrap_or_default()
    }

    /// How both directions share the spectrum.
    pub fn duplex(&self) -> DuplexName {
        self.duplex.unwrap_or(match self.standard() {
            CellStandard::Nr => DuplexName::Tdd,
            _ => DuplexName::Fdd,
        })
    }

    fn usual_pattern(&self) -> &'static str {
        match self.standard() {
            CellStandard::Nr => "DDDSU",
            _ => "DSUUD",
        }
    }
}

/// Packets of a user that wait at the base station of LTE or NR, by default: seconds at a cell's
/// usual rates, as operators have it (H. Jiang, Y. Wang, K. Lee & I. Rhee, "Tackling bufferbloat in
/// 3G/4G networks", IMC 2012), and the default of srsRAN Project's RLC.
const QUEUE_PACKETS: u64 = 4_096;
/// Carriers in MHz: a common one of 1xEV-DO, bands 3 and n78.
const CARRIER_MHZ: [f64; 3] = [1_900.0, 1_800.0, 3_500.0];

/// Defaults of the tables inside this one that depend on the generation.
pub struct Bearers;

impl Rule<CellTable> for Bearers {
    fn completed(table: &CellTable) -> CellTable {
        let [ev_do, lte, nr] = CARRIER_MHZ;
        let (carrier_mhz, processes) = match table.standard() {
            CellStandard::EvDo => (ev_do, 0),
            CellStandard::Lte => (lte, 8),
            CellStandard::Nr => (nr, 16),
        };
        let radio = table
            .radio
            .clone()
            .unwrap_or_default()
            .at_carrier(carrier_mhz);
        let table = CellTable {
            radio: Some(radio),
            ..table.clone()
        };
        if table.is_ev_do() {
            return table;
        }
        let is_lte = table.standard() == CellStandard::Lte;
        let is_acknowledged = table.rlc.unwrap_or_default().mode() == RlcModeName::Am;
        CellTable {
            queue: Some(table.queue.unwrap_or_default().or_packets(QUEUE_PACKETS)),
            harq: table.harq.map(|harq| HarqTable {
                processes: completed::<u32, _>(&harq.processes, &processes),
                ..harq
            }),
            rlc: table.rlc.map(|rlc| rlc.of_generation(is_lte)),
            pdcp: table
                .pdcp
                .map(|pdcp| if is_lte { pdcp } else { pdcp.of_nr() }),
            uplink: table.uplink.map(|uplink| UplinkTable {
                queue: Some(uplink.queue.unwrap_or_default().or_packets(UPLINK_PACKETS)),
                ..uplink
            }),
            handover: table.handover.map(|handover| HandoverTable {
                lossless: match handover.lossless {
                    None if is_acknowledged => Some(handover.lossless()),
                    given => given,
                },
                ..handover
            }),
            ..table
        }
    }

    fn check(table: &CellTable, path: &str) -> Result<(), Problem> {
        if let (CellStandard::Lte, Some(pdcp)) = (table.standard(), &table.pdcp) {
            let why = "belongs to cell.standard = \"nr\": LTE orders packets in RLC \
                       (cell.rlc.reordering); remove it, or choose that";
            refuse_keys!(pdcp, below(path, "pdcp"), why; reordering);
        }
        let mode = table.rlc.unwrap_or_default().mode();
        if let (RlcModeName::Um, Some(handover)) = (mode, &table.handover) {
            let why = "belongs to cell.rlc.mode = \"am\": in \"um\" a handover loses packets in \
                       transit; remove it, or choose that";
            refuse_keys!(handover, below(path, "handover"), why; lossless);
        }
        if let (true, Some(aqm)) = (table.is_ran(), &table.aqm) {
            let why = "belongs to a pipe: the radio sets the rate here; remove it, or set \
                       topology = \"pipe\"";
            refuse_keys!(aqm, below(path, "aqm"), why; rate);
        }
        Ok(())
    }
}
