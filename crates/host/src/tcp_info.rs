//! The kernel's information on a connection (`TCP_INFO`), and the pacing of a socket.

use std::mem::size_of;
use std::os::fd::{AsFd, AsRawFd};

use crate::error::{Result, Tried};

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
    let mut info = std::mem::MaybeUninit::<libc::tcp_info>::zeroed();
    let mut length = size_of::<libc::tcp_info>() as libc::socklen_t;
    // SAFETY: the kernel writes at most `length` bytes into `info`, whose fields are all integers,
    // for which every bit pattern, zero included, is valid.
    #[expect(unsafe_code, reason = "no library of ours wraps TCP_INFO")]
    let (result, info) = unsafe {
        let result = libc::getsockopt(
            socket.as_fd().as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            info.as_mut_ptr().cast(),
            &raw mut length,
        );
        (result, info.assume_init())
    };
    if result != 0 {
        return Err(std::io::Error::last_os_error())
            .tried(|| "cannot ask the kernel about the connection".to_owned());
    }
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
    // SAFETY: the kernel reads the eight bytes of `rate`.
    #[expect(unsafe_code, reason = "no library of ours wraps SO_MAX_PACING_RATE")]
    let result = unsafe {
        libc::setsockopt(
            socket.as_fd().as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_MAX_PACING_RATE,
            (&raw const rate).cast(),
            size_of::<u64>() as libc::socklen_t,
        )
    };
    if result == 0 {
        Ok(())
    } else {
        Err(std::io::Error::last_os_error())
    }
}
