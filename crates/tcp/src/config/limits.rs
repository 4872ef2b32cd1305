//! Limits on how long a connection keeps trying.

use airtcp_units::Duration;
#[cfg(feature = "schema")]
use airtcp_units::bounded::{HOUR, Limit, MINUTE, Span, Whole};

#[cfg(feature = "schema")]
use super::schema::Timeout;
use super::settings::settings;

settings! {
    /// The limits after which the connection gives up.
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    table LimitsTable of LimitsConfig {}

    /// How long a connection keeps trying when its peer is silent or sends nothing acceptable. The
    /// defaults are Linux's (`Documentation/networking/ip-sysctl.rst`).
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct LimitsConfig {
        /// Retransmissions of a SYN (RFC 9293 §3.8.3: at least 3 minutes; Linux, `tcp_syn_retries`:
        /// 6, which end after 127 s).
        syn_retries: u8 = 6, as Whole<0, 255>;
        /// How many times a SYN times out without the timeout being doubled, and how many times
        /// more it is retransmitted (Linux since 6.5, `tcp_syn_linear_timeouts`: 4).
        syn_linear_timeouts: u8 = 0, as Whole<0, 127>;
        /// Retransmissions of a SYN-ACK (Linux, `tcp_synack_retries`: 5, which end after 63 s).
        synack_retries: u8 = 5, as Whole<0, 255>;
        /// How long data may go unacknowledged before the connection is given up, expressed as the
        /// number of retransmissions that fit while the RTO doubles from 200 ms to 120 s (RFC 9293
        /// §3.8.3, R2: at least 100 s; Linux, `tcp_retries2`: 15, which take 924.6 s). Zero-window
        /// probes may go unanswered for as long.
        data_retries: u8 = 15, as Whole<0, 255>;
        /// The same for a connection that the application has closed (Linux, `tcp_orphan_retries`:
        /// 8, which take 102.2 s).
        orphan_retries: u8 = 8, as Whole<0, 255>;
        /// The application's limit, which replaces those two where it is shorter: how long written
        /// data may go unacknowledged once a timer has expired, or a window stay closed (RFC 9293
        /// §3.9.1, USER TIMEOUT; Linux, `TCP_USER_TIMEOUT`).
        user_timeout: Option<Duration> = None, as Limit<Timeout>;
        /// How long a connection that the application has closed stays in FIN-WAIT-2 (Linux,
        /// `tcp_fin_timeout`: 60 s).
        fin_timeout: Duration = Duration::from_secs(60), as Span<0, HOUR>;
        /// The least time between two answers to unacceptable segments (RFC 5961 §7; Linux,
        /// `tcp_invalid_ratelimit`: 500 ms). Zero answers each.
        challenge_interval: Duration = Duration::from_millis(500), as Span<0, MINUTE>;
    }
}
