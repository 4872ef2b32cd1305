//! Which side asks for ECN.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
#[cfg(feature = "schema")]
use serde::{Deserialize, Serialize};

/// An endpoint's use of explicit congestion notification (RFC 3168, RFC 9768).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "schema", derive(Serialize, Deserialize, JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "kebab-case"))]
pub enum EcnUse {
    /// Its packets are never marked.
    #[default]
    Off,
    /// It accepts ECN if the peer asks for it (Linux, `tcp_ecn` = 2, the default).
    Accept,
    /// It asks in its SYN, and accepts (Linux, `tcp_ecn` = 1).
    Request,
    /// It requests feedback that counts marks (AccECN, RFC 9768), accepts that and RFC 3168's, and
    /// falls back to the latter if the peer knows no other (Linux, `tcp_ecn` = 3).
    Accurate,
}
