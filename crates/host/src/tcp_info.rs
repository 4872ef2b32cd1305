//! The kernel's information on a connection (`TCP_INFO`), and the pacing of a socket.

use std::os::fd::AsFd;

use crate::error::{Result, Tried};
use crate::socket_option;

/// A part of `TCP_INFO`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpInfo {
    /// The smoothed round trip, in microseconds.
    pub srtt_us: u32,
    /// Its mean deviation, in microseconds.
    pub rttvar_us: u32,
    /// The minimum round trip, in microseconds.
    pub least_rtt_us: u32,
    /// The receiver's round-trip estimate, in microseconds.
    pub receiver_rtt_us: u32,
    /// Segments retransmitted so far.
    pub retransmissions: u32,
    /// The congestion window, in segments.
    pub cwnd: u32,
    /// The payload of a full segment, in bytes.
    pub mss: u32,
    /// The delivery rate, in bytes per second: the last sample over a round trip that the
    /// application did not limit. Zero before the first.
    pub delivery_rate: u64,
}

/// Asks the kernel about a connection.
///
/// # Errors
///
/// The socket is not a TCP socket.
pub fn tcp_info(socket: &impl AsFd) -> Result<TcpInfo> {
    let info: libc::tcp_info = socket_option::get(socket, libc::IPPROTO_TCP, libc::TCP_INFO)
        .tried(|| "cannot ask the kernel about the connection".to_owned())?;
    Ok(TcpInfo {
        srtt_us: info.tcpi_rtt,
        rttvar_us: info.tcpi_rttvar,
        least_rtt_us: info.tcpi_min_rtt,
        receiver_rtt_us: info.tcpi_rcv_rtt,
        retransmissions: info.tcpi_total_retrans,
        cwnd: info.tcpi_snd_cwnd,
        mss: info.tcpi_snd_mss,
        delivery_rate: info.tcpi_delivery_rate,
    })
}

/// Makes the kernel pace a socket at the rate of its congestion control: a limit above any rate
/// enables the kernel's pacing (`SO_MAX_PACING_RATE`, `sk_pacing_status`).
///
/// # Errors
///
/// The kernel refuses the option.
pub fn pace(socket: &impl AsFd) -> std::io::Result<()> {
    let rate = u64::MAX - 1;
    socket_option::set(socket, libc::SOL_SOCKET, libc::SO_MAX_PACING_RATE, &rate)
}
