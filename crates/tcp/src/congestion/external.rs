//! A control that is not compiled in, and the socket that it saw last.

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::string::String;

use airtcp_units::{BitRate, Duration};

use super::windows::Windows;
use super::{Congestion, Control};
use crate::external::{Call, DeliverySample, Operations, Socket, State, WindowEvent, Zeros};

/// Linux's threshold before the first loss (`TCP_INFINITE_SSTHRESH`).
const NO_THRESHOLD: u32 = 0x7fff_ffff;

/// A control that is not compiled in.
#[derive(Debug)]
pub struct External {
    operations: Box<dyn Operations>,
    socket: Socket,
    is_initialized: bool,
    is_released: bool,
    is_seeded: bool,
    /// Least burst of a model, in segments.
    least_burst: u64,
    /// Bytes acknowledged that are not yet a whole segment.
    carry: u64,
    /// The delivery sample of the acknowledgment being processed.
    delivered: DeliverySample,
    /// Bytes delivered with a congestion mark since the start.
    marked: u64,
    /// Segments delivered, and of these marked, wherever a delivery was marked: as far back as the
    /// next sample may begin.
    marks: VecDeque<(u32, u32)>,
    /// Segments sent when the last reduction began.
    sent_before: u64,
    zeros: Zeros,
    /// Why the control was stopped: then it is no longer called.
    fault: Option<String>,
}

impl Clone for External {
    fn clone(&self) -> Self {
        Self {
            operations: self.operations.boxed(),
            fault: self.fault.clone(),
            marks: self.marks.clone(),
            ..*self
        }
    }
}

impl External {
    /// Creates it before the connection is established; `paced`: whatever it asks for.
    #[must_use]
    pub fn new(operations: Box<dyn Operations>, paced: bool) -> Self {
        Self {
            operations,
            socket: Socket {
                // A pace that nobody has set bounds nothing (Linux, `sock_init_data`).
                pacing_rate: u64::MAX,
                paced,
                ..Socket::default()
            },
            is_initialized: false,
            is_released: false,
            is_seeded: false,
            least_burst: 2,
            carry: 0,
            delivered: DeliverySample::default(),
            marked: 0,
            marks: VecDeque::new(),
            sent_before: 0,
            zeros: Zeros::default(),
            fault: None,
        }
    }

    /// The control.
    #[must_use]
    pub fn operations(&self) -> &dyn Operations {
        &*self.operations
    }

    /// Why the control was stopped, if it was.
    #[must_use]
    pub fn fault(&self) -> Option<&str> {
        self.fault.as_deref()
    }

    /// How often it set a window or threshold of no segment.
    #[must_use]
    pub const fn zeros(&self) -> Zeros {
        self.zeros
    }

    /// Whether the control asks for pacing.
    #[must_use]
    pub const fn is_paced(&self) -> bool {
        self.socket.paced
    }

    /// The sender as it was shown last.
    #[must_use]
    pub(crate) const fn socket(&self) -> &Socket {
        &self.socket
    }

    /// Whether the control draws random numbers.
    #[must_use]
    pub const fn is_seeded(&self) -> bool {
        self.is_seeded
    }

    /// Seeds its random numbers.
    pub fn seed(&mut self, seed: u64) {
        self.is_seeded = true;
        self.operations.seed(seed);
    }

    /// Passes the sender's state to the control, and initializes it the first time. The control's
    /// private state is kept.
    pub(super) fn show(&mut self, socket: Socket, windows: &mut Windows) {
        let kept = self.socket;
        self.socket = Socket {
            state: kept.state,
            prior: kept.prior,
            reduced: match kept.state {
                State::ReducedForMark | State::Recovery => {
                    let sent = socket.segments_sent - self.sent_before;
                    (kept.reduced.0, low(sent))
                }
                _ => kept.reduced,
            },
            pacing_rate: if self.operations.is_model() {
                kept.pacing_rate
            } else {
                socket.pacing_rate
            },
            paced: kept.paced || socket.paced,
            marked: segments(self.marked, windows.mss),
            cwnd_clamp: Self::clamp(windows),
            ..socket
        };
        if !self.is_initialized {
            self.is_initialized = true;
            self.call(Call::Init, windows);
            self.ask_for_burst(windows);
        }
    }

    /// Calls the control, and takes over the windows that it has changed.
    pub(super) fn call(&mut self, call: Call<'_>, windows: &mut Windows) -> Option<u64> {
        if self.fault.is_some() || self.is_released {
            return None;
        }
        self.socket.cwnd = segments(windows.cwnd, windows.mss);
        self.socket.ssthresh = match windows.ssthresh {
            u64::MAX => NO_THRESHOLD,
            bytes => segments(bytes, windows.mss),
        };
        let before = (self.socket.cwnd, self.socket.ssthresh);
        let returned = self.operations.call(call, &mut self.socket);
        let returned = match returned {
            Ok(returned) => returned,
            Err(fault) => {
                self.fault = Some(fault);
                return None;
            }
        };
        // Between two values of the control's a window need not be a multiple of a segment.
        if self.socket.cwnd != before.0 {
            self.zeros.windows += u64::from(self.socket.cwnd == 0);
            let bytes = u64::from(self.socket.cwnd.max(1)) * windows.mss;
            windows.cwnd = bytes.min(windows.max);
        }
        if self.socket.ssthresh != before.1 {
            self.zeros.thresholds += u64::from(self.socket.ssthresh == 0);
            windows.ssthresh = threshold_bytes(self.socket.ssthresh, windows.mss);
        }
        returned
    }

    /// Notifies the control of the end of its connection (Linux,
    /// `tcp_cleanup_congestion_control`); it is not called again.
    pub(super) fn release(&mut self, windows: &mut Windows) {
        if self.is_initialized {
            self.call(Call::Release, windows);
        }
        self.is_released = true;
    }

    /// Notifies the control of a change of state, if there is one.
    pub(super) fn set_state(&mut self, state: State, windows: &mut Windows) {
        if self.socket.state != state {
            self.call(Call::SetState(state), windows);
            self.socket.state = state;
        }
    }

    /// The last state reported to the control.
    #[must_use]
    pub const fn state(&self) -> State {
        self.socket.state
    }

    /// Lets the control grow the window for `bytes` acknowledged; a model has set it already.
    pub(super) fn on_acknowledged(&mut self, bytes: u64, windows: &mut Windows) {
        if self.is_model() {
            return;
        }
        self.carry += bytes;
        let whole = self.carry / windows.mss;
        self.carry %= windows.mss;
        if whole > 0 {
            let acked = u32::try_from(whole).unwrap_or(u32::MAX);
            self.call(Call::Grow(acked), windows);
        }
    }

    /// Stores the data delivered by an acknowledgment, and how many bytes of it carried a mark;
    /// `total`: segments delivered since the start.
    pub(crate) fn on_delivery(&mut self, delivered: DeliverySample, marked: u64, total: u32) {
        if let State::ReducedForMark | State::Recovery = self.socket.state
            && !self.is_model()
        {
            // Linux, `tcp_cwnd_reduction`: after the calls of an acknowledgment.
            self.socket.reduced.0 += self.delivered.acked;
        }
        self.delivered = delivered;
        self.marked += marked;
        if marked > 0 {
            if self.marks.is_empty() {
                self.marks.push_back((0, 0));
            }
            let marked = segments(self.marked, u64::from(self.socket.mss));
            self.marks.push_back((total, marked));
        }
        self.delivered.marked = self.marked_since(delivered.prior.1);
    }

    /// Segments delivered with a mark since `prior` were delivered, and before.
    fn marked_since(&mut self, prior: u32) -> (u32, u32) {
        // Samples begin ever later: what the next one cannot reach is dropped. That of a
        // retransmission may begin earlier, and then counts from the oldest that is kept.
        while self.marks.get(1).is_some_and(|next| next.0 <= prior) {
            self.marks.pop_front();
        }
        let (_, before) = self.marks.front().copied().unwrap_or_default();
        let (_, all) = self.marks.back().copied().unwrap_or_default();
        (all - before, before)
    }

    /// Lets a model set the window, when this many segments were newly presumed lost.
    pub(super) fn control(&mut self, losses: u32, windows: &mut Windows) {
        let delivered = core::mem::take(&mut self.delivered);
        let sample = DeliverySample {
            losses,
            ..delivered
        };
        self.call(Call::Control(&sample), windows);
        self.ask_for_burst(windows);
    }

    /// Sets a model's pacing rate, and lets it set the window.
    pub(super) fn set_pace(&mut self, rate: BitRate, windows: &mut Windows) {
        self.socket.pacing_rate = rate.as_bps() / 8;
        self.call(Call::Control(&DeliverySample::default()), windows);
    }

    fn ask_for_burst(&mut self, windows: &mut Windows) {
        if self.operations.is_model()
            && let Some(burst) = self.call(Call::LeastBurst, windows)
        {
            self.least_burst = u64::from(low(burst)).max(1);
        }
    }

    /// Whether the control sets the window itself at every acknowledgment.
    #[must_use]
    pub fn is_model(&self) -> bool {
        self.operations.is_model()
    }

    /// Sets the threshold after a loss or a mark (Linux, `tcp_init_cwnd_reduction`).
    pub(super) fn reduce(&mut self, windows: &mut Windows) {
        self.socket.prior = (
            segments(windows.cwnd, windows.mss),
            segments(windows.ssthresh, windows.mss),
        );
        self.socket.reduced = (0, 0);
        self.sent_before = self.socket.segments_sent;
        self.carry = 0;
        if let Some(threshold) = self.call(Call::Threshold, windows) {
            self.zeros.thresholds += u64::from(low(threshold) == 0);
            windows.ssthresh = threshold_bytes(low(threshold), windows.mss);
        }
    }

    /// The first expiry of the timer for this data (Linux, `tcp_enter_loss`). Whoever gives up the
    /// data sets the window.
    pub(super) fn on_timeout(&mut self, windows: &mut Windows) {
        self.reduce(windows);
        self.call(Call::Event(WindowEvent::Loss), windows);
    }

    /// Sets the window after a needless reduction.
    pub(super) fn undo(&mut self, windows: &mut Windows) {
        if let Some(cwnd) = self.call(Call::Undo, windows) {
            self.zeros.windows += u64::from(low(cwnd) == 0);
            windows.set(u64::from(low(cwnd).max(1)) * windows.mss);
        }
    }

    /// The pacing rate, and the least burst in segments.
    pub(super) fn pace(
        &self,
        srtt: Option<Duration>,
        outstanding: u64,
        windows: &Windows,
    ) -> (BitRate, u64) {
        if self.is_model() {
            let rate = BitRate::from_bps(self.socket.pacing_rate.saturating_mul(8));
            return (rate, self.least_burst);
        }
        // Linux, `tcp_init_congestion_control`: a millisecond where nothing is known.
        let srtt = srtt.unwrap_or(Duration::from_millis(1));
        (windows.rate(windows.cwnd.max(outstanding), srtt, 120), 2)
    }

    /// The window's upper bound, in segments.
    fn clamp(windows: &Windows) -> u32 {
        match windows.max {
            u64::MAX => u32::MAX,
            bytes => segments(bytes, windows.mss),
        }
    }
}

/// A connection's access to a control that is not compiled in.
impl Congestion {
    /// Multiplies the window, or during a repair the threshold, by `factor`, at least one segment.
    /// Returns whether it does; a model's window is not changed.
    pub(crate) fn scale(&mut self, factor: f64, repairs: bool) -> bool {
        if !self.has_threshold() {
            return false;
        }
        let windows = &mut self.windows;
        let segments = if repairs {
            windows.ssthresh / windows.mss
        } else {
            windows.cwnd / windows.mss
        };
        // A factor of one changes nothing, nor one that no whole segment shows.
        let scaled = windows.whole(float(segments) * factor, 1);
        if scaled == segments * windows.mss {
            return true;
        }
        if repairs {
            windows.ssthresh = scaled;
        } else {
            windows.set(scaled);
        }
        true
    }

    /// Sets the pacing rate of an external model, which then sets the window.
    pub(crate) fn set_external_pace(&mut self, rate: BitRate) -> bool {
        match &mut self.control {
            Control::External(external) if external.is_model() => {
                external.set_pace(rate, &mut self.windows);
                true
            }
            _ => false,
        }
    }

    /// The control, if it is not compiled in.
    #[inline]
    #[must_use]
    pub fn external(&self) -> Option<&External> {
        match &self.control {
            Control::External(external) => Some(external),
            _ => None,
        }
    }

    /// The same, mutable.
    #[inline]
    pub fn external_mut(&mut self) -> Option<&mut External> {
        match &mut self.control {
            Control::External(external) => Some(external),
            _ => None,
        }
    }

    /// Whether it is such a control, and a model.
    pub(crate) fn is_external_model(&self) -> bool {
        self.external().is_some_and(External::is_model)
    }

    /// Shows a control that is not compiled in the sender's state.
    pub(crate) fn show_external(&mut self, socket: Socket) {
        if let Control::External(external) = &mut self.control {
            external.show(socket, &mut self.windows);
        }
    }

    /// Calls such a control.
    pub(crate) fn call_external(&mut self, call: Call<'_>) {
        if let Control::External(external) = &mut self.control {
            external.call(call, &mut self.windows);
        }
    }

    /// Notifies an external control of the end of its connection.
    pub(crate) fn release_external(&mut self) {
        if let Control::External(external) = &mut self.control {
            external.release(&mut self.windows);
        }
    }

    /// Notifies an external control of a change of state.
    pub(crate) fn set_external_state(&mut self, state: State) {
        if let Control::External(external) = &mut self.control {
            external.set_state(state, &mut self.windows);
        }
    }

    /// Lets such a model set the window, when this many segments were newly presumed lost.
    pub(crate) fn control_external(&mut self, losses: u32) {
        if let Control::External(external) = &mut self.control {
            external.control(losses, &mut self.windows);
        }
    }
}

/// The number of whole segments in `bytes`.
pub(crate) fn segments(bytes: u64, mss: u64) -> u32 {
    u32::try_from(bytes / mss.max(1)).unwrap_or(NO_THRESHOLD)
}

fn threshold_bytes(segments: u32, mss: u64) -> u64 {
    match segments {
        NO_THRESHOLD.. => u64::MAX,
        _ => u64::from(segments) * mss,
    }
}

/// A result of 32 bits.
#[expect(clippy::cast_possible_truncation, reason = "results have 32 bits")]
const fn low(value: u64) -> u32 {
    value as u32
}

#[expect(
    clippy::cast_precision_loss,
    reason = "windows are far below 2^53 segments"
)]
const fn float(segments: u64) -> f64 {
    segments as f64
}
