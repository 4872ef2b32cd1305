//! An application's operations on its connections.

use airtcp_packet::LinkFeedback;
use airtcp_tcp::config::CongestionControl;
use airtcp_units::{Duration, Instant};

use super::Endpoint;
use crate::error::StreamError;
use crate::ids::ConnectionId;
use crate::settings::Linger;
use crate::stream::{Read, Readiness, Stream};

impl Endpoint {
    /// Returns the connection's readiness.
    ///
    /// # Errors
    /// It was released.
    pub fn readiness(&self, id: ConnectionId) -> Result<Readiness, StreamError> {
        let stream = self.stream(id).ok_or(StreamError::Unknown)?;
        Ok(stream.readiness())
    }

    /// Takes as many of `bytes` as there is room for; returns their number. Zero means: wait until
    /// the connection is writable.
    ///
    /// # Errors
    ///
    /// The connection was released, has ended, or its writing side is closed.
    pub fn write(&mut self, id: ConnectionId, bytes: &[u8]) -> Result<usize, StreamError> {
        self.check_writing(id)?;
        self.change(id, |stream| stream.write(bytes))
    }

    /// As [`write`](Self::write), with bytes that `fill` writes in place, at most `wanted` of them:
    /// no intermediate copy. It is handed at most the available room, and perhaps less; returns the
    /// number of bytes that `fill` reports.
    ///
    /// # Errors
    ///
    /// As [`write`](Self::write); `fill` is not called in that case.
    pub fn write_with(
        &mut self,
        id: ConnectionId,
        wanted: usize,
        fill: impl FnOnce(&mut [u8]) -> usize,
    ) -> Result<usize, StreamError> {
        self.check_writing(id)?;
        self.change(id, |stream| stream.write_with(wanted, fill))
    }

    /// Ends a record after the data written: no segment will hold bytes of it and of later data
    /// (MSG_EOR).
    ///
    /// # Errors
    /// It was released.
    pub fn end_record(&mut self, id: ConnectionId) -> Result<(), StreamError> {
        self.change(id, Stream::end_record)
    }

    fn check_writing(&self, id: ConnectionId) -> Result<(), StreamError> {
        let stream = self.stream(id).ok_or(StreamError::Unknown)?;
        if let Some(end) = stream.connection().end() {
            return Err(StreamError::Ended(end));
        }
        if stream.is_writing_shut() {
            return Err(StreamError::WritingIsShut);
        }
        Ok(())
    }

    /// Copies received data into `into`.
    ///
    /// # Errors
    /// The connection was released.
    pub fn read(&mut self, id: ConnectionId, into: &mut [u8]) -> Result<Read, StreamError> {
        self.change(id, |stream| stream.read(into))
    }

    /// Passes received data, in two pieces, to `take`, which returns how many bytes it took:
    /// without an intermediate copy.
    ///
    /// # Errors
    /// The connection was released.
    pub fn read_with(
        &mut self,
        id: ConnectionId,
        take: impl FnOnce([&[u8]; 2]) -> usize,
    ) -> Result<usize, StreamError> {
        self.change(id, |stream| {
            let pieces = stream.peek();
            let most = pieces[0].len() + pieces[1].len();
            let taken = take(pieces).min(most);
            stream.consume(taken);
            taken
        })
    }

    /// Closes the writing side: the peer reads to the end and sees it. Data from the peer can still
    /// be read.
    ///
    /// # Errors
    /// The connection was released.
    pub fn shut_writing(&mut self, id: ConnectionId) -> Result<(), StreamError> {
        self.change(id, Stream::shut_writing)
    }

    /// Closes the reading side; arriving data is dropped.
    ///
    /// # Errors
    /// The connection was released.
    pub fn shut_reading(&mut self, id: ConnectionId) -> Result<(), StreamError> {
        self.change(id, Stream::shut_reading)
    }

    /// Once writing is shut too, answers arriving data with a reset; until then data can be read
    /// (Linux's SHUT_RD, where [`shut_reading`](Self::shut_reading) drops it).
    ///
    /// # Errors
    /// The connection was released.
    pub fn refuse_late_data(&mut self, id: ConnectionId) -> Result<(), StreamError> {
        self.change(id, Stream::refuse_late_data)
    }

    /// Releases a connection: it is closed, and its identifier becomes invalid. If received bytes
    /// were not read it is reset (RFC 2525 §2.17).
    ///
    /// # Errors
    /// It was released before.
    pub fn release(
        &mut self,
        now: Instant,
        id: ConnectionId,
        linger: Linger,
    ) -> Result<(), StreamError> {
        self.change(id, |stream| stream.release(now, linger))
    }

    /// Aborts a connection with a reset. It is still to be [released](Self::release).
    ///
    /// # Errors
    /// It was released.
    pub fn abort(&mut self, now: Instant, id: ConnectionId) -> Result<(), StreamError> {
        self.change(id, |stream| stream.abort(now))
    }

    /// Passes on the link's reports on itself, or on a segment of this connection: explicit
    /// bad-state notification, WSC's reports.
    ///
    /// # Errors
    /// It was released.
    pub fn on_link_feedback(
        &mut self,
        now: Instant,
        id: ConnectionId,
        feedback: &LinkFeedback,
    ) -> Result<(), StreamError> {
        self.change(id, |stream| stream.on_link_feedback(now, feedback))
    }

    /// Changes a live connection's congestion control (TCP_CONGESTION).
    ///
    /// # Errors
    /// It was released.
    pub fn set_congestion_control(
        &mut self,
        id: ConnectionId,
        control: CongestionControl,
    ) -> Result<(), StreamError> {
        self.change(id, |stream| stream.set_congestion_control(control))
    }

    /// Changes a live connection's buffers: the limits on written unacknowledged data, and on
    /// received unread data, in bytes (SO_SNDBUF, SO_RCVBUF).
    ///
    /// # Errors
    /// It was released.
    pub fn set_buffers(
        &mut self,
        id: ConnectionId,
        send: usize,
        receive: u64,
    ) -> Result<(), StreamError> {
        self.change(id, |stream| {
            stream.set_send_buffer(send);
            stream.set_receive_buffer(receive);
        })
    }

    /// Changes the number of unread bytes at which a connection is readable, and the room at which
    /// it is writable (SO_RCVLOWAT).
    ///
    /// # Errors
    /// It was released.
    pub fn set_low_water(
        &mut self,
        id: ConnectionId,
        readable_from: usize,
        writable_from: usize,
    ) -> Result<(), StreamError> {
        self.change(id, |stream| {
            stream.set_low_water(readable_from, writable_from);
        })
    }

    /// Changes the number of unsent bytes below which a connection is writable (TCP_NOTSENT_LOWAT).
    ///
    /// # Errors
    /// It was released.
    pub fn set_unsent_below(&mut self, id: ConnectionId, bytes: usize) -> Result<(), StreamError> {
        self.change(id, |stream| stream.set_unsent_below(bytes))
    }

    /// Sets whether small segments leave undelayed (TCP_NODELAY), and whether only full ones may
    /// leave (TCP_CORK).
    ///
    /// # Errors
    /// It was released.
    pub fn set_small_segments(
        &mut self,
        id: ConnectionId,
        no_delay: bool,
        corked: bool,
    ) -> Result<(), StreamError> {
        self.change(id, |stream| {
            stream.set_no_delay(no_delay);
            stream.set_corked(corked);
        })
    }

    /// Sets whether the data written next waits for more, until an acknowledgment arrives
    /// (MSG_MORE).
    ///
    /// # Errors
    /// It was released.
    pub fn set_more(&mut self, id: ConnectionId, more: bool) -> Result<(), StreamError> {
        self.change(id, |stream| stream.set_more(more))
    }

    /// Sets how long written data may go unacknowledged (TCP_USER_TIMEOUT); `None` for the
    /// configured limits.
    ///
    /// # Errors
    /// It was released.
    pub fn set_user_timeout(
        &mut self,
        id: ConnectionId,
        most: Option<Duration>,
    ) -> Result<(), StreamError> {
        self.change(id, |stream| stream.set_user_timeout(most))
    }

    /// Sets how often an unanswered SYN is retransmitted (TCP_SYNCNT).
    ///
    /// # Errors
    /// It was released.
    pub fn set_syn_retries(&mut self, id: ConnectionId, most: u8) -> Result<(), StreamError> {
        self.change(id, |stream| stream.set_syn_retries(most))
    }

    fn change<T>(
        &mut self,
        id: ConnectionId,
        change: impl FnOnce(&mut Stream) -> T,
    ) -> Result<T, StreamError> {
        let entry = self
            .connections
            .get_mut(id)
            .filter(|entry| !entry.stream.is_released())
            .ok_or(StreamError::Unknown)?;
        let result = change(&mut entry.stream);
        self.settle(id);
        Ok(result)
    }
}
