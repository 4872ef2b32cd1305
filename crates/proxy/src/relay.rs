//! One connection through the proxy: two of the kernel's, and the data passing between them.

use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::event::epoll::EventFlags;
use rustix::net::sockopt;
use serde::{Deserialize, Serialize};

use crate::carrier::{self, End, RelayState};
use crate::flow::{Flow, PackedFlow, Shared, Side, Turn};
use crate::memory::Grant;
use crate::pipes::Pipe;
use crate::socket::close_in_order;

/// State of a connection for another process. Its descriptors: the client's socket, the server's,
/// and both ends of each pipe with data.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct PackedRelay {
    from: SocketAddr,
    attempt: usize,
    is_connecting: bool,
    up: PackedFlow,
    down: PackedFlow,
}

/// A connection.
#[derive(Debug)]
pub struct Relay {
    client: Side,
    server: Side,
    up: Flow,
    down: Flow,
    /// The client's address.
    pub from: SocketAddr,
    /// The index of the server's address that is being tried, or was reached.
    pub attempt: usize,
    is_connecting: bool,
}

impl Relay {
    /// Creates the relay of a client's connection, with one just opened to an address of the
    /// server.
    pub fn new(
        client: OwnedFd,
        from: SocketAddr,
        (server, attempt): (OwnedFd, usize),
        shared: &mut Shared,
    ) -> Self {
        let memory = &mut shared.memory;
        let up = Flow::new(Grant::new(memory, &client, &server));
        let down = Flow::new(Grant::new(memory, &server, &client));
        Self {
            client: Side::new(client),
            server: Side::new(server),
            up,
            down,
            from,
            attempt,
            is_connecting: true,
        }
    }

    /// Continues a relay of another process. `None` if descriptors are missing.
    pub fn resumed(
        state: &PackedRelay,
        descriptors: Vec<OwnedFd>,
        shared: &mut Shared,
    ) -> Option<Self> {
        let mut descriptors = descriptors.into_iter();
        let (client, server) = (descriptors.next()?, descriptors.next()?);
        let mut pipes = [None, None];
        for (pipe, flow) in pipes.iter_mut().zip([&state.up, &state.down]) {
            if flow.held.is_some() {
                let (out, into) = (descriptors.next()?, descriptors.next()?);
                shared.pipes.adopt();
                *pipe = Some(Pipe { out, into });
            }
        }
        let memory = &mut shared.memory;
        let up = Grant::new(memory, &client, &server);
        let down = Grant::new(memory, &server, &client);
        let [pipe_up, pipe_down] = pipes;
        Some(Self {
            client: Side::new(client),
            server: Side::new(server),
            up: Flow::resumed(up, &state.up, pipe_up),
            down: Flow::resumed(down, &state.down, pipe_down),
            from: state.from,
            attempt: state.attempt,
            is_connecting: state.is_connecting,
        })
    }

    /// Its state and descriptors, for another process.
    pub fn packed(&self) -> (PackedRelay, Vec<BorrowedFd<'_>>) {
        let state = PackedRelay {
            from: self.from,
            attempt: self.attempt,
            is_connecting: self.is_connecting,
            up: self.up.packed(),
            down: self.down.packed(),
        };
        let pipes = [&self.up, &self.down].into_iter().filter_map(Flow::pipe);
        let pipes = pipes.flat_map(|pipe| [pipe.out.as_fd(), pipe.into.as_fd()]);
        let sockets = [self.client.socket.as_fd(), self.server.socket.as_fd()];
        (state, sockets.into_iter().chain(pipes).collect())
    }

    /// Continues with another connection to the server, just opened.
    pub fn retry(&mut self, server: OwnedFd, attempt: usize) {
        self.attempt = attempt;
        self.server = Side::new(server);
        self.up.bound(&self.client, &self.server);
        self.down.bound(&self.server, &self.client);
        self.is_connecting = true;
    }

    /// Performs everything possible now.
    pub fn turn(&mut self, shared: &mut Shared) -> RelayState {
        if self.is_connecting {
            if self.client.has_failed {
                return RelayState::Failed;
            }
            if !self.server.is_writable && !self.server.has_failed {
                return RelayState::Waits;
            }
            match sockopt::socket_error(&self.server.socket) {
                Ok(Ok(())) => self.is_connecting = false,
                Ok(Err(_)) | Err(_) => return RelayState::ConnectFailed,
            }
        }
        let up = self.up.turn(&mut self.client, &mut self.server, shared);
        let down = self.down.turn(&mut self.server, &mut self.client, shared);
        match (up, down) {
            (Err(_), _) | (_, Err(_)) => RelayState::Failed,
            (Ok(Turn::Finished), Ok(Turn::Finished)) => RelayState::Closed,
            (Ok(up), Ok(down)) => {
                // Data received before the failure has been passed on, if there was room.
                if self.client.has_failed || self.server.has_failed {
                    return RelayState::Failed;
                }
                if up == Turn::Again || down == Turn::Again {
                    RelayState::Again
                } else {
                    RelayState::Waits
                }
            }
        }
    }

    /// Reduces the connection's memory, for others.
    pub fn shrink(&mut self, shared: &mut Shared) {
        let memory = &mut shared.memory;
        self.up.shrink(&self.client, &self.server, memory);
        self.down.shrink(&self.server, &self.client, memory);
    }

    /// Closes both connections cleanly: each end has seen the other's end.
    pub fn close(self, shared: &mut Shared) {
        close_in_order(&self.client.socket);
        close_in_order(&self.server.socket);
        self.reset(shared);
    }

    /// Aborts both connections, which resets an end that still exists.
    pub fn reset(self, shared: &mut Shared) {
        self.up.give_back(shared);
        self.down.give_back(shared);
    }
}

impl carrier::Relay for Relay {
    fn socket(&self, end: End) -> Option<&OwnedFd> {
        Some(match end {
            End::Client => &self.client.socket,
            End::Server => &self.server.socket,
        })
    }

    fn hear(&mut self, end: End, events: EventFlags) {
        match end {
            End::Client => self.client.hear(events),
            End::Server => self.server.hear(events),
        }
    }

    fn is_connecting(&self) -> bool {
        self.is_connecting
    }

    fn passed(&self) -> [u64; 2] {
        [self.up.passed(), self.down.passed()]
    }
}
