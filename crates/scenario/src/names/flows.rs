//! Names of what flows carry, and which way.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which way the data of a flow goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FlowDirection {
    /// To the mobile.
    #[default]
    Down,
    /// From the mobile.
    Up,
}

/// The transport of a flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FlowKind {
    /// A TCP connection.
    #[default]
    Tcp,
    /// Datagrams one way, at a rate or whenever there is room.
    Udp,
    /// Echo requests, which the other end answers.
    Ping,
}

/// Traffic of a flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ApplicationName {
    /// As much as it can, or `flows.bytes`.
    #[default]
    Bulk,
    /// Files.
    Ftp,
    /// Pages of the web.
    Http,
    /// E-mail.
    Email,
    /// Each flow one of these, by shares.
    Mix,
}

/// The shape of a distribution.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Shape {
    /// Every value between two is as likely.
    #[default]
    Uniform,
    /// Gauss's bell.
    Normal,
    /// Many small, few large.
    Exponential,
}
