//! One connection between the kernel and airtcp's endpoint.

use std::io::IoSlice;
use std::os::fd::OwnedFd;
use std::time::Duration;

use airtcp_endpoint::{ConnectionId, Endpoint, Linger, Read, Stream};
use airtcp_host::tcp_info::tcp_info;
use airtcp_units::Instant;
use rustix::event::epoll::EventFlags;
use rustix::io::Errno;
use rustix::net::{
    RecvFlags, SendAncillaryBuffer, SendFlags, Shutdown, recv, sendmsg, shutdown, sockopt,
};

use crate::backlog::{Bounds, Rate, Window, base_of};
use crate::carrier::{self, End, RelayState};
use crate::flow::Side;
use crate::socket::close_in_order;

/// Limit on the data that a direction passes in a turn, in bytes.
const TURN: usize = 1 << 20;
/// The initial size of the kernel's receive buffer, in bytes.
const FIRST: usize = 64 << 10;
/// The assumed round trip before the first sample.
const UNKNOWN: Duration = Duration::from_secs(1);

/// A connection.
#[derive(Debug)]
pub struct Relay {
    side: Side,
    /// The endpoint's connection.
    pub id: ConnectionId,
    /// Bytes from the kernel to the endpoint, and back.
    passed: [u64; 2],
    is_finished: [bool; 2],
    has_ended: bool,
    /// Whether the connection to the server has not been answered yet.
    is_connecting: bool,
    is_to_kernel: bool,
    /// The kernel's receive buffer, and the limit on it.
    window: Window,
    rate: Rate,
    most: usize,
    /// Whether the endpoint had no room since the last check of the window.
    was_full: bool,
    /// Bytes fed to the endpoint since the last check of the window.
    fed: usize,
}

impl Relay {
    /// Creates a connection to a server on the kernel's side (`is_to_kernel`) or the endpoint's,
    /// with at most `most` bytes in a buffer.
    pub fn new(side: Side, id: ConnectionId, is_to_kernel: bool, most: usize) -> Self {
        let window = Window::new(FIRST.min(most), &side.socket);
        Self {
            window,
            rate: Rate::default(),
            most,
            was_full: false,
            fed: 0,
            side,
            id,
            passed: [0; 2],
            is_finished: [false; 2],
            has_ended: false,
            is_connecting: true,
            is_to_kernel,
        }
    }

    /// Performs everything possible now.
    pub fn turn(&mut self, endpoint: &mut Endpoint, buffer: &mut [u8]) -> RelayState {
        let Ok(readiness) = endpoint.readiness(self.id) else {
            return RelayState::Failed;
        };
        if self.is_connecting {
            if self.is_to_kernel {
                if !self.side.is_writable && !self.side.has_failed {
                    return if readiness.ended.is_some() {
                        RelayState::Failed
                    } else {
                        RelayState::Waits
                    };
                }
                match sockopt::socket_error(&self.side.socket) {
                    Ok(Ok(())) => {}
                    _ => return RelayState::ConnectFailed,
                }
            } else if !readiness.established {
                if readiness.ended.is_some() {
                    return RelayState::ConnectFailed;
                }
                // Data sent by the client until then leaves with the last segment of the handshake.
                let fed = self.feed_endpoint(endpoint, buffer);
                return if fed.is_err() || self.side.has_failed {
                    RelayState::Failed
                } else {
                    RelayState::Waits
                };
            }
            self.is_connecting = false;
        }
        let up = self.feed_endpoint(endpoint, buffer);
        let down = self.feed_kernel(endpoint);
        let (Ok(up), Ok(down)) = (up, down) else {
            return RelayState::Failed;
        };
        if self.is_finished == [true; 2] {
            return RelayState::Closed;
        }
        // Data that arrived before the failure has been passed on, if there was room.
        if self.side.has_failed || self.has_broken(endpoint) {
            return RelayState::Failed;
        }
        if up || down {
            RelayState::Again
        } else {
            RelayState::Waits
        }
    }

    /// Whether the endpoint's connection ended with data still to be passed.
    fn has_broken(&self, endpoint: &Endpoint) -> bool {
        let ended = endpoint.readiness(self.id).map(|readiness| readiness.ended);
        match ended {
            Ok(Some(airtcp_tcp::End::Orderly)) => !self.has_ended && self.is_finished[1],
            Ok(None) => false,
            _ => true,
        }
    }

    /// Moves the kernel's data into the endpoint's send buffer, as room permits. Returns whether it
    /// could continue.
    fn feed_endpoint(&mut self, endpoint: &mut Endpoint, buffer: &mut [u8]) -> Result<bool, Errno> {
        let mut turned = 0;
        while !self.has_ended && self.side.is_readable {
            let (room, unsent) = endpoint.stream(self.id).map_or((0, 0), |stream| {
                let unsent = bounds(stream, self.rate, Duration::ZERO).unsent;
                let below = unsent.saturating_sub(stream.unsent());
                (stream.room().min(below), unsent)
            });
            if room == 0 {
                self.was_full = true;
                // Half of it is one piece, instead of many for single acknowledgments.
                let _ = endpoint.set_unsent_below(self.id, unsent / 2);
                return Ok(false);
            }
            if turned >= TURN {
                return Ok(true);
            }
            let most = room.min(buffer.len());
            match recv(&self.side.socket, &mut buffer[..most], RecvFlags::DONTWAIT) {
                Ok((0, _)) => {
                    self.has_ended = true;
                    let _ = endpoint.shut_writing(self.id);
                }
                Ok((bytes, _)) => {
                    // There was room, so all of it is accepted, or the connection has ended.
                    let _ = endpoint.write(self.id, &buffer[..bytes]);
                    self.passed[0] += bytes as u64;
                    turned += bytes;
                    self.fit_window(endpoint, bytes);
                }
                Err(Errno::AGAIN) => self.side.is_readable = false,
                Err(Errno::INTR) => {}
                Err(error) => return Err(error),
            }
        }
        // The end has been passed on once everything before it is acknowledged.
        let left = endpoint
            .stream(self.id)
            .map_or(0, airtcp_endpoint::Stream::unacknowledged);
        self.is_finished[0] = self.has_ended && left == 0;
        Ok(false)
    }

    /// Fits the kernel's receive buffer, regularly, to the endpoint's rate.
    fn fit_window(&mut self, endpoint: &Endpoint, bytes: usize) {
        self.fed += bytes;
        let Some(stream) = endpoint.stream(self.id) else {
            return;
        };
        let socket = &self.side.socket;
        let unsent = bounds(stream, self.rate, Duration::ZERO).unsent;
        if self.fed < unsent {
            return;
        }
        self.rate.sample(rate(stream));
        let size = if self.was_full {
            let source = tcp_info(socket).map_or(Duration::ZERO, |info| base_of(&info));
            self.window
                .approach(bounds(stream, self.rate, source).unread)
        } else {
            let smoothed = stream.connection().sender().rtt().srtt();
            let smoothed = smoothed.map_or(Duration::ZERO, standard);
            self.window.passed(self.fed, socket, smoothed)
        };
        if let Some(size) = size.map(|size| size.min(self.most))
            && size != self.window.bytes()
        {
            self.window.resize(size, socket);
        }
        (self.was_full, self.fed) = (false, 0);
    }

    /// Moves data received by the endpoint into the kernel's socket. Returns whether it could
    /// continue.
    fn feed_kernel(&mut self, endpoint: &mut Endpoint) -> Result<bool, Errno> {
        let mut turned = 0;
        while !self.is_finished[1] {
            if !self.side.is_writable {
                return Ok(false);
            }
            if turned >= TURN {
                return Ok(true);
            }
            match endpoint.read(self.id, &mut []) {
                Ok(Read::Finished) => {
                    let is_in_order = endpoint
                        .stream(self.id)
                        .is_some_and(|stream| stream.connection().receiver().is_finished());
                    if !is_in_order {
                        return Err(Errno::CONNRESET);
                    }
                    match shutdown(&self.side.socket, Shutdown::Write) {
                        Ok(()) | Err(Errno::NOTCONN) => self.is_finished[1] = true,
                        Err(error) => return Err(error),
                    }
                    continue;
                }
                Ok(_) => {}
                Err(_) => return Err(Errno::CONNRESET),
            }
            let mut sent = Ok(0);
            let socket = &self.side.socket;
            let taken = endpoint.read_with(self.id, |pieces| {
                if pieces[0].is_empty() && pieces[1].is_empty() {
                    return 0;
                }
                let pieces = pieces.map(IoSlice::new);
                let flags = SendFlags::NOSIGNAL | SendFlags::DONTWAIT;
                sent = sendmsg(socket, &pieces, &mut SendAncillaryBuffer::default(), flags);
                sent.unwrap_or(0)
            });
            match sent {
                Err(Errno::AGAIN) => self.side.is_writable = false,
                Err(Errno::INTR) => {}
                Err(error) => return Err(error),
                Ok(_) => match taken {
                    Ok(0) => return Ok(false),
                    Ok(bytes) => {
                        self.passed[1] += bytes as u64;
                        turned += bytes;
                    }
                    Err(_) => return Err(Errno::CONNRESET),
                },
            }
        }
        Ok(false)
    }

    /// Closes both sides cleanly.
    pub fn close(self, now: Instant, endpoint: &mut Endpoint) {
        close_in_order(&self.side.socket);
        let _ = endpoint.release(now, self.id, Linger::Background);
    }

    /// Resets both sides, as far as they still exist.
    pub fn reset(self, now: Instant, endpoint: &mut Endpoint) {
        let _ = endpoint.release(now, self.id, Linger::Reset);
    }
}

impl carrier::Relay for Relay {
    fn socket(&self, end: End) -> Option<&OwnedFd> {
        (self.is_to_kernel == (end == End::Server)).then_some(&self.side.socket)
    }

    fn hear(&mut self, _: End, events: EventFlags) {
        self.side.hear(events);
    }

    fn is_connecting(&self) -> bool {
        self.is_connecting
    }

    fn passed(&self) -> [u64; 2] {
        let [to_endpoint, to_kernel] = self.passed;
        if self.is_to_kernel {
            [to_kernel, to_endpoint]
        } else {
            [to_endpoint, to_kernel]
        }
    }
}

/// The rate at which the endpoint takes data, in bytes per second: a congestion window per smoothed
/// round trip.
fn rate(stream: &Stream) -> f64 {
    let sender = stream.connection().sender();
    let smoothed = sender.rtt().srtt().map_or(UNKNOWN, standard);
    sender.cwnd() as f64 / smoothed.as_secs_f64().max(1e-9)
}

/// The bounds on data waiting for the endpoint, with a source at this base round trip. Before the
/// first sample only a window is known.
fn bounds(stream: &Stream, of_late: Rate, source: Duration) -> Bounds {
    let base = stream.connection().sender().rtt().minimum();
    let base = base.map_or(UNKNOWN, standard);
    Bounds::new(rate(stream).max(of_late.get()), base, source)
}

fn standard(duration: airtcp_units::Duration) -> Duration {
    Duration::from_nanos(duration.as_nanos())
}
