//! `TCP_INFO` in the layout of `struct tcp_info` (include/uapi/linux/tcp.h).

use airtcp_script::tcp_info::{QueryContext, value};
use airtcp_tcp::Connection;

/// The shortest `struct tcp_info` that packetdrill reads.
const BYTES: usize = 296;

/// Names, offsets in the structure, and sizes in bytes.
const FIELDS: [(&str, usize, usize); 31] = [
    ("tcpi_state", 0, 1),
    ("tcpi_ca_state", 1, 1),
    ("tcpi_backoff", 4, 1),
    ("tcpi_options", 5, 1),
    ("tcpi_rto", 8, 4),
    ("tcpi_snd_mss", 16, 4),
    ("tcpi_unacked", 24, 4),
    ("tcpi_sacked", 28, 4),
    ("tcpi_lost", 32, 4),
    ("tcpi_retrans", 36, 4),
    ("tcpi_last_data_sent", 44, 4),
    ("tcpi_last_data_recv", 52, 4),
    ("tcpi_rtt", 68, 4),
    ("tcpi_rttvar", 72, 4),
    ("tcpi_snd_ssthresh", 76, 4),
    ("tcpi_snd_cwnd", 80, 4),
    ("tcpi_advmss", 84, 4),
    ("tcpi_reordering", 88, 4),
    ("tcpi_total_retrans", 100, 4),
    ("tcpi_bytes_acked", 120, 8),
    ("tcpi_bytes_received", 128, 8),
    ("tcpi_notsent_bytes", 144, 4),
    ("tcpi_min_rtt", 148, 4),
    ("tcpi_data_segs_out", 156, 4),
    ("tcpi_busy_time", 168, 8),
    ("tcpi_rwnd_limited", 176, 8),
    ("tcpi_delivered", 192, 4),
    ("tcpi_bytes_sent", 200, 8),
    ("tcpi_bytes_retrans", 208, 8),
    ("tcpi_dsack_dups", 216, 4),
    ("tcpi_reord_seen", 220, 4),
];

/// The structure's bytes; values that the endpoint lacks are zero.
pub fn bytes(asked: &QueryContext<'_>, connection: &Connection) -> Vec<u8> {
    let mut bytes = vec![0; BYTES];
    for (name, at, length) in FIELDS {
        let number = value(name, asked, connection).unwrap_or(0.0) as u64;
        bytes[at..at + length].copy_from_slice(&number.to_ne_bytes()[..length]);
    }
    bytes
}
