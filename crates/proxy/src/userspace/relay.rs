//! One connection between the kernel and our endpoint.

use std::io::IoSlice;

use airtcp_endpoint::{ConnectionId, Endpoint, Linger, Read};
use airtcp_units::Instant;
use rustix::event::epoll::EventFlags;
use rustix::io::Errno;
use rustix::net::{
    RecvFlags, SendAncillaryBuffer, SendFlags, Shutdown, recv, sendmsg, shutdown, sockopt,
};

use crate::flow::Side;
use crate::socket::close_in_order;

/// Limit on the data that a direction passes before others have their turn, in bytes.
const TURN: usize = 1 << 20;

/// The state of a connection after its turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It waits for the kernel or the endpoint.
    Waits,
    /// It could continue, but others come first.
    Again,
    /// Both directions have ended in order.
    Over,
    /// The connection to the server, the kernel's or ours, was not established.
    Unreached,
    /// One of the two has failed.
    Failed,
}

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
}

impl Relay {
    /// Creates a connection whose server is beyond the kernel's side (`is_to_kernel`) or the
    /// endpoint's.
    pub const fn new(side: Side, id: ConnectionId, is_to_kernel: bool) -> Self {
        Self {
            side,
            id,
            passed: [0; 2],
            is_finished: [false; 2],
            has_ended: false,
            is_connecting: true,
            is_to_kernel,
        }
    }

    /// The kernel's side.
    pub const fn side(&self) -> &Side {
        &self.side
    }

    /// Whether the server has not answered yet.
    pub const fn is_connecting(&self) -> bool {
        self.is_connecting
    }

    /// Bytes towards the server, and towards the client.
    pub const fn passed(&self) -> [u64; 2] {
        let [to_endpoint, to_kernel] = self.passed;
        if self.is_to_kernel {
            [to_kernel, to_endpoint]
        } else {
            [to_endpoint, to_kernel]
        }
    }

    /// Records the kernel's events on its side.
    pub fn hear(&mut self, events: EventFlags) {
        self.side.hear(events);
    }

    /// Performs everything possible now.
    pub fn turn(&mut self, endpoint: &mut Endpoint, buffer: &mut [u8]) -> Standing {
        let Ok(readiness) = endpoint.readiness(self.id) else {
            return Standing::Failed;
        };
        if self.is_connecting {
            if self.is_to_kernel {
                if !self.side.is_writable && !self.side.has_failed {
                    return if readiness.ended.is_some() {
                        Standing::Failed
                    } else {
                        Standing::Waits
                    };
                }
                match sockopt::socket_error(&self.side.socket) {
                    Ok(Ok(())) => {}
                    _ => return Standing::Unreached,
                }
            } else if !readiness.established {
                if readiness.ended.is_some() {
                    return Standing::Unreached;
                }
                // Data that the client has sent by then leaves with the last segment of the
                // handshake.
                let fed = self.feed_endpoint(endpoint, buffer);
                return if fed.is_err() || self.side.has_failed {
                    Standing::Failed
                } else {
                    Standing::Waits
                };
            }
            self.is_connecting = false;
        }
        let up = self.feed_endpoint(endpoint, buffer);
        let down = self.feed_kernel(endpoint);
        let (Ok(up), Ok(down)) = (up, down) else {
            return Standing::Failed;
        };
        if self.is_finished == [true; 2] {
            return Standing::Over;
        }
        // Data that arrived before the failure has been passed on, if there was room.
        if self.side.has_failed || self.has_broken(endpoint) {
            return Standing::Failed;
        }
        if up || down {
            Standing::Again
        } else {
            Standing::Waits
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

    /// Moves the kernel's data into the endpoint's send buffer, as far as there is room. Returns
    /// whether it could continue.
    fn feed_endpoint(&mut self, endpoint: &mut Endpoint, buffer: &mut [u8]) -> Result<bool, Errno> {
        let mut turned = 0;
        while !self.has_ended && self.side.is_readable {
            let room = endpoint
                .stream(self.id)
                .map_or(0, airtcp_endpoint::Stream::room);
            if room == 0 {
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

    /// Closes both sides in order.
    pub fn close(self, now: Instant, endpoint: &mut Endpoint) {
        close_in_order(&self.side.socket);
        let _ = endpoint.release(now, self.id, Linger::Background);
    }

    /// Resets both sides, as far as they still exist.
    pub fn reset(self, now: Instant, endpoint: &mut Endpoint) {
        let _ = endpoint.release(now, self.id, Linger::Reset);
    }
}
