//! One connection with its bytes: the core, a send buffer and a receive buffer.

mod options;

use alloc::boxed::Box;
use core::ops::Range;

use airtcp_packet::{Flags, LinkFeedback, Segment};
use airtcp_tcp::{
    Accepted, Connection, End, Event, FastOpenSyn, Insight, Observer, Records, State,
};
use airtcp_units::Instant;

use crate::keep_alive::{Silence, Watch};
use crate::receive_buffer::ReceiveBuffer;
use crate::send_buffer::SendBuffer;
use crate::settings::{Linger, Options};

/// The result of a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Read {
    /// A number of bytes.
    Bytes(usize),
    /// No data is available now.
    Nothing,
    /// No more data will arrive: the peer has closed its side, and all is read.
    Finished,
}

/// The operations that an application can perform on a connection, and its state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Readiness {
    /// The handshake is complete.
    pub established: bool,
    /// As much as requested can be read, or nothing more will come.
    pub readable: bool,
    /// As much as requested can be written.
    pub writable: bool,
    /// The connection has ended, and nothing can be written; received data can still be read.
    pub ended: Option<End>,
}

/// Records the part of a segment that the core accepts.
#[derive(Default)]
struct Notes(Option<Accepted>);

impl Insight for Notes {}

impl Observer for Notes {
    #[inline]
    fn event(&mut self, _now: Instant, _event: Event) {}

    #[inline]
    fn accepted(&mut self, accepted: Accepted) {
        self.0 = Some(accepted);
    }
}

/// A connection that carries bytes. It knows neither addresses nor packets: an
/// [`Endpoint`](crate::Endpoint) does.
#[derive(Debug)]
pub struct Stream {
    connection: Connection,
    outgoing: SendBuffer,
    incoming: ReceiveBuffer,
    readable_from: usize,
    writable_from: usize,
    unsent_below: usize,
    watch: Option<Box<Watch>>,
    /// Time at which written data is discarded, once the application has released the connection.
    lingers_until: Instant,
    is_released: bool,
    is_writing_shut: bool,
    is_reading_shut: bool,
    has_begun: bool,
    /// Whether data flowed before the handshake was complete.
    was_early: bool,
    path_probe: Option<u32>,
    departures: bool,
    /// A polled segment that does not fit into the burst before it.
    pending: Option<Segment>,
    records: Records,
}

impl Stream {
    /// The bytes of `connection`.
    #[must_use]
    pub fn new(mut connection: Connection, options: &Options, now: Instant) -> Self {
        if options.no_delay {
            connection.set_no_delay(true);
        }
        let watch = options.keep_alive;
        let watch = watch.map(|settings| Box::new(Watch::new(settings, now)));
        Self {
            connection,
            outgoing: SendBuffer::new(options.send_buffer.max(1)),
            incoming: ReceiveBuffer::new(),
            readable_from: options.readable_from.max(1),
            writable_from: options.writable_from.clamp(1, options.send_buffer.max(1)),
            unsent_below: options.unsent_below.max(1),
            watch,
            lingers_until: Instant::FAR_FUTURE,
            is_released: false,
            is_writing_shut: false,
            is_reading_shut: false,
            has_begun: false,
            was_early: false,
            path_probe: options.path_probe,
            departures: options.departures,
            pending: None,
            records: Records::default(),
        }
    }

    /// The core, read-only.
    #[must_use]
    pub const fn connection(&self) -> &Connection {
        &self.connection
    }

    /// Takes as many of `bytes` as there is room for; returns their number. Zero once writing is
    /// shut or the connection has ended.
    pub fn write(&mut self, bytes: &[u8]) -> usize {
        if self.is_writing_shut || self.connection.end().is_some() {
            return 0;
        }
        let taken = self.outgoing.write(bytes);
        self.records.write(&mut self.connection, taken as u64);
        taken
    }

    /// Ends a record after the data written: no segment will hold bytes of it and of later data
    /// (MSG_EOR).
    pub fn end_record(&mut self) {
        self.records.end(&self.connection);
    }

    /// Has `fill` write at most `wanted` bytes in place, no more than there is [room](Self::room)
    /// for, and perhaps less; returns the number that `fill` reports.
    pub fn write_with(&mut self, wanted: usize, fill: impl FnOnce(&mut [u8]) -> usize) -> usize {
        let taken = self.outgoing.write_with(wanted.min(self.room()), fill);
        self.records.write(&mut self.connection, taken as u64);
        taken
    }

    /// Bytes that can be read now.
    #[must_use]
    pub fn available(&self) -> usize {
        let receiver = self.connection.receiver();
        let bytes = receiver.received() - receiver.read_so_far();
        usize::try_from(bytes).unwrap_or(usize::MAX)
    }

    /// The bytes that can be read now, in two pieces, to be [consumed](Self::consume).
    #[must_use]
    pub fn peek(&self) -> [&[u8]; 2] {
        self.incoming.pieces(self.available())
    }

    /// Drops the first `bytes` of the readable data: the window opens by as many.
    pub fn consume(&mut self, bytes: usize) {
        let read = self.connection.read(bytes as u64);
        self.incoming
            .consume(usize::try_from(read).unwrap_or(usize::MAX));
    }

    /// Copies received data into `into`.
    pub fn read(&mut self, into: &mut [u8]) -> Read {
        let mut copied = 0;
        for piece in self.peek() {
            let count = piece.len().min(into.len() - copied);
            into[copied..copied + count].copy_from_slice(&piece[..count]);
            copied += count;
        }
        self.consume(copied);
        match copied {
            0 if self.is_read_out() => Read::Finished,
            0 => Read::Nothing,
            bytes => Read::Bytes(bytes),
        }
    }

    /// Whether nothing is left to read and no more data will arrive.
    fn is_read_out(&self) -> bool {
        let over = self.connection.receiver().is_finished() || self.connection.end().is_some();
        over && self.available() == 0
    }

    /// Bytes that were written and are not acknowledged.
    #[must_use]
    pub fn unacknowledged(&self) -> usize {
        self.outgoing.len()
    }

    /// Bytes written and not yet sent.
    #[must_use]
    pub fn unsent(&self) -> usize {
        let bytes = self
            .outgoing
            .end()
            .saturating_sub(self.connection.sender().nxt());
        usize::try_from(bytes).unwrap_or(usize::MAX)
    }

    /// Bytes that can be written now.
    #[must_use]
    pub fn room(&self) -> usize {
        if self.is_writing_shut || self.connection.end().is_some() {
            return 0;
        }
        self.outgoing.room()
    }

    /// Bytes of memory that both buffers hold.
    #[must_use]
    pub fn buffered(&self) -> usize {
        self.outgoing.len() + self.incoming.len()
    }

    /// The operations possible now.
    #[must_use]
    pub fn readiness(&self) -> Readiness {
        let begun = self.connection.is_synchronized() || self.has_begun || self.was_early;
        let ended = self.connection.end();
        Readiness {
            established: begun,
            readable: begun && self.available() >= self.readable_from
                || self.connection.receiver().is_finished()
                || ended.is_some(),
            writable: begun
                && self.room() >= self.writable_from
                && self.unsent() < self.unsent_below,
            ended,
        }
    }

    /// No more data will be written: a FIN follows the data written.
    pub fn shut_writing(&mut self) {
        if !self.is_writing_shut {
            self.is_writing_shut = true;
            self.records.close(&mut self.connection);
        }
    }

    /// No more data will be read: arriving data is dropped while this side still sends, and
    /// answered with a reset after that (RFC 9293 §3.6.1).
    pub fn shut_reading(&mut self) {
        self.is_reading_shut = true;
        self.connection.shut_reading();
        self.drop_unread();
    }

    /// Once writing is shut too, arriving data is answered with a reset; until then it can be read.
    pub fn refuse_late_data(&mut self) {
        self.connection.shut_reading();
    }

    /// The application releases the connection.
    pub fn release(&mut self, now: Instant, linger: Linger) {
        self.is_released = true;
        self.is_writing_shut = true;
        // There is no writer left to separate records.
        self.records.join(&mut self.connection);
        match linger {
            Linger::Reset => self.connection.abort(now),
            Linger::Background => self.connection.release(now),
            Linger::AtMost(time) => {
                self.lingers_until = now + time;
                self.connection.release(now);
            }
        }
    }

    /// Aborts the connection with a reset.
    pub fn abort(&mut self, now: Instant) {
        self.connection.abort(now);
    }

    /// Whether nothing more can be written.
    #[must_use]
    pub(crate) const fn is_writing_shut(&self) -> bool {
        self.is_writing_shut
    }

    /// Whether the application has released it.
    #[must_use]
    pub const fn is_released(&self) -> bool {
        self.is_released
    }

    /// Whether its state can be dropped.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.is_released && self.connection.state() == State::Closed
    }

    /// Takes `segment`, which arrived at `now` with `payload`.
    pub fn handle(&mut self, now: Instant, segment: &Segment, payload: &[u8]) {
        let mut notes = Notes::default();
        self.connection.handle(now, segment, &mut notes);
        if let Some(accepted) = notes.0 {
            self.store(&accepted, payload);
        }
        let acknowledged = self.connection.acknowledged();
        self.outgoing.release(acknowledged);
        // A pending retransmission may have become needless since it was polled, and its bytes are
        // gone.
        if let Some(pending) = &self.pending
            && pending.payload_bytes > 0
            && self.connection.payload_of(pending).start < acknowledged
        {
            self.pending = None;
        }
        if let Some(watch) = &mut self.watch {
            watch.on_heard(now);
        }
        self.was_early |= self.connection.is_open_early();
        if !self.has_begun && self.connection.is_synchronized() {
            self.has_begun = true;
            if let Some(first) = self.path_probe {
                self.connection.probe_path(first);
            }
            if self.departures {
                self.connection.await_departures();
            }
        }
        // A segment merged by a device represents several; every second of them is to be
        // acknowledged (RFC 5681 §4.2).
        if segment.payload_bytes >= 2 * self.connection.segment_payload() {
            self.connection.demand_acknowledgment();
        }
    }

    fn store(&mut self, accepted: &Accepted, payload: &[u8]) {
        let Range { start, end } = accepted.range;
        let length = usize::try_from(end - start).unwrap_or(usize::MAX);
        let bytes = payload.get(accepted.skipped..).unwrap_or_default();
        self.incoming
            .store(start, &bytes[..length.min(bytes.len())]);
        if self.is_reading_shut {
            self.drop_unread();
        }
    }

    fn drop_unread(&mut self) {
        self.consume(self.available());
    }

    /// The next segment to send at `now`; call until it returns `None`.
    pub fn poll(&mut self, now: Instant) -> Option<Segment> {
        let next = self.pending.take().or_else(|| self.connection.poll(now));
        if next.is_some() || !self.records.next(&mut self.connection) {
            return next;
        }
        self.connection.poll(now)
    }

    /// As [`poll`](Self::poll), with as many following segments as one header can represent and
    /// `most` bytes of payload allow, of one train only if it `ends_with_train`. Returns the
    /// segment as a whole, and the payload of each part but perhaps the last.
    pub fn poll_burst(
        &mut self,
        now: Instant,
        most: u32,
        ends_with_train: bool,
    ) -> Option<(Segment, u32)> {
        let fresh_from = self.connection.sender().nxt();
        let mut whole = self.poll(now)?;
        let part = whole.payload_bytes;
        let is_plain = Flags::ACK | Flags::PSH == whole.flags | Flags::PSH;
        // Smaller ones are few, and may be small on purpose.
        let is_full = u64::from(part) == self.connection.sender().mss();
        if !is_full || part == 0 || !is_plain || !whole.tail.blocks().is_empty() {
            return Some((whole, part));
        }
        let mut last = part;
        while last == part && whole.payload_bytes + part <= most {
            if ends_with_train && whole.flags.contains(Flags::PSH) {
                break;
            }
            let Some(next) = self.connection.poll(now) else {
                break;
            };
            if !continues(&whole, &next, part) {
                self.pending = Some(next);
                break;
            }
            last = next.payload_bytes;
            whole.payload_bytes += last;
            whole.flags = next.flags;
        }
        let is_fresh = self.connection.payload_of(&whole).start >= fresh_from;
        if whole.payload_bytes > part && is_fresh {
            // A receiver that merges the parts need not wait for more (Linux,
            // `__tcp_transmit_skb`).
            whole.flags |= Flags::PSH;
        }
        Some((whole, part))
    }

    /// Makes the SYN carry data, or a cookie.
    pub(crate) fn open_fast(&mut self, syn: FastOpenSyn) {
        self.connection.open_fast(syn);
    }

    /// The payload of `segment`, which was just polled, in two pieces.
    #[must_use]
    pub fn payload(&self, segment: &Segment) -> [&[u8]; 2] {
        self.outgoing.pieces(&self.connection.payload_of(segment))
    }

    /// Time of the next call of [`on_wakeup`](Self::on_wakeup); [`Instant::FAR_FUTURE`] for never.
    #[must_use]
    pub fn next_wakeup(&self) -> Instant {
        let watch = match &self.watch {
            Some(watch) if self.is_watched() => watch.deadline(),
            _ => Instant::FAR_FUTURE,
        };
        self.connection
            .next_wakeup()
            .min(self.lingers_until)
            .min(watch)
    }

    /// Handles the timers that have expired by `now`.
    pub fn on_wakeup(&mut self, now: Instant) {
        self.connection.on_wakeup(now, &mut ());
        if self.lingers_until <= now {
            self.lingers_until = Instant::FAR_FUTURE;
            if !matches!(self.connection.state(), State::Closed | State::TimeWait) {
                self.connection.abort(now);
            }
        }
        if self.is_watched()
            && let Some(watch) = &mut self.watch
        {
            match watch.on_wakeup(now, !self.outgoing.is_empty()) {
                Silence::Wait => {}
                Silence::Probe => self.connection.probe(),
                Silence::GiveUp => self.connection.give_up(now),
            }
        }
    }

    fn is_watched(&self) -> bool {
        self.connection.is_synchronized() && self.connection.state() != State::TimeWait
    }

    /// A segment with its payload at `offset`, polled at `polled_at`, left at `now`.
    pub fn on_transmitted(&mut self, now: Instant, offset: u64, polled_at: Instant) {
        self.connection.on_transmitted(now, offset, polled_at);
    }

    /// Passes on link feedback about the link or a segment.
    pub fn on_link_feedback(&mut self, now: Instant, feedback: &LinkFeedback) {
        self.connection.on_feedback(now, feedback, &mut ());
    }

    /// The core, for ICMP errors of routers.
    pub(crate) const fn connection_mut(&mut self) -> &mut Connection {
        &mut self.connection
    }
}

/// Whether `next` could have been cut off the end of `whole`, with parts of `part` bytes.
fn continues(whole: &Segment, next: &Segment, part: u32) -> bool {
    next.sequence == whole.sequence + whole.payload_bytes
        && next.payload_bytes > 0
        && next.payload_bytes <= part
        && next.acknowledgment == whole.acknowledgment
        && next.window == whole.window
        && next.timestamps == whole.timestamps
        && next.ecn == whole.ecn
        && next.tail.blocks().is_empty()
        && next.flags | Flags::PSH | Flags::FIN == whole.flags | Flags::PSH | Flags::FIN
}
