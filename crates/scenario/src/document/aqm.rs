//! `[link.aqm]`: which of the packets that wait is served, dropped or marked.

use airtcp_link::{AbcConfig, CakeConfig, CoDelConfig, DualPi2Config, FqCoDelConfig, PieConfig};
use airtcp_units::Duration;

use super::HOUR;
use crate::names::{AckFilterName, DisciplineName, TinsName};
use airtcp_units::bounded::{MICROSECOND, Rate, Real, Span, Whole};

keys! {
    /// Active queue management; the length limit of the queue is set by `queue`.
    #[derive(Clone, Copy, Default)]
    pub struct AqmTable under Disciplines takes {
        /// The discipline.
        discipline: DisciplineName = DisciplineName::default();
        /// Delay in the queue that is acceptable (RFC 8289 §4.4: 5 ms; `abc`: 50 ms), or aimed at
        /// (`pie` and `dualpi2`; RFC 8033 §4.2, RFC 9332 A.1: 15 ms).
        target: Span<MICROSECOND, HOUR>;
        /// For how long the delay must be above that before a packet is dropped (`codel`,
        /// `fq-codel`, and `cake`'s `rtt`; RFC 8289 §4.3: 100 ms).
        interval: Span<MICROSECOND, HOUR>;
        /// Marks packets instead of dropping them if the endpoints negotiated ECN (`tcp.ecn`).
        /// Defaults as in Linux: on for `fq-codel`, off for `codel` and `pie`.
        ecn: bool;
        /// Time from one update of the probability to the next (`pie`; RFC 8033 §4.2: 15 ms.
        /// `dualpi2`; Linux: 16 ms).
        update: Span<MICROSECOND, HOUR>;
        /// Weight of the delay's distance to the target, per second (`pie`; RFC 8033 §4.2: 0.125.
        /// `dualpi2`; RFC 9332 A.1: 0.16).
        alpha: Real<0, 1_000_000_000>;
        /// Weight of the delay's change, per second (`pie`: 1.25, `dualpi2`: 3.2).
        beta: Real<0, 1_000_000_000>;
        /// Delay above which the queue of low latency marks every packet (`dualpi2`; Linux: 1 ms).
        step: Span<MICROSECOND, HOUR>;
        /// It marks while more packets than this are in that queue, the one served among them
        /// (`dualpi2`; RFC 9332 A.1: 1; Linux: 0).
        step_packets: Whole<0, 10_000>;
        /// Coupling factor k: low-latency packets are marked with k times the square root of the
        /// classic drop probability (`dualpi2`; RFC 9332 A.1: 2).
        coupling: Real<1_000_000, 100_000_000>;
        /// Share of the capacity that is aimed at, η (`abc`; its authors' router: 0.98).
        eta: Real<500_000, 1_000_000>;
        /// Time in which the queue beyond the target is to drain, δ (`abc`; its authors' router:
        /// 133 ms); stable above two thirds of a round trip.
        delta: Span<MICROSECOND, HOUR>;
        /// Time over which capacity and departures are measured (`abc`; its authors' router:
        /// 20 ms).
        window: Span<MICROSECOND, HOUR>;
        /// Rate of the shaper in front of the link's queue, which is then drop-tail; without a rate
        /// the discipline is the link's queue (`cake`).
        rate: Rate;
        /// Classes of traffic, by `flows.dscp` (`cake`; when left out, three).
        tins: TinsName;
        /// Number of hosts, each with the same share; flows belong to them in turn. By default one
        /// host per flow (`cake`).
        hosts: Hosts;
        /// How many acknowledgments are left (`cake`; when left out, all).
        ack_filter: AckFilterName;
        /// Number of queues that flows are spread over (`fq-codel`; RFC 8290 §5.2.3: 1024).
        queues: Whole<1, 65_536>;
        /// Bytes that a queue sends in its turn (`fq-codel`; RFC 8290 §5.2.4: a largest packet).
        quantum: Whole<256, 1_048_576>;
    }
}

/// A number of hosts that share CAKE's rate.
type Hosts = Whole<1, 100_000>;

alternatives! {
    /// The disciplines, with the defaults of their standards and of Linux.
    #[derive(Copy)]
    pub enum Disciplines of AqmTable by discipline: DisciplineName {
        /// CoDel in a queue for each flow.
        FqCodel: FqCodel takes {
            target: Duration = FqCoDelConfig::default().codel.target,
            interval: Duration = FqCoDelConfig::default().codel.interval,
            ecn: bool = FqCoDelConfig::default().codel.ecn,
            queues: u32 = FqCoDelConfig::default().queues,
            quantum: u32 = FqCoDelConfig::default().quantum,
        };
        /// One queue with CoDel.
        Codel: Codel takes {
            target: Duration = CoDelConfig::default().target,
            interval: Duration = CoDelConfig::default().interval,
            ecn: bool = CoDelConfig::default().ecn,
        };
        /// One queue with PIE.
        Pie: Pie takes {
            target: Duration = PieConfig::default().target,
            update: Duration = PieConfig::default().update,
            alpha: f64 = PieConfig::default().alpha,
            beta: f64 = PieConfig::default().beta,
            ecn: bool = PieConfig::default().ecn,
        };
        /// Two coupled queues.
        Dualpi2: Dualpi2 takes {
            target: Duration = DualPi2Config::default().target,
            update: Duration = DualPi2Config::default().update,
            alpha: f64 = DualPi2Config::default().alpha,
            beta: f64 = DualPi2Config::default().beta,
            step: Duration = DualPi2Config::default().step,
            step_packets: u32 = DualPi2Config::default().step_packets,
            coupling: f64 = DualPi2Config::default().coupling,
        };
        /// CAKE, with a shaper or without.
        Cake: Cake
            takes {
                target: Duration = CakeConfig::default().target,
                interval: Duration = CakeConfig::default().interval,
                tins: TinsName = TinsName::default(),
                ack_filter: AckFilterName = AckFilterName::default(),
            }
            allows { rate: Rate, hosts: Hosts };
        /// ABC's router.
        Abc: Abc takes {
            target: Duration = AbcConfig::default().target,
            eta: f64 = AbcConfig::default().eta,
            delta: Duration = AbcConfig::default().delta,
            window: Duration = AbcConfig::default().window,
        };
        /// No discipline.
        DropTail: DropTail;
    }
}
