//! The receive window: a buffer of fixed size, or one that grows as data arrives.

use alloc::boxed::Box;

use airtcp_units::{Duration, Instant};

use crate::config::{Config, ReceiveWindow};

/// The buffer that a window grows from: 5/8 of `tcp_rmem[1]` = 131072 bytes of memory hold data, as
/// with segments of 1448 bytes in 2304 bytes of memory (Linux, `tcp_measure_rcv_mss`).
const FIRST_BUFFER: u64 = 131_072 * 5 / 8;
/// Segments that the buffer holds beyond the data read (Linux up to 6.15, `tcp_rcv_space_adjust`).
const CUSHION: u64 = 16;
/// Half of that memory, the basis of the first window: how much of it segments fill is not yet
/// known (Linux, `TCP_DEFAULT_SCALING_RATIO`).
const FIRST_SPACE: u64 = 131_072 / 2;
/// Only segments of at least this many bytes let the window grow (Linux, `tcp_event_data_recv`).
const MIN_SEGMENT: u64 = 128;
/// A round trip below the resolution of the timestamp clock counts as this (Linux,
/// `tcp_rtt_tsopt_us`).
const MIN_SAMPLE: Duration = Duration::from_millis(1);
/// Segments that the buffer is expected to hold at the start (Linux, `TCP_INIT_CWND`).
const FIRST_SEGMENTS: u64 = 10;

/// The window a receiver offers, in offsets of the stream.
#[derive(Clone, Debug)]
pub struct Window {
    /// Maximum buffer, in bytes: at most a window, 2^30 (RFC 7323 §2.3).
    buffer: u32,
    /// Minimum step by which the window opens (RFC 9293 §3.8.6.2.2).
    step: u32,
    /// First byte beyond the window last announced: it never moves back (RFC 9293 §3.8.6).
    announced: u64,
    tuning: Option<Box<Tuning>>,
}

/// The receiver's position in the stream.
#[derive(Clone, Copy, Debug)]
pub struct StreamPosition {
    /// First byte that has not arrived.
    pub next_expected: u64,
    /// First byte the application has not read.
    pub read: u64,
    /// Bytes held after gaps.
    pub behind_gaps: u64,
}

impl Window {
    /// Creates the window of a receiver for a peer that cannot use less than `step` bytes; segments
    /// carry `mss` bytes.
    pub fn new(config: &Config, step: u32) -> Self {
        let buffer = config.receive_buffer;
        let tuning = Tuning::of(config).map(Box::new);
        Self {
            buffer: stored(buffer),
            step: step.min(stored(buffer / 2)).max(1),
            announced: tuning
                .as_ref()
                .map_or(buffer, |tuning| tuning.first_window().min(buffer)),
            tuning,
        }
    }

    /// Limits the buffer to `bytes`.
    pub fn set_buffer(&mut self, bytes: u64) {
        self.buffer = stored(bytes);
        self.step = self.step.min(stored(bytes / 2)).max(1);
        if let Some(tuning) = &mut self.tuning {
            tuning.most = bytes;
            tuning.buffer = tuning.buffer.min(bytes);
            tuning.offered = tuning.offered.min(tuning.buffer);
        }
    }

    /// First byte beyond the window last announced.
    #[inline]
    pub const fn announced(&self) -> u64 {
        self.announced
    }

    /// Whether it grows as data arrives.
    #[inline]
    pub const fn is_tuned(&self) -> bool {
        self.tuning.is_some()
    }

    /// Announces the largest permitted window, and returns its end.
    #[inline]
    pub fn announce(&mut self, standing: StreamPosition) -> u64 {
        self.announced = self.opened(standing);
        self.announced
    }

    /// Whether a closed, or almost closed, window has opened, so that the peer must be informed
    /// (RFC 9293 §3.8.6.2.2).
    #[inline]
    pub fn is_reopened(&self, standing: StreamPosition) -> bool {
        let room = self.announced.saturating_sub(standing.next_expected);
        room < self.step.into() && self.opened(standing) > self.announced
    }

    /// First byte beyond the window that may be announced now. It opens in steps of a segment or
    /// half the buffer, to avoid silly windows (RFC 9293 §3.8.6.2.2).
    #[inline]
    fn opened(&self, standing: StreamPosition) -> u64 {
        let possible = match &self.tuning {
            None => standing.read + u64::from(self.buffer),
            Some(tuning) => standing.next_expected + tuning.offered.min(tuning.space(standing)),
        };
        if possible >= self.announced + u64::from(self.step) {
            possible
        } else {
            self.announced
        }
    }

    /// Takes a segment of `length` bytes that arrived at `now`; `in_order`: it was the one
    /// expected. Returns whether the window grows, which is announced immediately.
    #[inline]
    pub fn on_segment(
        &mut self,
        now: Instant,
        standing: StreamPosition,
        length: u64,
        in_order: bool,
    ) -> bool {
        match &mut self.tuning {
            None => false,
            Some(tuning) => tuning.on_segment(now, standing, length, in_order),
        }
    }

    /// Records that the application, which has read everything below `begin`, reads on to `end`, of
    /// the data that has arrived in order up to `arrived`.
    #[inline]
    pub fn on_read(&mut self, begin: u64, end: u64, arrived: u64) {
        if let Some(tuning) = &mut self.tuning {
            tuning.count_read(begin, end, arrived);
        }
    }

    /// Takes the echo of a timestamp sent at `sent_at`, received after `round_trip`.
    #[inline]
    pub fn on_echo(&mut self, sent_at: Instant, round_trip: Duration) {
        if let Some(tuning) = &mut self.tuning {
            tuning.on_echo(sent_at, round_trip);
        }
    }

    /// Takes a segment that arrived after a gap, where the highest byte held is now below `end`.
    /// `standing` is without it: its memory counts from the next one on (Linux,
    /// `tcp_data_queue_ofo`). With SACK the window keeps growing; without it, every duplicate
    /// acknowledgment must look like the others. Returns whether it did.
    pub fn on_gap(&mut self, standing: StreamPosition, length: u64, end: u64, sack: bool) -> bool {
        self.tuning
            .as_mut()
            .is_some_and(|tuning| tuning.on_gap(standing, length, end, sack))
    }

    /// Takes the round trip of the handshake.
    pub fn on_handshake(&mut self, round_trip: Duration) {
        if let Some(tuning) = &mut self.tuning {
            tuning.handshake = round_trip;
        }
    }

    /// The round trip by which the window is sized, if it is and that is known; at most that of the
    /// handshake, the only measurement at an end that sends no data (Linux, `__tcp_ack_snd_check`).
    pub fn round_trip(&self) -> Option<Duration> {
        let tuning = self.tuning.as_ref()?;
        Some(tuning.round_trip?.min(tuning.handshake))
    }
}

/// A size in bytes in its stored form.
fn stored(bytes: u64) -> u32 {
    u32::try_from(bytes).unwrap_or(u32::MAX)
}

/// A buffer that follows the bytes the application reads per round trip (dynamic right-sizing, Fisk
/// & Feng, LACSI 2001; Linux, `tcp_rcv_space_adjust` and `tcp_grow_window`). In bytes of the
/// stream: the kernel's memory overhead per byte is taken as constant.
#[derive(Clone, Debug)]
struct Tuning {
    mss: u64,
    most: u64,
    /// Bytes that it holds beyond the data read, and whether data after a gap is added.
    cushion: u64,
    holds_gaps: bool,
    /// Bytes that can be held now (`window_clamp`).
    buffer: u64,
    /// Bytes of it that are advertised, which grow with each segment (`rcv_ssthresh`).
    offered: u64,
    /// Bytes read in the last counted round trip (`rcvq_space.space`).
    read_in_round: u64,
    /// Start of the round trip being counted.
    round_from: u64,
    round_began: Option<Instant>,
    /// Arrival of the last segment.
    arrived_at: Instant,
    round_trip: Option<Duration>,
    /// That of the handshake; [`Duration::MAX`] if it was not measured.
    handshake: Duration,
    /// Departure of the timestamp echoed last.
    echoed: Option<Instant>,
    /// Without timestamps: the offset at which a whole window will have arrived, and the start of
    /// that wait.
    window_ends: u64,
    window_began: Option<Instant>,
}

impl Tuning {
    /// The tuning of a window that is tuned.
    fn of(config: &Config) -> Option<Self> {
        let (most, mss) = (config.receive_buffer, u64::from(config.mss));
        // A segment's worth is kept back, unless little more is left (Linux,
        // `tcp_init_buffer_space`).
        let offered = if FIRST_SPACE > 2 * mss {
            (FIRST_SPACE - mss).max(2 * mss)
        } else {
            FIRST_SPACE
        };
        let (first, cushion, holds_gaps) = match config.receive_window {
            ReceiveWindow::Fixed => return None,
            ReceiveWindow::Autotuned => (FIRST_BUFFER, 0, true),
            ReceiveWindow::Autotuned612 => (FIRST_BUFFER, CUSHION, false),
            ReceiveWindow::Autotuned61 => (offered, CUSHION, false),
        };
        let buffer = first.min(most);
        let offered = offered.min(buffer);
        Some(Self {
            mss,
            most,
            cushion: cushion * mss,
            holds_gaps,
            buffer,
            offered,
            read_in_round: offered.min(FIRST_SEGMENTS * mss),
            round_from: 0,
            round_began: None,
            arrived_at: Instant::ZERO,
            round_trip: None,
            handshake: Duration::MAX,
            echoed: None,
            window_ends: 0,
            window_began: None,
        })
    }

    /// The window of a SYN: whole segments (Linux, `tcp_select_initial_window`).
    fn first_window(&self) -> u64 {
        (FIRST_SPACE / self.mss * self.mss)
            .max(self.mss)
            .min(u16::MAX.into())
    }

    fn on_segment(
        &mut self,
        now: Instant,
        standing: StreamPosition,
        length: u64,
        in_order: bool,
    ) -> bool {
        self.arrived_at = now;
        self.round_began.get_or_insert(now);
        if self.echoed.is_none() {
            self.time_window(now, standing);
        }
        in_order && self.grow(standing, length)
    }

    /// Bytes that can still be held (`tcp_space`). Data after a gap has taken its memory, although
    /// it lies in the window: while a gap stays open, the window's end does not move.
    fn space(&self, standing: StreamPosition) -> u64 {
        let unread = standing.next_expected.saturating_sub(standing.read);
        self.buffer
            .saturating_sub(unread)
            .saturating_sub(standing.behind_gaps)
    }

    /// Grows the advertised bytes by two segments for each that arrives, as far as there is room
    /// (`tcp_grow_window`).
    fn grow(&mut self, standing: StreamPosition, length: u64) -> bool {
        let room = self.space(standing).saturating_sub(self.offered);
        if room == 0 || length < MIN_SEGMENT {
            return false;
        }
        self.offered += room.min(2 * self.mss.max(length));
        true
    }

    /// Once per round trip: if more was read than in any before, sizes the buffer to twice that,
    /// and more while it still grows, since the window announced now bounds the round trip after
    /// this one. The application reads once the segment is acknowledged, or not, so that only the
    /// next one finds the larger buffer (`tcp_rcv_space_adjust`). It is taken to read when the last
    /// segment arrives, though a slow one reads later.
    ///
    /// The kernel checks after each segment that it copies, and the data still unread then has
    /// arrived in less than the round trip: a filled gap begins a new one.
    fn count_read(&mut self, begin: u64, end: u64, arrived: u64) {
        let now = self.arrived_at;
        let (Some(began), Some(round_trip)) = (self.round_began, self.round_trip) else {
            return;
        };
        if now - began < round_trip {
            return;
        }
        let first = end.min(begin + self.mss);
        let waits = arrived - first;
        let read = (first - self.round_from).saturating_sub(waits);
        if read > self.read_in_round {
            let before = self.read_in_round.max(1);
            self.read_in_round = read;
            let wanted = 2 * read + self.cushion;
            let growth = u128::from(wanted) * u128::from(read - before) / u128::from(before);
            let growth = u64::try_from(growth).unwrap_or(u64::MAX);
            self.widen(wanted.saturating_add(growth.saturating_mul(2)));
        }
        self.round_from = first;
        self.round_began = Some(now);
    }

    fn on_gap(&mut self, standing: StreamPosition, length: u64, end: u64, sack: bool) -> bool {
        let grew = sack && self.grow(standing, length);
        if self.holds_gaps {
            let held = end.saturating_sub(standing.next_expected);
            self.widen(2 * self.read_in_round + held);
        }
        grew
    }

    fn widen(&mut self, bytes: u64) {
        self.buffer = self.buffer.max(bytes.min(self.most));
    }

    /// Follows the round trip down at once and up by an eighth (`tcp_rcv_rtt_update`). If several
    /// segments echo the same timestamp only the first answers it.
    fn on_echo(&mut self, sent_at: Instant, sample: Duration) {
        let sample = sample.max(MIN_SAMPLE);
        if self.echoed.replace(sent_at) == Some(sent_at) {
            return;
        }
        self.round_trip = Some(match self.round_trip {
            Some(rtt) if sample >= rtt => {
                let (rtt, sample) = (rtt.as_nanos(), sample.as_nanos());
                Duration::from_nanos(rtt - rtt / 8 + sample / 8)
            }
            _ => sample,
        });
    }

    /// Without timestamps a round trip takes no longer than a whole window (`tcp_rcv_rtt_measure`).
    fn time_window(&mut self, now: Instant, standing: StreamPosition) {
        if let Some(began) = self.window_began {
            if standing.next_expected < self.window_ends {
                return;
            }
            let took = now - began;
            self.round_trip = Some(self.round_trip.map_or(took, |rtt| rtt.min(took)));
        }
        self.window_ends = standing.next_expected + self.offered;
        self.window_began = Some(now);
    }
}

#[cfg(test)]
mod tests;
