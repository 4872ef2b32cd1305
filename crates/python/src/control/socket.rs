//! The sender as a control in Python sees it.

use airtcp_tcp::external::Socket;
use airtcp_units::Duration;
use pyo3::prelude::*;

use pyo3::exceptions::{PyAttributeError, PyValueError};

/// Threshold before the first loss (Linux, `TCP_INFINITE_SSTHRESH`).
const NO_THRESHOLD: u32 = 0x7fff_ffff;

/// The sender's state during a call of its control. Windows and counts are in full segments.
#[pyclass(name = "Socket", module = "airtcp._core")]
pub(crate) struct PySocket {
    pub(super) socket: Socket,
    /// The window with the fraction that the sender does not see.
    cwnd: f64,
    ssthresh: f64,
    pub(super) acked: u32,
    pub(super) losses: u32,
    pub(super) rtt: Option<Duration>,
    /// Segments delivered in an interval, and its length.
    pub(super) rate: Option<(u32, Duration)>,
    /// Whether the control sets the pacing rate.
    paces: bool,
}

#[pymethods]
impl PySocket {
    /// Now, in seconds of virtual time.
    #[getter]
    fn now_s(&self) -> f64 {
        self.socket.now.as_secs_f64()
    }

    /// The congestion window, in segments. It may be set; the sender uses its whole part.
    #[getter]
    fn cwnd(&self) -> f64 {
        self.cwnd
    }

    #[setter]
    fn set_cwnd(&mut self, segments: f64) -> PyResult<()> {
        self.cwnd = window("socket.cwnd", segments)?;
        Ok(())
    }

    /// The slow-start threshold, in segments; infinite before the first loss. It may be set.
    #[getter]
    fn ssthresh(&self) -> f64 {
        self.ssthresh
    }

    #[setter]
    fn set_ssthresh(&mut self, segments: f64) -> PyResult<()> {
        self.ssthresh = match segments {
            f64::INFINITY => segments,
            _ => window("socket.ssthresh", segments)?,
        };
        Ok(())
    }

    /// The pacing rate, in bit/s. A control with `paces` may set it; infinite before it does.
    #[getter]
    fn pacing_bps(&self) -> f64 {
        match self.socket.pacing_rate {
            u64::MAX => f64::INFINITY,
            bytes => float(bytes) * 8.0,
        }
    }

    #[setter]
    fn set_pacing_bps(&mut self, rate: f64) -> PyResult<()> {
        if rate.is_nan() || rate <= 0.0 {
            let text = format!("socket.pacing_bps = {rate}: expected a rate above 0 bit/s");
            return Err(PyValueError::new_err(text));
        }
        if !self.paces {
            let text = format!(
                "socket.pacing_bps = {rate}: without `paces = True` in its class a control sets \
                 no rate; add that, and set socket.cwnd at every acknowledgment, too"
            );
            return Err(PyAttributeError::new_err(text));
        }
        self.socket.pacing_rate = match rate {
            f64::INFINITY => u64::MAX,
            _ => whole(rate / 8.0).max(1),
        };
        Ok(())
    }

    /// Segments newly acknowledged.
    #[getter]
    fn acked(&self) -> u32 {
        self.acked
    }

    /// Segments newly presumed lost, in a control with `paces`; otherwise 0.
    #[getter]
    fn losses(&self) -> u32 {
        self.losses
    }

    /// The latest round trip, in seconds; `None` if the acknowledgment gave no sample.
    #[getter]
    fn rtt_s(&self) -> Option<f64> {
        self.rtt.map(Duration::as_secs_f64)
    }

    /// The smoothed round trip, in seconds; 0 before the first sample.
    #[getter]
    fn srtt_s(&self) -> f64 {
        self.socket.srtt.as_secs_f64()
    }

    /// The least round trip of the connection, in seconds; 0 before the first sample.
    #[getter]
    fn min_rtt_s(&self) -> f64 {
        self.socket.min_rtt.as_secs_f64()
    }

    /// The delivery rate, in bit/s, in a control with `paces`; `None` if the interval is too short.
    #[getter]
    fn delivery_bps(&self) -> Option<f64> {
        let (segments, interval) = self.rate?;
        let bits = f64::from(segments) * f64::from(self.socket.mss) * 8.0;
        Some(bits / interval.as_secs_f64())
    }

    /// Segments sent, and neither acknowledged nor presumed lost (RFC 6675, "pipe").
    #[getter]
    fn in_flight(&self) -> u32 {
        let socket = &self.socket;
        let gone = socket.sacked.saturating_add(socket.lost);
        socket
            .outstanding
            .saturating_sub(gone)
            .saturating_add(socket.resent)
    }

    /// Segments delivered since the start.
    #[getter]
    fn delivered(&self) -> u32 {
        self.socket.delivered
    }

    /// Segments presumed lost since the start.
    #[getter(lost)]
    fn lost_in_all(&self) -> u32 {
        self.socket.lost_in_all
    }

    /// Segments delivered with a congestion mark since the start.
    #[getter]
    fn marked(&self) -> u32 {
        self.socket.marked
    }

    /// The window before the last reduction, in segments.
    #[getter]
    fn prior_cwnd(&self) -> u32 {
        self.socket.prior.0
    }

    /// Payload of a full segment, in bytes.
    #[getter]
    fn mss(&self) -> u32 {
        self.socket.mss
    }

    /// Whether the window limits the sender, and may therefore grow (Linux,
    /// `tcp_is_cwnd_limited`).
    #[getter]
    fn is_window_limited(&self) -> bool {
        let socket = &self.socket;
        socket.is_cwnd_limited
            || (socket.cwnd < socket.ssthresh
                && socket.cwnd < socket.most_outstanding.saturating_mul(2))
    }

    fn __repr__(&self) -> String {
        format!("<Socket cwnd={} at {} s>", self.cwnd, self.now_s())
    }
}

impl PySocket {
    pub(super) fn new(paces: bool) -> Self {
        Self {
            paces,
            socket: Socket::default(),
            cwnd: 0.0,
            ssthresh: f64::INFINITY,
            acked: 0,
            losses: 0,
            rtt: None,
            rate: None,
        }
    }

    /// Takes the sender's state before a call. The fraction of the window is kept while its whole
    /// part is unchanged.
    pub(super) fn show(&mut self, socket: &Socket) {
        if clipped(self.cwnd) != socket.cwnd {
            self.cwnd = f64::from(socket.cwnd);
        }
        if threshold(self.ssthresh) != socket.ssthresh {
            self.ssthresh = match socket.ssthresh {
                NO_THRESHOLD.. => f64::INFINITY,
                segments => f64::from(segments),
            };
        }
        self.socket = *socket;
    }

    /// Gives the sender the control's changes.
    pub(super) fn give_back(&self, socket: &mut Socket) {
        socket.cwnd = clipped(self.cwnd);
        socket.ssthresh = threshold(self.ssthresh);
        socket.pacing_rate = self.socket.pacing_rate;
    }
}

/// A window in segments that a control has given. Less than one is no window; the sender counts it.
pub(super) fn window(name: &str, segments: f64) -> PyResult<f64> {
    if segments.is_finite() && segments >= 0.0 {
        return Ok(segments);
    }
    let text = format!("{name} = {segments}: expected a window in segments, from 1 on");
    Err(PyValueError::new_err(text))
}

/// The whole part of a window.
pub(super) fn clipped(segments: f64) -> u32 {
    u32::try_from(whole(segments)).map_or(NO_THRESHOLD - 1, |value| value.min(NO_THRESHOLD - 1))
}

fn threshold(segments: f64) -> u32 {
    match segments {
        f64::INFINITY => NO_THRESHOLD,
        _ => clipped(segments),
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the whole part is wanted, and no value is negative"
)]
const fn whole(value: f64) -> u64 {
    value as u64
}

#[expect(clippy::cast_precision_loss, reason = "a rate for a reader")]
const fn float(value: u64) -> f64 {
    value as f64
}
