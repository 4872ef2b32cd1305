//! Names of the contents of flows, and of their directions.

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
    /// Real-time media at a rate that follows the path (SCReAM, RFC 8298).
    Scream,
}

/// Probes under load, to measure the link as others see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Companion {
    /// An echo request every 100 ms.
    Ping,
    /// A new connection every 100 ms: handshake, TLS, one small request and its answer.
    Exchange,
    /// Voice both ways: 50 packets a second each.
    Call,
    /// A download of 30 kB over a new connection every second.
    ShortFlow,
    /// A page every five seconds.
    Page,
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

/// Declares code points of differentiated services: name and number.
macro_rules! code_points {
    ($($(#[$doc:meta])* $Row:ident = $text:literal => $number:literal,)+) => {
        /// A code point of differentiated services (RFC 2474), by the name of its class.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
        pub enum CodePoint {
            $($(#[$doc])* #[serde(rename = $text)] $Row,)+
        }

        impl CodePoint {
            /// Its six bits.
            pub const fn number(self) -> u8 {
                match self {
                    $(Self::$Row => $number,)+
                }
            }
        }
    };
}

code_points! {
    /// Default forwarding.
    Cs0 = "CS0" => 0,
    /// Lower effort (RFC 8622).
    Le = "LE" => 1,
    /// Class selector 1.
    Cs1 = "CS1" => 8,
    /// Assured forwarding class 1, drop precedence 1 (RFC 2597).
    Af11 = "AF11" => 10,
    /// Assured forwarding class 1, drop precedence 2 (RFC 2597).
    Af12 = "AF12" => 12,
    /// Assured forwarding class 1, drop precedence 3 (RFC 2597).
    Af13 = "AF13" => 14,
    /// Class selector 2.
    Cs2 = "CS2" => 16,
    /// Assured forwarding class 2, drop precedence 1 (RFC 2597).
    Af21 = "AF21" => 18,
    /// Assured forwarding class 2, drop precedence 2 (RFC 2597).
    Af22 = "AF22" => 20,
    /// Assured forwarding class 2, drop precedence 3 (RFC 2597).
    Af23 = "AF23" => 22,
    /// Class selector 3.
    Cs3 = "CS3" => 24,
    /// Assured forwarding class 3, drop precedence 1 (RFC 2597).
    Af31 = "AF31" => 26,
    /// Assured forwarding class 3, drop precedence 2 (RFC 2597).
    Af32 = "AF32" => 28,
    /// Assured forwarding class 3, drop precedence 3 (RFC 2597).
    Af33 = "AF33" => 30,
    /// Class selector 4.
    Cs4 = "CS4" => 32,
    /// Assured forwarding class 4, drop precedence 1 (RFC 2597).
    Af41 = "AF41" => 34,
    /// Assured forwarding class 4, drop precedence 2 (RFC 2597).
    Af42 = "AF42" => 36,
    /// Assured forwarding class 4, drop precedence 3 (RFC 2597).
    Af43 = "AF43" => 38,
    /// Class selector 5.
    Cs5 = "CS5" => 40,
    /// Voice with admission control (RFC 5865).
    Va = "VA" => 44,
    /// Telephony (RFC 3246).
    Ef = "EF" => 46,
    /// Class selector 6.
    Cs6 = "CS6" => 48,
    /// Class selector 7.
    Cs7 = "CS7" => 56,
}
