//! `[cell]`: the downlink of a cellular base station.

use airtcp_units::Probability;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::wlan::Attempts;
use super::{LineDelay, QueueTable, RadioTable, SECOND};
use crate::names::{CellRates, SchedulerName};
use airtcp_units::bounded::{Limit, Real, Span, Whole};

/// A base station that serves one user a slot.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CellTable {
    /// Who is served.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scheduler: Option<SchedulerName>,
    /// Slots over which proportional fairness averages a user's rate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_constant: Option<Real<1_000_000, 1_000_000_000_000>>,
    /// Length of a slot.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slot: Option<Span<1_000, SECOND>>,
    /// Mapping from signal-to-noise ratio to rate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rates: Option<CellRates>,
    /// Bandwidth in MHz (`rates = "shannon"`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bandwidth_mhz: Option<Real<1_000, 1_000_000_000>>,
    /// Distance of the link from Shannon's limit, in dB (`rates = "shannon"`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gap_db: Option<Real<0, 100_000_000>>,
    /// Chance that what a slot carries is damaged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block_error: Option<Probability>,
    /// Slots until a damaged block is retransmitted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arq_delay: Option<Whole<1, 10_000>>,
    /// Most transmissions of a block, the first included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_limit: Option<Limit<Attempts>>,
    /// The queue of each user.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue: Option<QueueTable>,
    /// Delay of acknowledgments on the uplink, which is not modelled further.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uplink_delay: Option<LineDelay>,
    /// Further users whose queues are never empty: they compete for slots, and have no TCP.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub saturated_users: Option<Whole<0, 1_000>>,
    /// Where the users are, and how their signals fade.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub radio: Option<RadioTable>,
}
