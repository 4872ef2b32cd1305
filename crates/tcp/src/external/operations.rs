//! The interface of a control that is not compiled in: Linux's `struct tcp_congestion_ops`, in
//! Linux's units and called in Linux's order.

use alloc::boxed::Box;
use alloc::string::String;
use core::fmt::Debug;

use airtcp_units::{Duration, Instant};

/// The state of a connection as Linux has it (`enum tcp_ca_state`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum State {
    /// Nothing is lost or reordered.
    #[default]
    Open,
    /// Something is SACKed, and nothing known to be lost.
    Disorder,
    /// The window is being reduced for a congestion mark.
    ReducedForMark,
    /// Losses found by acknowledgments are being repaired.
    Recovery,
    /// Losses found by a timeout are being repaired.
    Loss,
}

/// An event of the window (`enum tcp_ca_event`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum WindowEvent {
    /// Something is sent while nothing is in flight.
    TransmissionStart,
    /// The window restarts after a pause.
    Restart,
    /// A reduction of the window is complete.
    ReductionComplete,
    /// The retransmission timer has expired.
    Loss,
}

/// The sender as a control sees it. Windows and counts are in segments.
#[derive(Clone, Copy, Debug, Default)]
pub struct Socket {
    /// Now.
    pub now: Instant,
    /// The congestion window; its value after a call becomes the window.
    pub cwnd: u32,
    /// The slow-start threshold; `0x7fff_ffff` before the first loss. It may be changed, too.
    pub ssthresh: u32,
    /// The pacing rate in bytes per second; a model's may be changed.
    pub pacing_rate: u64,
    /// Whether segments are paced; may be set.
    pub paced: bool,
    /// Limit on the window.
    pub cwnd_clamp: u32,
    /// Window and threshold before the last reduction.
    pub prior: (u32, u32),
    /// Segments delivered in the last reduction of a window that the sender sets, and sent in it
    /// (`prr_delivered`, `prr_out`).
    pub reduced: (u32, u32),
    /// Payload of a full segment, in bytes.
    pub mss: u32,
    /// Offsets of the stream, in bytes: first unacknowledged, never sent, never written.
    pub una: u64,
    /// See there.
    pub nxt: u64,
    /// See there.
    pub written: u64,
    /// First byte never sent when the last repair began.
    pub recovery_point: u64,
    /// Segments outstanding; SACKed; presumed lost; retransmitted and in flight.
    pub outstanding: u32,
    /// See there.
    pub sacked: u32,
    /// See there.
    pub lost: u32,
    /// See there.
    pub resent: u32,
    /// Most segments outstanding in the last round trip, and whether the window limited it.
    pub most_outstanding: u32,
    /// See there.
    pub is_cwnd_limited: bool,
    /// Segments since the start: presumed lost; delivered; delivered with a congestion mark.
    pub lost_in_all: u32,
    /// See there.
    pub delivered: u32,
    /// See there.
    pub marked: u32,
    /// Segments sent, and of these retransmitted; bytes retransmitted.
    pub segments_sent: u64,
    /// See there.
    pub segments_resent: u64,
    /// See there.
    pub bytes_resent: u64,
    /// Round trips; zero before the first sample.
    pub srtt: Duration,
    /// Its mean deviation.
    pub rttvar: Duration,
    /// The minimum round trip.
    pub min_rtt: Duration,
    /// The retransmission timeout, and its expiries in a row.
    pub rto: Duration,
    /// See there.
    pub expiries: u32,
    /// The state before this call.
    pub state: State,
    /// Until this many segments are delivered, samples are limited by the application; 0 otherwise.
    pub app_limited: u32,
    /// Time of the last delivery, start of the current send interval, departure of the next paced
    /// segment, last transmission.
    pub delivered_at: Instant,
    /// See there.
    pub first_sent_at: Instant,
    /// See there.
    pub next_departure: Instant,
    /// See there.
    pub last_sent_at: Instant,
    /// Extent of reordering in segments, how often it was seen, duplicates reported.
    pub reordering: u32,
    /// See there.
    pub reorderings_seen: u32,
    /// See there.
    pub duplicates_reported: u32,
    /// The peer's window, in bytes.
    pub peer_window: u64,
    /// Whether congestion marks are used.
    pub uses_marks: bool,
    /// Whether the retransmission timer has just expired: a threshold asked for is one after a
    /// timeout.
    pub is_expired: bool,
}

/// Segments acknowledged and in flight (`struct ack_sample`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AckSample {
    /// Segments acknowledged in sequence.
    pub acked: u32,
    /// Round trip of the newest segment sent once.
    pub rtt: Option<Duration>,
    /// Segments delivered since that one was sent.
    pub in_flight: u32,
}

/// A delivery rate (`struct rate_sample`), in segments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeliverySample {
    /// Segments delivered in the interval, and its length, unless it is too short.
    pub rate: Option<(u32, Duration)>,
    /// Start of the interval, and segments delivered by then.
    pub prior: (Instant, u32),
    /// Round trip of the newest segment sent once.
    pub rtt: Option<Duration>,
    /// Segments newly presumed lost.
    pub losses: u32,
    /// Segments newly acknowledged or SACKed.
    pub acked: u32,
    /// The news of the acknowledgment.
    pub news: News,
    /// Segments delivered in the interval with a congestion mark, and before it.
    pub marked: (u32, u32),
    /// Segments in flight before.
    pub prior_in_flight: u32,
    /// Whether the application limited the interval.
    pub is_app_limited: bool,
}

/// The news of an acknowledgment (Linux, `FLAG_*` of `tcp_input.c`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct News {
    /// It acknowledges data in sequence.
    pub acknowledges: bool,
    /// It SACKs further data.
    pub sacks: bool,
    /// It echoes a congestion mark.
    pub echoes_mark: bool,
}

impl News {
    /// Linux's flags: `FLAG_DATA_ACKED` and `FLAG_SND_UNA_ADVANCED`, `FLAG_DATA_SACKED`,
    /// `FLAG_ECE`. Flags that steer Linux's sender alone are never set.
    #[must_use]
    pub const fn flags(self) -> u32 {
        let mut flags = 0;
        if self.acknowledges {
            flags |= 0x04 | 0x400;
        }
        if self.sacks {
            flags |= 0x20;
        }
        if self.echoes_mark {
            flags |= 0x40;
        }
        flags
    }
}

/// A call of the kernel's, in the order in which an acknowledgment makes them.
#[derive(Clone, Copy, Debug)]
pub enum Call<'a> {
    /// The connection is established.
    Init,
    /// An acknowledgment arrived; flags of `enum tcp_ca_ack_event_flags`.
    AckEvent(u32),
    /// Segments were acknowledged or SACKed; before losses are looked for.
    Acked(&'a AckSample),
    /// Asks for the threshold after a loss, or a mark.
    Threshold,
    /// The state is about to change.
    SetState(State),
    /// Something happened to the window.
    Event(WindowEvent),
    /// The window may grow by this many segments.
    Grow(u32),
    /// A model sets window and rate, in every state.
    Control(&'a DeliverySample),
    /// Asks for the window after a needless reduction.
    Undo,
    /// Asks for the least burst, in segments.
    LeastBurst,
    /// The connection is closed; the last call.
    Release,
}

/// How often a control set a window or threshold of no segment. Linux's sender would stall with
/// it; here the window stays at one segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Zeros {
    /// Congestion windows (`snd_cwnd`, results of `undo_cwnd`).
    pub windows: u64,
    /// Thresholds (`snd_ssthresh`, results of `ssthresh`).
    pub thresholds: u64,
}

/// A control that is not compiled in, before it has a connection.
pub trait Source: Debug + Send + Sync {
    /// Its name.
    fn name(&self) -> &str;

    /// The control of a new connection.
    fn operations(&self) -> Box<dyn Operations>;
}

/// Such a control as a configuration names it.
#[derive(Clone, Copy, Debug)]
pub struct ExternalControl(&'static dyn Source);

impl ExternalControl {
    /// Keeps a control for the rest of the process: configurations are plain values, and refer to
    /// it.
    #[must_use]
    pub fn keep(source: Box<dyn Source>) -> Self {
        Self(Box::leak(source))
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.0.name()
    }

    /// The control of a new connection.
    #[must_use]
    pub fn operations(&self) -> Box<dyn Operations> {
        self.0.operations()
    }
}

impl PartialEq for ExternalControl {
    /// Whether both are the very same control.
    fn eq(&self, other: &Self) -> bool {
        core::ptr::addr_eq(self.0, other.0)
    }
}

impl Eq for ExternalControl {}

/// A control that is not compiled in, of one connection.
pub trait Operations: Debug + Send + Sync {
    /// A copy, with its state.
    fn boxed(&self) -> Box<dyn Operations>;

    /// Whether it sets window and pacing rate itself at every acknowledgment (`cong_control`).
    fn is_model(&self) -> bool;

    /// Handles a call. `None`: the control has no such operation.
    ///
    /// # Errors
    ///
    /// The control cannot continue; the error has the reason.
    fn call(&mut self, call: Call<'_>, socket: &mut Socket) -> Result<Option<u64>, String>;

    /// Seeds the control's random numbers; once, before the first loss is handled.
    fn seed(&mut self, _seed: u64) {}

    /// The control's counters by name.
    fn counters(&self) -> alloc::vec::Vec<(String, i128)> {
        alloc::vec::Vec::new()
    }

    /// BPF instructions executed since the start; 0 for what is not a BPF program.
    fn instructions(&self) -> u64 {
        0
    }

    /// The line of this number that the control has printed, from 0.
    fn message(&self, _index: usize) -> Option<(Instant, &str)> {
        None
    }

    /// Lines that the control has printed.
    fn messages(&self) -> alloc::vec::Vec<(Instant, String)> {
        alloc::vec::Vec::new()
    }
}
