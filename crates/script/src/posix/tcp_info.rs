//! Linux's `TCP_INFO` of a connection: by the names used in assertions, and in the layout of
//! `struct tcp_info` (include/uapi/linux/tcp.h).

use airtcp_endpoint::ConnectionId;
use airtcp_tcp::{Connection, Phase, State, SynData};
use airtcp_units::{Duration, Instant};

use super::stopwatch::Stopwatch;
use super::table::{Sockets, System};

/// `TCP_INFINITE_SSTHRESH`.
const INFINITE: f64 = 2_147_483_647.0;

/// Bits of `tcpi_options` (include/uapi/linux/tcp.h).
const TIMESTAMPS: f64 = 1.0;
const ECN: f64 = 8.0;
const SYN_DATA: f64 = 32.0;

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

/// `TCP_INFO` of a connection.
#[derive(Debug)]
pub struct Info<'a> {
    now: Instant,
    /// Time of the last arrival.
    received_at: Instant,
    /// The MSS option of the local SYN.
    offered_mss: u32,
    /// Times measured from outside.
    stopwatch: &'a Stopwatch,
    connection: &'a Connection,
}

impl<S: System> Sockets<S> {
    /// The state of a connection, once it was [looked at](Sockets::look).
    #[must_use]
    pub fn tcp_info(&self, id: ConnectionId) -> Option<Info<'_>> {
        let observed = self.observed(id)?;
        let ends = self.endpoint.tuple(id)?;
        let wanted = self.socket_of(id).and_then(|socket| socket.wanted_mss);
        Some(Info {
            now: self.now,
            received_at: observed.received_at,
            offered_mss: self.offered_mss(ends.local.is_ipv6(), wanted),
            stopwatch: &observed.stopwatch,
            connection: self.endpoint.stream(id)?.connection(),
        })
    }
}

impl Info<'_> {
    /// The structure's bytes; values that the endpoint lacks are zero.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        let mut bytes = vec![0; BYTES];
        for (name, at, length) in FIELDS {
            let number = self.value(name).unwrap_or(0.0) as u64;
            bytes[at..at + length].copy_from_slice(&number.to_ne_bytes()[..length]);
        }
        bytes
    }

    /// The value of a field or constant; `None` for an unknown name.
    #[must_use]
    pub fn value(&self, name: &str) -> Option<f64> {
        value(name, self)
    }
}

/// The value of `name`; `None` for an unknown name.
fn value(name: &str, asked: &Info<'_>) -> Option<f64> {
    let (now, connection) = (asked.now, asked.connection);
    let sender = connection.sender();
    let board = sender.scoreboard();
    let mss = sender.mss().max(1);
    let micros = |time: Duration| (time.as_nanos() / 1000) as f64;
    let count = |wanted: &dyn Fn(&airtcp_tcp::SentSegment) -> bool| {
        board.iter().filter(|segment| wanted(segment)).count() as f64
    };
    Some(match name {
        "tcpi_snd_cwnd" => (sender.cwnd() / mss) as f64,
        "tcpi_snd_ssthresh" => sender
            .ssthresh()
            .map_or(INFINITE, |bytes| (bytes / mss) as f64),
        "tcpi_unacked" => board.len() as f64,
        "tcpi_sacked" => count(&|segment| segment.is_sacked()),
        "tcpi_lost" => count(&|segment| segment.is_lost()),
        "tcpi_retrans" => count(&|segment| segment.is_resent()),
        "tcpi_ca_state" => match sender.phase() {
            Phase::Open if sender.is_reduced_for_mark() => 2.0,
            Phase::Open if board.sacked() > 0 => 1.0,
            Phase::Open => 0.0,
            Phase::FastRecovery(_) => 3.0,
            Phase::Timeout { .. } => 4.0,
        },
        "TCP_CA_Open" => 0.0,
        "TCP_CA_Disorder" => 1.0,
        "TCP_CA_CWR" => 2.0,
        "TCP_CA_Recovery" => 3.0,
        "TCP_CA_Loss" => 4.0,
        "tcpi_options" => options(connection),
        "TCPI_OPT_TIMESTAMPS" => TIMESTAMPS,
        "TCPI_OPT_ECN" => ECN,
        "TCPI_OPT_SYN_DATA" => SYN_DATA,
        "tcpi_delivered" => delivered(connection) as f64,
        "tcpi_rto" => micros(sender.rto()),
        "tcpi_rtt" => micros(sender.rtt().srtt().unwrap_or(Duration::ZERO)),
        "tcpi_rttvar" => micros(sender.rtt().rttvar().unwrap_or(Duration::ZERO)),
        "tcpi_min_rtt" => micros(sender.rtt().minimum().unwrap_or(Duration::ZERO)),
        "tcpi_backoff" => f64::from(sender.back_off()),
        "tcpi_total_retrans" => sender.counters().segments_retransmitted as f64,
        "tcpi_bytes_retrans" => sender.counters().bytes_retransmitted as f64,
        "tcpi_data_segs_out" => sender.counters().segments_sent as f64,
        "tcpi_bytes_acked" => sender.una() as f64,
        "tcpi_bytes_received" => connection.receiver().received() as f64,
        "tcpi_notsent_bytes" => (sender.written() - sender.nxt().min(sender.written())) as f64,
        "tcpi_reordering" => f64::from(sender.reordering()),
        "tcpi_reord_seen" => f64::from(sender.reorderings_seen()),
        "tcpi_snd_mss" => mss as f64,
        "tcpi_advmss" => f64::from(asked.offered_mss),
        "tcpi_busy_time" => micros(asked.stopwatch.busy(now)),
        "tcpi_rwnd_limited" => micros(asked.stopwatch.waiting_for_window(now)),
        "tcpi_last_data_sent" => {
            let last = sender.last_sent_at().unwrap_or_default();
            ((now - last).as_nanos() / 1_000_000) as f64
        }
        "tcpi_last_data_recv" => ((now - asked.received_at).as_nanos() / 1_000_000) as f64,
        "tcpi_state" => match connection.state() {
            State::Established => 1.0,
            State::SynSent => 2.0,
            State::SynReceived => 3.0,
            State::FinWait1 => 4.0,
            State::FinWait2 => 5.0,
            State::TimeWait => 6.0,
            State::Closed => 7.0,
            State::CloseWait => 8.0,
            State::LastAck => 9.0,
            State::Listen => 10.0,
            State::Closing => 11.0,
        },
        "TCP_ESTABLISHED" => 1.0,
        "TCP_SYN_SENT" => 2.0,
        "TCP_SYN_RECV" => 3.0,
        "TCP_FIN_WAIT1" => 4.0,
        "TCP_FIN_WAIT2" => 5.0,
        "TCP_TIME_WAIT" => 6.0,
        "TCP_CLOSE" => 7.0,
        "TCP_CLOSE_WAIT" => 8.0,
        "TCP_LAST_ACK" => 9.0,
        "TCP_CLOSING" => 11.0,
        "TCP_INFINITE_SSTHRESH" => INFINITE,
        "True" => 1.0,
        "False" => 0.0,
        _ => return None,
    })
}

/// The bits of `tcpi_options`, except for window scaling and SACK.
fn options(connection: &Connection) -> f64 {
    let bits = [
        (connection.recent_timestamp().is_some(), TIMESTAMPS),
        (connection.has_ecn(), ECN),
        (connection.syn_data() == SynData::Accepted, SYN_DATA),
    ];
    bits.iter()
        .filter_map(|&(is_set, bit)| is_set.then_some(bit))
        .sum()
}

/// Segments known to have arrived, including the SYN: transmitted ones that are neither outstanding
/// without a SACK nor copies (Linux, `tcp_sock.delivered`).
fn delivered(connection: &Connection) -> u64 {
    if !connection.is_synchronized() {
        return 0;
    }
    let counters = connection.sender().counters();
    let board = connection.sender().scoreboard();
    let waiting = board.iter().filter(|segment| !segment.is_sacked()).count() as u64;
    let fresh = counters.segments_sent - counters.segments_retransmitted;
    1 + fresh.saturating_sub(waiting)
}
