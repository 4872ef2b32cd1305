//! A line for each connection in the format of `ss -ti` (ss(8)).

use std::fmt::Write as _;
use std::time::Duration;

use airtcp_endpoint::{Endpoint, FourTuple, Options, Stream};
use airtcp_units::Instant;

/// Interval between the lines.
const EVERY: Duration = Duration::from_secs(1);

/// Prints a line for each connection once a second, if requested.
#[derive(Debug)]
pub(super) struct Stats {
    next: Option<Instant>,
    congestion: String,
}

impl Stats {
    /// `wanted`: whether lines are printed, for connections with these options.
    pub fn new(wanted: bool, options: &Options, now: Instant) -> Self {
        Self {
            next: wanted.then_some(now),
            congestion: format!("{:?}", options.config.congestion).to_lowercase(),
        }
    }

    /// Time of the next lines; [`Instant::FAR_FUTURE`] for never.
    pub fn due(&self) -> Instant {
        self.next.unwrap_or(Instant::FAR_FUTURE)
    }

    /// Prints the lines if they are due.
    pub fn print(&mut self, now: Instant, endpoint: &Endpoint) {
        if self.due() > now {
            return;
        }
        let every = airtcp_units::Duration::from_nanos(EVERY.as_nanos() as u64);
        self.next = Some(now + every);
        for (_, tuple, stream) in endpoint.connections() {
            eprintln!("{}", line(&self.congestion, tuple, stream));
        }
    }
}

/// A connection in the format of `ss -ti`, in one line.
fn line(congestion: &str, tuple: FourTuple, stream: &Stream) -> String {
    let connection = stream.connection();
    let (sender, receiver) = (connection.sender(), connection.receiver());
    let counters = sender.counters();
    let (rtt, mss) = (sender.rtt(), sender.mss().max(1));
    let millis = |duration: airtcp_units::Duration| duration.as_nanos() as f64 / 1e6;
    let mut line = format!(
        "{:?} {} {} {} {} {congestion} rto:{:.0}",
        connection.state(),
        stream.available(),
        stream.unacknowledged(),
        tuple.local,
        tuple.remote,
        millis(sender.rto())
    );
    if let (Some(srtt), Some(rttvar)) = (rtt.srtt(), rtt.rttvar()) {
        let _ = write!(line, " rtt:{:.3}/{:.3}", millis(srtt), millis(rttvar));
    }
    let _ = write!(line, " mss:{mss} cwnd:{}", sender.cwnd() / mss);
    if let Some(ssthresh) = sender.ssthresh() {
        let _ = write!(line, " ssthresh:{}", ssthresh / mss);
    }
    let sent = sender.nxt() + counters.bytes_retransmitted;
    let _ = write!(line, " bytes_sent:{sent}");
    if counters.bytes_retransmitted > 0 {
        let _ = write!(line, " bytes_retrans:{}", counters.bytes_retransmitted);
    }
    let _ = write!(
        line,
        " bytes_acked:{} bytes_received:{} data_segs_out:{}",
        sender.una(),
        receiver.received(),
        counters.segments_sent
    );
    if let Some(srtt) = rtt.srtt().filter(|srtt| srtt.as_nanos() > 0) {
        let rate = sender.cwnd() as f64 * 8.0 / srtt.as_secs_f64();
        let _ = write!(line, " send {rate:.0}bps");
    }
    let board = sender.scoreboard();
    let _ = write!(line, " unacked:{}", board.len());
    if counters.segments_retransmitted > 0 {
        let now = board.resent() / mss;
        let _ = write!(line, " retrans:{now}/{}", counters.segments_retransmitted);
    }
    for (name, bytes) in [("lost", board.lost()), ("sacked", board.sacked())] {
        if bytes > 0 {
            let _ = write!(line, " {name}:{}", bytes / mss);
        }
    }
    if counters.recoveries_taken_back > 0 {
        let _ = write!(line, " undone:{}", counters.recoveries_taken_back);
    }
    line
}
