//! `[wlan]`: an IEEE 802.11 channel that the mobiles share with an access point.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{LossTable, QueueTable, RadioTable, SECOND, SuspensionTable};
use crate::names::{Preamble, Standard};
use airtcp_units::bounded::{Bytes, Limit, Rate, Span, Whole};

/// Most transmissions of a frame, the first included.
pub(crate) type Attempts = Whole<1, 1_000_000>;
/// A contention window in slots.
pub(crate) type ContentionWindow = Whole<1, 32_767>;

/// An IEEE 802.11 channel, all stations in range of each other.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WlanTable {
    /// Which physical layer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub standard: Option<Standard>,
    /// Rate of data frames: one of the standard's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    /// Rates of data frames to and from each mobile, taken in turn, in place of `rate`: of the
    /// standard's, none below `basic_rate`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub station_rates: Option<Vec<Rate>>,
    /// Rate of ACK, RTS and CTS frames: one of the standard's, not above `rate`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub basic_rate: Option<Rate>,
    /// The preamble in front of every frame (802.11b alone).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preamble: Option<Preamble>,
    /// Mobile stations; flow i is of station i modulo this. One a flow when left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stations: Option<Whole<1, 2_000>>,
    /// Most transmissions of a frame, the first included (IEEE 802.11
    /// `dot11ShortRetryLimit`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_limit: Option<Limit<Attempts>>,
    /// The same for frames above `rts_threshold` (`dot11LongRetryLimit`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub long_retry_limit: Option<Limit<Attempts>>,
    /// Larger frames are preceded by RTS and CTS (`dot11RTSThreshold`), MAC header and FCS counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rts_threshold: Option<Limit<Bytes<0, 65_535>>>,
    /// Larger frames are cut (`dot11FragmentationThreshold`), MAC header and FCS counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fragmentation_threshold: Option<Limit<Bytes<256, 65_535>>>,
    /// Smallest contention window in slots: 2^k − 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cw_min: Option<ContentionWindow>,
    /// Largest contention window in slots: 2^k − 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cw_max: Option<ContentionWindow>,
    /// Time that a sender waits for an ACK. By the standard when left out: SIFS, a slot and the
    /// time a receiver needs to notice a preamble.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ack_timeout: Option<Span<1_000, SECOND>>,
    /// Overhead of MAC and LLC on an IP packet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overhead: Option<Bytes<0, 1_000>>,
    /// The queue at each mobile, and at the access point unless that differs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue: Option<QueueTable>,
    /// The queue at the access point.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub access_point_queue: Option<QueueTable>,
    /// Frames that the radio damages by an error model: each attempt counts. Only data frames that
    /// carry what `direction` says; acknowledgments of the link are spared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loss: Option<LossTable>,
    /// Frames that the radio damages by their signal-to-noise ratio, in place of `loss`: all
    /// frames.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub radio: Option<RadioTable>,
    /// A channel that goes away now and then: every frame is damaged meanwhile.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outage: Option<SuspensionTable>,
}
