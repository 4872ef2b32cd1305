//! The parameters of a radio access network, and the checks that they pass.

use std::num::NonZeroU32;

use airtcp_units::{Duration, Probability};

use super::drx::DrxConfig;
use super::frame_structure::FrameStructure;
use super::grid::Grid;
use super::session::SessionConfig;
use super::transport_block::BlockFormat;
use crate::fading::Radio;
use crate::frame::RetryLimit;
use crate::mac::cellular::Scheduler;
use crate::mac::damage::Outage;
use crate::queue::{Discipline, QueueLimit};
use crate::scheduler::deadline::DeadlineOrder;

/// A direction of a carrier.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CarrierConfig {
    /// Resource blocks, their groups and subbands.
    pub grid: Grid,
    /// Sizes of transport blocks.
    pub format: BlockFormat,
}

/// Reports of a user's channel (TS 36.213 §7.2, TS 38.214 §5.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CqiConfig {
    /// Slots from one report to the next.
    pub period: NonZeroU32,
    /// Slots from the measurement until the base station uses it.
    pub delay: u32,
}

/// Outer-loop link adaptation: an offset to the reported quality, raised by each block that is
/// decoded at its first transmission and lowered by each other, so that the share of the latter is
/// the target.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OuterLoopConfig {
    /// Block error rate of first transmissions.
    pub target: Probability,
    /// How far a decoded block raises the offset, in dB; 0 for no outer loop.
    pub step_db: f64,
}

/// Hybrid ARQ (TS 36.321 §5.3.2 and §5.4.2, TS 38.321 §5.3.2 and §5.4.2).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HarqConfig {
    /// Processes of a user in each direction.
    pub processes: NonZeroU32,
    /// Most transmissions of a block (`maxHARQ-Tx`).
    pub transmissions: RetryLimit,
    /// Chance that a negative acknowledgment is taken for a positive one (TS 36.104 §8.3.1: at most
    /// 0.1 %).
    pub nack_to_ack: Probability,
}

/// Which of both generations a bearer follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Generation {
    /// RLC concatenates and delivers in order (TS 36.322).
    Lte,
    /// RLC numbers packets, and PDCP orders them (TS 38.322, TS 38.323).
    Nr,
}

/// Whether RLC acknowledges.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RlcMode {
    /// Acknowledged mode, AM.
    #[default]
    Acknowledged,
    /// Unacknowledged mode, UM.
    Unacknowledged,
}

/// Radio link control (TS 36.322 §7, TS 38.322 §7).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RlcConfig {
    /// Acknowledged or not.
    pub mode: RlcMode,
    /// Sequence numbers that may be outstanding (`AM_Window_Size`).
    pub window: NonZeroU32,
    /// PDUs after which a status is polled (`pollPDU`).
    pub poll_pdu: Option<NonZeroU32>,
    /// Bytes after which a status is polled (`pollByte`).
    pub poll_byte: Option<u64>,
    /// Time until a poll is repeated (`t-PollRetransmit`).
    pub poll_retransmit: Duration,
    /// Shortest time from one status to the next (`t-StatusProhibit`).
    pub status_prohibit: Duration,
    /// Time that a receiver waits for a missing PDU before it reports or skips it (`t-Reordering`
    /// of LTE, `t-Reassembly` of NR).
    pub reordering: Duration,
    /// Retransmissions of a PDU (`maxRetxThreshold`); after the last the radio link has failed.
    pub max_retransmissions: RetryLimit,
}

/// Packet data convergence (TS 36.323, TS 38.323).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PdcpConfig {
    /// Time after which a packet that was not sent yet is discarded (`discardTimer`).
    pub discard: Option<Duration>,
    /// Time that NR's receiver holds packets for a missing one (`t-Reordering`).
    pub reordering: Duration,
}

/// Access to the uplink (TS 36.321 §5.4, TS 38.321 §5.4).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UplinkConfig {
    /// Slots from one opportunity for a scheduling request to the next.
    pub request_period: NonZeroU32,
    /// Bytes that a request is granted.
    pub request_grant: u32,
    /// The queue of each user.
    pub queue: QueueLimit,
    /// Transmit power of a user over that of the base station, in dB: it is shared by the resource
    /// blocks that the user is granted.
    pub power_offset_db: f64,
}

/// Handovers of all users to further cells like this one (TS 36.300 §10.1.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HandoverConfig {
    /// From one to the next.
    pub every: Duration,
    /// Interruption of both directions.
    pub gap: Duration,
    /// Whether packets in transit are forwarded to the next cell: only in RLC's acknowledged mode.
    pub is_lossless: bool,
}

/// A cell of LTE or NR.
#[derive(Clone, Debug)]
pub struct RanConfig {
    /// Slots, and their directions.
    pub frame: FrameStructure,
    /// From the base station.
    pub down: CarrierConfig,
    /// To the base station.
    pub up: CarrierConfig,
    /// Which user is given a resource block.
    pub scheduler: Scheduler,
    /// Distance of the codes from Shannon's limit, in dB.
    pub gap_db: f64,
    /// Reports of the channel.
    pub cqi: CqiConfig,
    /// Outer-loop link adaptation.
    pub outer_loop: OuterLoopConfig,
    /// Hybrid ARQ.
    pub harq: HarqConfig,
    /// Whose RLC and PDCP.
    pub generation: Generation,
    /// Radio link control, the same in both directions.
    pub rlc: RlcConfig,
    /// Packet data convergence, the same in both directions.
    pub pdcp: PdcpConfig,
    /// Access to the uplink.
    pub uplink: UplinkConfig,
    /// Discontinuous reception.
    pub drx: Option<DrxConfig>,
    /// Handovers.
    pub handover: Option<HandoverConfig>,
    /// How long a user is away after a failure of its radio link (TS 36.331 §5.3.7, TS 38.331
    /// §5.3.7).
    pub reestablishment: Duration,
    /// Times in which no block arrives.
    pub outage: Option<Outage>,
    /// Channel of each user in each subband.
    pub radios: Vec<Vec<Radio>>,
    /// How many of the last users are saturated: backlogged, without TCP.
    pub saturated: u32,
    /// Sessions of the saturated users. None if they are always backlogged.
    pub sessions: Option<SessionConfig>,
    /// RLC's queue for each user at the base station.
    pub queue: QueueLimit,
    /// Which of the packets in the base station's queues is served, dropped or marked.
    pub discipline: Discipline,
    /// Order of the downlink's retransmissions by the timers of the packets' senders: dynamic ARQ.
    /// None for that of their failures.
    pub order: Option<DeadlineOrder>,
    /// Whether every failed attempt is reported.
    pub report_retries: bool,
}

/// An invalid configuration of a cell of LTE or NR.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum RanError {
    /// The slot duration is zero.
    #[error("a slot of 0 s; expected more")]
    Slot,
    /// No slot of the pattern goes in a direction.
    #[error("a pattern without a slot in each direction; expected at least one D and one U")]
    Pattern,
    /// The carrier has no resource blocks.
    #[error("no resource block; expected at least one")]
    Blocks,
    /// The cell has no users, or one without a channel in each subband.
    #[error("no user; expected at least one")]
    Users,
    /// Not an average.
    #[error("a time constant of {0} slots; expected at least 1")]
    TimeConstant(f64),
    /// Not a step.
    #[error("a step of {0} dB; expected 0 or more")]
    Step(f64),
    /// Not a rate that a loop can reach.
    #[error("a target of {0}; expected more than 0 and less than 1")]
    Target(f64),
}

impl RanConfig {
    /// Validates the configuration.
    ///
    /// # Errors
    /// See [`RanError`].
    pub fn check(&self) -> Result<(), RanError> {
        if self.frame.slot == Duration::ZERO {
            return Err(RanError::Slot);
        }
        if !self.frame.goes_both_ways() {
            return Err(RanError::Pattern);
        }
        if self.down.grid.blocks() == 0 || self.up.grid.blocks() == 0 {
            return Err(RanError::Blocks);
        }
        let subbands = self.down.grid.subbands();
        if self.radios.is_empty() || self.radios.iter().any(|radio| radio.len() != subbands) {
            return Err(RanError::Users);
        }
        if let Scheduler::ProportionalFair { time_constant } = self.scheduler
            && (time_constant.is_nan() || time_constant < 1.0)
        {
            return Err(RanError::TimeConstant(time_constant));
        }
        let OuterLoopConfig { target, step_db } = self.outer_loop;
        if !(step_db >= 0.0 && step_db.is_finite()) {
            return Err(RanError::Step(step_db));
        }
        let target = target.as_f64();
        if !(target > 0.0 && target < 1.0) {
            return Err(RanError::Target(target));
        }
        Ok(())
    }
}
