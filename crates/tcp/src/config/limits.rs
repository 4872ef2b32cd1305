//! The bounds of a connection's patience.

use airtcp_units::Duration;

/// How long a connection goes on with a peer that is silent or says nothing sensible. The defaults
/// are those of Linux (`Documentation/networking/ip-sysctl.rst`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LimitsConfig {
    /// Retransmissions of a SYN (RFC 9293 §3.8.3: at least 3 minutes' worth; Linux,
    /// `tcp_syn_retries`: 6, which end after 127 s).
    pub syn_retries: u8,
    /// Retransmissions of a SYN-ACK (Linux, `tcp_synack_retries`: 5, which end after 63 s).
    pub synack_retries: u8,
    /// How long data goes unanswered before the connection is given up, as the retransmissions that
    /// would fit in while the RTO doubles from 200 ms to 120 s (RFC 9293 §3.8.3, R2: at least 100 s;
    /// Linux, `tcp_retries2`: 15, which take 924.6 s). Zero-window probes may go unanswered for as
    /// long.
    pub data_retries: u8,
    /// The same of a connection that the application has let go of (Linux, `tcp_orphan_retries`: 8,
    /// which take 102.2 s).
    pub orphan_retries: u8,
    /// The application's own bound, in place of those two where it is shorter: how long what was
    /// written may go unacknowledged, once a timer has expired, or a window stay shut (RFC 9293
    /// §3.9.1, USER TIMEOUT; Linux, `TCP_USER_TIMEOUT`).
    pub user_timeout: Option<Duration>,
    /// How long a connection that everybody has let go of stays in FIN-WAIT-2 (Linux,
    /// `tcp_fin_timeout`: 60 s).
    pub fin_timeout: Duration,
    /// The least time between two answers to segments that cannot be taken (RFC 5961 §7; Linux,
    /// `tcp_invalid_ratelimit`: 500 ms). Zero answers each.
    pub challenge_interval: Duration,
}

impl Default for LimitsConfig {
    fn default() -> Self {
        Self {
            syn_retries: 6,
            synack_retries: 5,
            data_retries: 15,
            orphan_retries: 8,
            user_timeout: None,
            fin_timeout: Duration::from_secs(60),
            challenge_interval: Duration::from_millis(500),
        }
    }
}
