//! `[cell]` of LTE and NR: link adaptation, hybrid ARQ, RLC, PDCP, and access to the uplink.

use super::keys::Rule;
use super::wlan::Attempts;
use super::{Amount, DAY, HOUR, QueueTable, SECOND};
use crate::error::Problem;
use crate::names::RlcModeName;
use airtcp_units::bounded::{Bytes, Limit, MINUTE, Real, Span, Whole};
use airtcp_units::written::{completed, read};
use airtcp_units::{Duration, Probability};

keys! {
    /// Reports of a user's channel: the CQI of each subband (TS 36.213 §7.2, TS 38.214 §5.2).
    #[derive(Clone, Copy, Default)]
    pub struct CqiTable takes {
        /// From one report to the next, rounded up to slots.
        period: Duration = Duration::from_millis(5), as Span<1_000, MINUTE>;
        /// From a measurement until the base station uses it, rounded up to slots.
        delay: Duration = Duration::from_millis(6), as Span<0, MINUTE>;
    }
}

keys! {
    /// Outer-loop link adaptation: an offset to the reported quality.
    #[derive(Clone, Copy, Default)]
    pub struct OuterLoopTable takes {
        /// Block error rate of first transmissions that it keeps to.
        // The rate by which CQI is defined (TS 36.213 §7.2.3).
        target: Probability = Probability::new(0.1).unwrap_or(Probability::NEVER);
        /// How far a decoded block raises the offset, in dB; one in error lowers it by
        /// (1 − target)/target times that. 0 for no outer loop.
        step_db: f64 = 0.01, as Real<0, 10_000_000>;
    }
}

keys! {
    /// Hybrid ARQ, asynchronous in the downlink. Its receiver combines all transmissions of a
    /// block: retransmissions bring other coded bits, and then the same again.
    #[derive(Clone, Copy, Default)]
    pub struct HarqTable takes {
        /// Processes of a user in each direction: 8 in LTE, 16 in NR when left out.
        processes: Whole<1, 32>;
        /// Most transmissions of a block, the first included (`maxHARQ-Tx`).
        transmissions: Option<u32> = Some(4), as Limit<Attempts>;
        /// Slots between a transmission and the reaction to it, at either end: 3 make a round trip
        /// of 8 ms in LTE's FDD.
        // TS 36.213 §8.0, §10.1: in subframe n + 4.
        processing: u32 = 3, as Whole<0, 64>;
        /// Chance that a negative acknowledgment is taken for a positive one; RLC repairs that.
        // TS 36.104 §8.3.1 requires 0.1 % at most.
        nack_to_ack: Probability = Probability::new(0.001).unwrap_or(Probability::NEVER);
    }
}

keys! {
    /// Radio link control (TS 36.322, TS 38.322), the same in both directions.
    #[derive(Clone, Copy, Default)]
    pub struct RlcTable under Rlc takes {
        /// Acknowledged or unacknowledged mode.
        mode: RlcModeName = RlcModeName::default();
        /// Sequence numbers that may be outstanding (`mode = "am"`): 512 in LTE, half of its 10
        /// bits, and 131072 in NR, half of 18 bits, when left out.
        window: RlcWindow;
        /// PDUs after which the transmitter polls a status (`pollPDU`, `mode = "am"`): 64 in LTE, 4
        /// in NR when left out.
        // This and the following: the bearer without guarantees, QCI 9 and 5QI 9, in the
        // configuration that comes with srsRAN 4G.
        poll_pdu: PollPdu;
        /// Bytes after which it does (`pollByte`, `mode = "am"`): 750 kB in LTE, 3 MB in NR when
        /// left out.
        poll_byte: PollByte;
        /// Time until a poll is repeated (`t-PollRetransmit`, `mode = "am"`): 120 ms in LTE, 50 ms
        /// in NR when left out.
        poll_retransmit: PollRetransmit;
        /// Shortest time from one status to the next (`t-StatusProhibit`, `mode = "am"`).
        status_prohibit: Span<0, MINUTE>;
        /// How long a receiver waits for a missing PDU before it reports or skips it
        /// (`t-Reordering` of LTE, `t-Reassembly` of NR).
        reordering: Duration = Duration::from_millis(50), as Span<0, MINUTE>;
        /// Most retransmissions of a PDU (`maxRetxThreshold`, `mode = "am"`); after them the radio
        /// link has failed.
        max_retransmissions: Limit<Attempts>;
        /// How long a user is away after its radio link has failed (`mode = "am"`).
        reestablishment: Span<0, HOUR>;
    }
}

type RlcWindow = Whole<1, 131_072>;
type PollPdu = Limit<Whole<1, 65_536>>;
type PollByte = Limit<Amount>;
type PollRetransmit = Span<1_000, MINUTE>;

alternatives! {
    /// The modes of radio link control. Some defaults depend on the generation: see
    /// [`RlcTable::of_generation`].
    #[derive(Copy)]
    pub enum Rlc of RlcTable by mode: RlcModeName {
        /// Acknowledged.
        Acknowledged: Am
            needs {
                window: RlcWindow,
                poll_pdu: PollPdu,
                poll_byte: PollByte,
                poll_retransmit: PollRetransmit,
            }
            takes {
                status_prohibit: Duration = Duration::from_millis(50),
                max_retransmissions: Option<u32> = Some(16),
                reestablishment: Duration = Duration::from_millis(200),
            };
        /// Unacknowledged.
        Unacknowledged: Um;
    }
}

impl RlcTable {
    /// The same table with the defaults of LTE, or of NR.
    pub fn of_generation(self, is_lte: bool) -> Self {
        if self.mode() == RlcModeName::Um {
            return self;
        }
        let (window, poll_pdu, poll_byte, poll_ms): (_, _, u64, _) = if is_lte {
            (512, 64, 750_000, 120)
        } else {
            (131_072, 4, 3_000_000, 50)
        };
        Self {
            window: completed::<u32, _>(&self.window, &window),
            poll_pdu: completed::<Option<u32>, _>(&self.poll_pdu, &Some(poll_pdu)),
            poll_byte: completed::<Option<u64>, _>(&self.poll_byte, &Some(poll_byte)),
            poll_retransmit: completed(&self.poll_retransmit, &Duration::from_millis(poll_ms)),
            ..self
        }
    }
}

keys! {
    /// Packet data convergence (TS 36.323, TS 38.323), the same in both directions.
    #[derive(Clone, Copy, Default)]
    pub struct PdcpTable takes {
        /// Packets that waited for longer are discarded in place of being sent (`discardTimer`).
        discard: Option<Duration> = None, as Limit<Span<1_000, HOUR>>;
        /// How long a receiver holds packets for a missing one (`t-Reordering`, `nr`): less than
        /// RLC needs to repair a loss, and packets that it repairs come too late.
        reordering: Span<0, MINUTE>;
    }
}

impl PdcpTable {
    /// How long a receiver of NR holds packets for a missing one.
    pub fn reordering(&self) -> Duration {
        read(&self.reordering, &Duration::from_millis(220))
    }

    /// The same table with the default of NR.
    pub fn of_nr(self) -> Self {
        Self {
            reordering: completed(&self.reordering, &self.reordering()),
            ..self
        }
    }
}

/// Packets that wait at a user: the length of a network device's queue in Linux.
pub(crate) const UPLINK_PACKETS: u64 = 1_000;

keys! {
    /// Access to the uplink: scheduling requests, buffer status reports, grants (TS 36.321 §5.4).
    #[derive(Clone, Copy, Default)]
    pub struct UplinkTable takes {
        /// From one opportunity of a user for a scheduling request to the next, rounded up to
        /// slots.
        // The values are 1 to 80 ms (TS 36.213 table 10.1.5-1).
        request_period: Duration = Duration::from_millis(10), as Span<1_000, MINUTE>;
        /// Bytes that the base station grants for a request; it learns of the rest by the block's
        /// buffer status.
        request_grant: u32 = 150, as Bytes<1, 100_000>;
        /// Packets that wait at a user: 1000 when left out, as in a phone's modem driver.
        // Linux, drivers/net/ethernet/qualcomm/rmnet: a device's default queue length.
        queue: QueueTable = QueueTable::default().or_packets(UPLINK_PACKETS), holding keys;
        /// A user's transmit power in dBm, shared by the resource blocks that it is granted.
        // Power class 3 (TS 36.101 table 6.2.2-1, TS 38.101-1 table 6.2.1-1).
        transmit_power_dbm: f64 = 23.0, as Real<-400_000_000, 400_000_000>;
    }
}

keys! {
    /// Discontinuous reception: packets to a user that does not listen wait (TS 36.321 §5.7).
    #[derive(Clone, Copy, Default)]
    pub struct DrxTable under ShortCycles takes {
        /// How long a user listens at the start of each cycle (`onDurationTimer`).
        // This and the following: seen in an operator's network (MTN Ghana, 2022).
        on_duration: Duration = Duration::from_millis(10), as Span<1_000, MINUTE>;
        /// How long it listens after a grant (`drx-InactivityTimer`).
        inactivity: Duration = Duration::from_millis(200), as Span<0, MINUTE>;
        /// Length of a cycle.
        long_cycle: Duration = Duration::from_millis(320), as Span<1_000, HOUR>;
        /// Length of the cycles that follow `inactivity`: all are long when left out.
        short_cycle: Span<1_000, MINUTE>;
        /// How many of them (`drxShortCycleTimer`).
        short_cycles: Whole<1, 16>;
    }
}

/// Short cycles are counted where there are any.
pub struct ShortCycles;

impl DrxTable {
    /// The number of short cycles.
    pub fn short_cycles(&self) -> u32 {
        read(&self.short_cycles, &2)
    }
}

impl Rule<DrxTable> for ShortCycles {
    fn completed(table: &DrxTable) -> DrxTable {
        let count = || completed(&table.short_cycles, &table.short_cycles());
        DrxTable {
            short_cycles: table
                .short_cycles
                .or_else(|| table.short_cycle.and_then(|_| count())),
            ..*table
        }
    }

    fn check(table: &DrxTable, path: &str) -> Result<(), Problem> {
        if table.short_cycle.is_none() {
            let why = "counts cell.drx.short_cycle, which is left out; remove it, or give that";
            refuse_keys!(table, path, why; short_cycles);
        }
        Ok(())
    }
}

keys! {
    /// Handovers to further cells like this one, of all users together: as on a train.
    #[derive(Clone, Copy)]
    pub struct HandoverTable needs {
        /// From one handover to the next.
        every: Span<1_000_000, { 30 * DAY }>;
    } takes {
        /// Interruption of both directions.
        // 49.5 ms by its components (TR 36.881 §5.2).
        gap: Duration = Duration::from_millis(50), as Span<0, { 10 * SECOND }>;
        /// Whether packets in transit are forwarded to the next cell, or lost (`rlc.mode = "am"`;
        /// in "um" they are lost).
        lossless: bool;
    }
}

impl HandoverTable {
    /// Whether packets in transit are forwarded.
    pub fn lossless(&self) -> bool {
        self.lossless.unwrap_or(true)
    }
}

keys! {
    /// Sessions of saturated users: each is backlogged for a time, then has nothing to receive.
    #[derive(Clone, Copy)]
    pub struct SessionsTable needs {
        /// Mean time of a session, exponential.
        on: Span<1_000_000, DAY>;
    } takes {
        /// Mean time between two of a user's sessions, exponential.
        // Reading time of FTP model 2 (TR 36.814 §A.2.1.3.1).
        off: Duration = Duration::from_secs(5), as Span<1_000_000, DAY>;
    }
}
