//! The parameters of a selective-repeat link.

use airtcp_units::{BitRate, Duration};

use crate::frame::RetryLimit;
use crate::mac::damage::DamageConfig;
use crate::mac::resequencer::Handover;
use crate::mac::send_window::Window;
use crate::queue::QueueLimit;
use crate::scheduler::RetransmissionOrder;

/// The parameters of one end as a sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EndConfig {
    /// The queue. Frames in transit, or with a running timer, take no room.
    pub queue: QueueLimit,
    /// Maximum number of transmissions of a frame. A retransmission order by deadline replaces this
    /// by its limit.
    pub retry_limit: RetryLimit,
    /// The order of frames due for retransmission.
    pub order: RetransmissionOrder,
}

/// The parameters of a selective-repeat link.
#[derive(Clone, Debug)]
pub struct SelectiveRepeatConfig {
    /// Rate of frames, separate in each direction.
    pub rate: BitRate,
    /// Propagation delay.
    pub delay: Duration,
    /// Time from a frame's last bit to its retransmission if the line is free: `LL_RTO` (Srinivasan
    /// §3.1), `ARQ_RETRY_TIMEOUT` (IEEE 802.16-2009 §6.3.4.3).
    pub retry_timeout: Duration,
    /// Bytes of overhead per frame.
    pub overhead: u32,
    /// Transmission time of the link's acknowledgment, on a separate channel.
    pub ack_time: Duration,
    /// Frames that may be outstanding.
    pub window: Window,
    /// The order in which the receiver delivers packets.
    pub handover: Handover,
    /// The mobile.
    pub mobile: EndConfig,
    /// The access point.
    pub access_point: EndConfig,
    /// Errors that damage frames. Each flow's transmissions are counted separately in each
    /// direction.
    pub damage: DamageConfig,
    /// Whether every failed attempt is reported.
    pub report_retries: bool,
}

/// An invalid configuration of a selective-repeat link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SelectiveRepeatError {
    /// No rate.
    #[error("a rate of 0 bit/s; expected more, or no frame would ever arrive")]
    Rate,
    /// The timer would expire before any acknowledgment could arrive.
    #[error(
        "a retransmission after {timeout}; expected at least {least}, which an acknowledgment \
         takes to come back (twice the delay, and ack_time)"
    )]
    RetryTimeout {
        /// The timeout.
        timeout: Duration,
        /// Time until an acknowledgment arrives.
        least: Duration,
    },
}

impl SelectiveRepeatConfig {
    /// Time from a frame's last bit until its sender has the acknowledgment.
    #[must_use]
    pub fn answer_time(&self) -> Duration {
        self.delay * 2 + self.ack_time
    }

    /// Validates the configuration.
    ///
    /// # Errors
    /// See [`SelectiveRepeatError`].
    pub fn check(&self) -> Result<(), SelectiveRepeatError> {
        if self.rate.as_bps() == 0 {
            return Err(SelectiveRepeatError::Rate);
        }
        let (timeout, least) = (self.retry_timeout, self.answer_time());
        if timeout < least {
            return Err(SelectiveRepeatError::RetryTimeout { timeout, least });
        }
        Ok(())
    }
}
