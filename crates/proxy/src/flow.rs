//! One direction of a connection: from one socket into the other.

use std::os::fd::OwnedFd;

use rustix::event::epoll::EventFlags;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, Shutdown, recv, send, shutdown};
use rustix::pipe::{SpliceFlags, splice};
use serde::{Deserialize, Serialize};

use crate::memory::{Grant, Memory};
use crate::pipes::{Pipe, Pipes, ROOM};

/// Limit on the data that one direction passes in a turn, in bytes.
const TURN: usize = 1 << 20;
/// Limit on the data copied at a time if no pipe is available, in bytes.
const COPIED: usize = 64 << 10;

/// A socket of a connection, and the kernel's last events for it.
#[derive(Debug)]
pub struct Side {
    /// The socket.
    pub socket: OwnedFd,
    /// Whether data, an end or an error may be readable.
    pub is_readable: bool,
    /// Whether there may be room to write.
    pub is_writable: bool,
    /// Whether the kernel has reported that the connection failed.
    pub has_failed: bool,
}

impl Side {
    /// Creates the side before any event.
    pub const fn new(socket: OwnedFd) -> Self {
        Self {
            socket,
            is_readable: false,
            is_writable: false,
            has_failed: false,
        }
    }

    /// Records the kernel's events.
    pub fn hear(&mut self, events: EventFlags) {
        let failed = events.contains(EventFlags::ERR);
        let closed = events.intersects(EventFlags::HUP | EventFlags::RDHUP);
        self.is_readable |= failed || closed || events.contains(EventFlags::IN);
        self.is_writable |= failed || events.contains(EventFlags::OUT);
        self.has_failed |= failed;
    }
}

/// State shared by all connections.
#[derive(Debug)]
pub struct Shared {
    /// The pool of pipes.
    pub pipes: Pipes,
    /// The memory granted to connections.
    pub memory: Memory,
    /// Buffer for copies if no pipe is available.
    buffer: Box<[u8]>,
}

impl Shared {
    /// Creates the shared state.
    pub fn new(pipes: Pipes, memory: Memory) -> Self {
        Self {
            pipes,
            memory,
            buffer: vec![0; COPIED].into_boxed_slice(),
        }
    }
}

/// The state of a direction after its turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// It waits for the kernel.
    Waits,
    /// It could continue, but others come first.
    Again,
    /// The end, and all data before it, has been passed on.
    Finished,
}

/// State of a direction for another process.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct PackedFlow {
    /// Bytes in its pipe, if it has one.
    pub held: Option<usize>,
    has_ended: bool,
    is_finished: bool,
    passed: u64,
}

/// A direction of a connection.
#[derive(Debug)]
pub struct Flow {
    grant: Grant,
    /// A pipe with the number of bytes in it, if the destination had no room for them.
    held: Option<(Pipe, usize)>,
    /// Whether the source has no more data.
    has_ended: bool,
    is_finished: bool,
    passed: u64,
}

impl Flow {
    /// Creates a direction through which nothing has passed.
    pub const fn new(grant: Grant) -> Self {
        Self {
            grant,
            held: None,
            has_ended: false,
            is_finished: false,
            passed: 0,
        }
    }

    /// Continues a direction of another process, with the pipe that contains its data.
    pub fn resumed(grant: Grant, state: &PackedFlow, pipe: Option<Pipe>) -> Self {
        Self {
            grant,
            held: pipe.zip(state.held),
            has_ended: state.has_ended,
            is_finished: state.is_finished,
            passed: state.passed,
        }
    }

    /// Its state, for another process.
    pub fn packed(&self) -> PackedFlow {
        PackedFlow {
            held: self.held.as_ref().map(|(_, bytes)| *bytes),
            has_ended: self.has_ended,
            is_finished: self.is_finished,
            passed: self.passed,
        }
    }

    /// The pipe that contains data.
    pub fn pipe(&self) -> Option<&Pipe> {
        self.held.as_ref().map(|(pipe, _)| pipe)
    }

    /// Bytes passed to the destination.
    pub const fn passed(&self) -> u64 {
        self.passed
    }

    /// Passes on available data, and after it the end.
    ///
    /// # Errors
    ///
    /// The kernel's error on one of the two connections; neither is usable then.
    pub fn turn(
        &mut self,
        from: &mut Side,
        to: &mut Side,
        shared: &mut Shared,
    ) -> Result<Turn, Errno> {
        let mut turned = 0;
        loop {
            if self.is_finished {
                return Ok(Turn::Finished);
            }
            if self.held.is_some() {
                if !self.empty(from, to, shared)? {
                    return Ok(Turn::Waits);
                }
                continue;
            }
            if self.has_ended {
                match shutdown(&to.socket, Shutdown::Write) {
                    // Reset by now; the other direction gets the error.
                    Ok(()) | Err(Errno::NOTCONN) => self.is_finished = true,
                    Err(error) => return Err(error),
                }
                continue;
            }
            if !from.is_readable || !to.is_writable {
                return Ok(Turn::Waits);
            }
            if !has_room(&to.socket)? {
                to.is_writable = false;
                self.grant.was_full();
                return Ok(Turn::Waits);
            }
            if turned >= TURN {
                return Ok(Turn::Again);
            }
            turned += match shared.pipes.lend() {
                Some(pipe) => self.fill(pipe, from, shared)?,
                None => self.copy(from, to, shared)?,
            };
        }
    }

    /// Moves data from the source into a pipe. Reads only as much as the destination has room for:
    /// other data waits in the source's window.
    fn fill(&mut self, pipe: Pipe, from: &mut Side, shared: &mut Shared) -> Result<usize, Errno> {
        let room = self.grant.piece().min(ROOM);
        match splice(&from.socket, None, &pipe.into, None, room, flags()) {
            Ok(0) => {
                self.has_ended = true;
                shared.pipes.take_back(pipe);
                Ok(0)
            }
            Ok(bytes) => {
                self.held = Some((pipe, bytes));
                Ok(bytes)
            }
            // The pipe is empty: the source has no data.
            Err(Errno::AGAIN) => {
                from.is_readable = false;
                shared.pipes.take_back(pipe);
                Ok(0)
            }
            Err(Errno::INTR) => {
                shared.pipes.take_back(pipe);
                Ok(0)
            }
            Err(error) => {
                shared.pipes.take_back(pipe);
                Err(error)
            }
        }
    }

    /// Moves data from the pipe into the destination. Returns whether the pipe was emptied and
    /// returned.
    fn empty(&mut self, from: &Side, to: &mut Side, shared: &mut Shared) -> Result<bool, Errno> {
        let Some((pipe, bytes)) = &mut self.held else {
            return Ok(true);
        };
        while *bytes > 0 {
            if !to.is_writable {
                return Ok(false);
            }
            match splice(&pipe.out, None, &to.socket, None, *bytes, flags()) {
                Ok(moved) => {
                    *bytes -= moved;
                    self.passed += moved as u64;
                    let memory = &mut shared.memory;
                    self.grant.passed(moved, memory, &from.socket, &to.socket);
                }
                Err(Errno::AGAIN) => {
                    to.is_writable = false;
                    self.grant.was_full();
                }
                Err(Errno::INTR) => {}
                Err(error) => return Err(error),
            }
        }
        if let Some((pipe, _)) = self.held.take() {
            shared.pipes.take_back(pipe);
        }
        Ok(true)
    }

    /// The same without a pipe: data is copied, and removed from the source only once the
    /// destination has it, so that no data is held in between.
    fn copy(
        &mut self,
        from: &mut Side,
        to: &mut Side,
        shared: &mut Shared,
    ) -> Result<usize, Errno> {
        let room = self.grant.piece().min(shared.buffer.len());
        let buffer = &mut shared.buffer[..room];
        let seen = match recv(
            &from.socket,
            &mut buffer[..],
            RecvFlags::PEEK | RecvFlags::DONTWAIT,
        ) {
            Ok((0, _)) => {
                self.has_ended = true;
                return Ok(0);
            }
            Ok((seen, _)) => seen,
            Err(Errno::AGAIN) => {
                from.is_readable = false;
                return Ok(0);
            }
            Err(Errno::INTR) => return Ok(0),
            Err(error) => return Err(error),
        };
        let sent = match send(
            &to.socket,
            &buffer[..seen],
            SendFlags::NOSIGNAL | SendFlags::DONTWAIT,
        ) {
            Ok(sent) => sent,
            Err(Errno::AGAIN) => {
                to.is_writable = false;
                self.grant.was_full();
                return Ok(0);
            }
            Err(Errno::INTR) => return Ok(0),
            Err(error) => return Err(error),
        };
        self.passed += sent as u64;
        let mut left = sent;
        while left > 0 {
            // tcp(7): with MSG_TRUNC received bytes are discarded, and not copied.
            match recv(
                &from.socket,
                &mut buffer[..left],
                RecvFlags::TRUNC | RecvFlags::DONTWAIT,
            ) {
                Ok((_, 0)) => break,
                Ok((_, gone)) => left -= gone.min(left),
                Err(Errno::INTR) => {}
                Err(error) => return Err(error),
            }
        }
        let memory = &mut shared.memory;
        self.grant.passed(sent, memory, &from.socket, &to.socket);
        Ok(sent)
    }

    /// Sets this direction's grant on another socket.
    pub fn bound(&mut self, from: &Side, to: &Side) {
        self.grant.set(&from.socket, &to.socket);
    }

    /// Reduces the connection's memory when others need it. Data already held is not touched.
    pub fn shrink(&mut self, from: &Side, to: &Side, memory: &mut Memory) {
        if self.held.is_none() {
            self.grant.shrink(memory, &from.socket, &to.socket);
        }
    }

    /// Releases the direction's pipes and memory.
    pub fn give_back(self, shared: &mut Shared) {
        if let Some((pipe, _)) = self.held {
            shared.pipes.drop_full(pipe);
        }
        self.grant.give_back(&mut shared.memory);
    }
}

/// Whether a send buffer has room within the kernel's limits. A write without this check exceeds
/// them, until a segment for the device is full (tcp_sendmsg_locked, `size_goal`), which is several
/// small buffers. After a negative answer the kernel reports to the event queue as soon as there is
/// room (tcp_poll, SOCK_NOSPACE).
fn has_room(socket: &OwnedFd) -> Result<bool, Errno> {
    let mut polled = [PollFd::new(socket, PollFlags::OUT)];
    match poll(&mut polled, Some(&Timespec::default())) {
        Ok(ready) => Ok(ready > 0),
        Err(Errno::INTR) => Ok(true),
        Err(error) => Err(error),
    }
}

fn flags() -> SpliceFlags {
    SpliceFlags::NONBLOCK | SpliceFlags::MOVE
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};

    use super::*;

    /// Two ends of a connection over the loopback device.
    fn connection() -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        (near, listener.accept().unwrap().0)
    }

    /// Checks that data written at one end arrives at the other, with `pipes` pipes.
    fn passes_all(pipes: usize) {
        let (mut source, from) = connection();
        let (to, mut destination) = connection();
        for socket in [&from, &to] {
            socket.set_nonblocking(true).unwrap();
        }
        let mut shared = Shared::new(Pipes::new(pipes), Memory::new(8 << 20, 4, 1 << 20));
        let (mut from, mut to) = (Side::new(from.into()), Side::new(to.into()));
        let mut flow = Flow::new(Grant::new(&mut shared.memory, &from.socket, &to.socket));
        let sent: Vec<u8> = (0..3_000_017_u32)
            .map(|number| (number % 251) as u8)
            .collect();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                source.write_all(&sent).unwrap();
                drop(source);
            });
            let reader = scope.spawn(|| {
                let mut read = Vec::new();
                destination.read_to_end(&mut read).unwrap();
                read
            });
            loop {
                (from.is_readable, to.is_writable) = (true, true);
                if flow.turn(&mut from, &mut to, &mut shared).unwrap() == Turn::Finished {
                    break;
                }
                assert!(shared.pipes.lent() <= pipes);
                std::thread::yield_now();
            }
            assert!(reader.join().unwrap() == sent);
        });
        assert_eq!(flow.passed(), sent.len() as u64);
        flow.give_back(&mut shared);
        assert_eq!((shared.pipes.lent(), shared.memory.granted()), (0, 0));
    }

    #[test]
    fn data_passes_by_a_pipe() {
        passes_all(1);
    }

    /// Without pipes everything is copied, without other differences.
    #[test]
    fn data_passes_without_a_pipe() {
        passes_all(0);
    }
}
