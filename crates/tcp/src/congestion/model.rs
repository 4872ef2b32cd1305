//! The trait of a model-based control.

use airtcp_packet::Forecast;
use airtcp_units::{BitRate, Instant};

use super::Ack;
use super::windows::Windows;

/// Sets the window itself at every acknowledgment, in slow start and during a repair too, from a
/// model of the path (Linux, `cong_control`). A loss is one of its inputs and no limit.
pub(super) trait Model {
    /// Takes an acknowledgment that delivers data, with the delivery rate, and sets the window.
    fn observe(&mut self, ack: &Ack, windows: &mut Windows);

    /// Takes the receiver's forecast, before the acknowledgment that brought it.
    fn on_forecast(&mut self, _forecast: Forecast) {}

    /// Called when a repair begins.
    fn on_loss(&mut self, windows: &Windows);

    /// Called at a congestion mark, once a round trip. Returns whether the window is reduced.
    fn on_mark(&mut self, _windows: &mut Windows) -> bool {
        false
    }

    /// Called when the retransmission timer has expired.
    fn on_timeout(&mut self);

    /// Called when a loss turned out not to have been one.
    fn on_taken_back(&mut self) {}

    /// Called when data is sent after the application had nothing to send.
    fn on_idle_over(&mut self, now: Instant);

    /// The demands on the sender besides the window.
    fn demands(&self) -> Demands;
}

/// The demands that a model makes on the sender besides the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Demands {
    /// The pacing rate.
    pub pacing_rate: BitRate,
    /// Minimum burst, in segments.
    pub least_burst: u64,
    /// Whether the window is kept almost empty, to measure the round trip.
    pub is_probing_rtt: bool,
}
