//! Linux's `TCP_INFO` of a connection: the names used in assertions.

use airtcp_tcp::Phase;
use airtcp_tcp::{Connection, State, SynData};
use airtcp_units::{Duration, Instant};

use crate::stopwatch::Stopwatch;

/// `TCP_INFINITE_SSTHRESH`.
const INFINITE: f64 = 2_147_483_647.0;

/// Bits of `tcpi_options` (include/uapi/linux/tcp.h).
const TIMESTAMPS: f64 = 1.0;
const ECN: f64 = 8.0;
const SYN_DATA: f64 = 32.0;

/// State that the connection itself does not have.
#[derive(Debug)]
pub struct QueryContext<'a> {
    /// The time of the query.
    pub now: Instant,
    /// Time of the last data arrival.
    pub data_received_at: Instant,
    /// The MSS option of the local SYN.
    pub offered_mss: u32,
    /// Times measured from outside.
    pub stopwatch: &'a Stopwatch,
}

/// The value of `name`; `None` for an unknown name.
pub fn value(name: &str, asked: &QueryContext, connection: &Connection) -> Option<f64> {
    let now = asked.now;
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
        "tcpi_last_data_recv" => ((now - asked.data_received_at).as_nanos() / 1_000_000) as f64,
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
