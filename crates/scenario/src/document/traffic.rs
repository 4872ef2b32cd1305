//! `[traffic]`: what applications do with their connections.

use airtcp_units::Probability;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Amount, DAY};
use crate::names::ApplicationName;
use airtcp_units::bounded::{Bytes, Real, Span};

/// A mean time between two things.
pub(crate) type Interval = Span<1_000_000, DAY>;

/// Behaviour of applications on their connections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TrafficTable {
    /// Traffic of every flow; "mix" gives each an application of its own by the shares in
    /// `[traffic.mix]`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub application: Option<ApplicationName>,
    /// File transfers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ftp: Option<FtpTable>,
    /// Pages of the web.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub http: Option<HttpTable>,
    /// E-mail.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub email: Option<EmailTable>,
    /// Shares of clients by application; they are to add up to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mix: Option<MixTable>,
}

/// File transfers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FtpTable {
    /// Size of a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<Amount>,
    /// Whether the next file follows when one has arrived; else the connection closes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repeat: Option<bool>,
}

/// Pages over one HTTP/1.1 connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HttpTable {
    /// Mean time from the start of one page to the start of the next, exponential.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page_interval: Option<Interval>,
    /// Mean size of an object, exponential.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub object_size: Option<Bytes<1, 1_000_000_000>>,
    /// Mean number of objects of a page, exponential, at least 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub objects: Option<Real<1_000_000, 1_000_000_000>>,
    /// Size of a request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request: Option<Bytes<1, 1_000_000>>,
    /// Whether all objects of a page are asked for at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pipelined: Option<bool>,
}

/// E-mail.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EmailTable {
    /// Size of a message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<Bytes<1, 1_000_000_000>>,
    /// Mean time between messages, exponential.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<Interval>,
}

/// Shares of clients.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MixTable {
    /// Share that sends without end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bulk: Option<Probability>,
    /// Share that transfers files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ftp: Option<Probability>,
    /// Share that reads pages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub http: Option<Probability>,
    /// Share that gets e-mail.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub email: Option<Probability>,
}
