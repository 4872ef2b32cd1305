//! Limits on the kernel's buffers of every connection, so that their sum stays within one bound.
//!
//! A direction of a connection has a *grant*: the size of its source's receive buffer, of its
//! destination's send buffer, and of unsent data in that. They follow the destination's rate
//! (`backlog`), up and down. While the sum of all grants is at the bound no grant grows, and large
//! ones shrink until every direction can have the minimum.

use std::os::fd::OwnedFd;
use std::time::Duration;

use airtcp_host::tcp_info::tcp_info;

use crate::backlog::{Bounds, Rate, Window, base_of, rate_of};
use crate::socket::{bound_sending, bound_unsent};

/// The initial grant while memory is plentiful.
const FIRST: usize = 64 << 10;
/// The smallest useful grant: a kernel's send buffer has at least this size (SOCK_MIN_SNDBUF).
const MIN: usize = 4 << 10;
/// A buffer, and the same amount of kernel overhead.
const KEPT: usize = 2;
/// Buffers of a direction.
const BUFFERS: usize = 2;

/// The memory of all connections.
#[derive(Clone, Debug)]
pub struct Memory {
    bound: usize,
    granted: usize,
    least: usize,
    most: usize,
}

impl Memory {
    /// Creates memory of `bound` bytes for this number of connections, with at most `most` bytes
    /// per buffer.
    pub fn new(bound: usize, connections: usize, most: usize) -> Self {
        let directions = connections.max(1) * 2;
        let share = bound / (directions * BUFFERS * KEPT);
        Self {
            bound,
            granted: 0,
            least: share.clamp(MIN, FIRST).min(most),
            most,
        }
    }

    /// Limit on the bytes held under the current grants.
    pub const fn granted(&self) -> usize {
        self.granted
    }

    /// Whether more is granted than available, if all of it were used.
    pub const fn is_short(&self) -> bool {
        self.granted > self.bound
    }

    /// Whether both directions of a new connection can get their first grant.
    pub fn has_room(&self) -> bool {
        self.granted + 2 * BUFFERS * KEPT * self.first() <= self.bound
    }

    /// The size of a new grant.
    fn first(&self) -> usize {
        if self.granted < self.bound / 2 {
            FIRST.min(self.most)
        } else {
            self.least
        }
    }

    /// The permitted size of a buffer of `from` bytes for a requested size `to`.
    fn allowed(&self, from: usize, to: usize) -> usize {
        let free = self.bound.saturating_sub(self.granted) / KEPT;
        to.clamp(self.least, self.most.max(self.least))
            .min(from + free)
    }

    fn change(&mut self, from: usize, to: usize) {
        self.granted = self.granted - from * KEPT + to * KEPT;
    }
}

/// The sizes of one direction's buffers.
#[derive(Clone, Copy, Debug)]
pub struct Grant {
    window: Window,
    rate: Rate,
    send: usize,
    /// Limit on the bytes in the send buffer that were not sent once.
    unsent: usize,
    /// Whether the destination had no room since the last check.
    was_full: bool,
    /// Bytes passed since the last check.
    passed: usize,
}

impl Grant {
    /// Creates a first grant, and sets it on the direction's sockets.
    pub fn new(memory: &mut Memory, from: &OwnedFd, to: &OwnedFd) -> Self {
        let bytes = memory.first();
        memory.change(0, BUFFERS * bytes);
        let grant = Self {
            window: Window::new(bytes, from),
            rate: Rate::default(),
            send: bytes,
            unsent: bytes / 2,
            was_full: false,
            passed: 0,
        };
        grant.set_sending(to);
        grant
    }

    /// The bytes of both buffers.
    pub const fn bytes(&self) -> usize {
        self.window.bytes() + self.send
    }

    /// Limit on the bytes to pass at a time, to a destination that has room: half of the bound on
    /// unsent data, which is the room of a writable socket.
    pub const fn piece(&self) -> usize {
        self.unsent / 2
    }

    /// Records that the destination had no room.
    pub const fn was_full(&mut self) {
        self.was_full = true;
    }

    /// Records passed bytes, and regularly checks whether the sizes are right.
    pub fn passed(&mut self, bytes: usize, memory: &mut Memory, from: &OwnedFd, to: &OwnedFd) {
        self.passed += bytes;
        if self.passed < self.unsent {
            return;
        }
        if memory.is_short() {
            self.shrink(memory, from, to);
        } else if self.was_full {
            self.follow(memory, from, to);
        } else {
            let destination = tcp_info(to).map_or(0, |info| info.srtt_us);
            let destination = Duration::from_micros(destination.into());
            if let Some(size) = self.window.passed(self.passed, from, destination) {
                self.resize_window(size, memory, from);
            }
        }
        self.was_full = false;
        self.passed = 0;
    }

    /// Follows the destination's rate.
    fn follow(&mut self, memory: &mut Memory, from: &OwnedFd, to: &OwnedFd) {
        let (Ok(source), Ok(destination)) = (tcp_info(from), tcp_info(to)) else {
            return;
        };
        let rate = self.rate.sample(rate_of(&destination));
        let bounds = Bounds::new(rate, base_of(&destination), base_of(&source));
        if let Some(size) = self.window.approach(bounds.unread) {
            self.resize_window(size, memory, from);
        }
        // Data in flight is in the send buffer too, and doubles in slow start.
        let in_flight = destination.cwnd as usize * destination.mss as usize;
        let needed = bounds.unsent + 2 * in_flight;
        let send = if self.send < needed || self.send > 4 * needed {
            memory.allowed(self.send, needed)
        } else {
            self.send
        };
        let unsent = bounds.unsent.min(send);
        let is_near = unsent.abs_diff(self.unsent) < self.unsent / 8;
        if send != self.send || !is_near {
            memory.change(self.send, send);
            (self.send, self.unsent) = (send, unsent);
            self.set_sending(to);
        }
    }

    /// Halves the grant, down to the minimum.
    pub fn shrink(&mut self, memory: &mut Memory, from: &OwnedFd, to: &OwnedFd) {
        self.resize_window(self.window.bytes() / 2, memory, from);
        let send = (self.send / 2).max(memory.least).min(self.send);
        memory.change(self.send, send);
        (self.send, self.unsent) = (send, self.unsent.min(send));
        self.set_sending(to);
    }

    /// Releases the grant.
    pub fn give_back(self, memory: &mut Memory) {
        memory.change(self.bytes(), 0);
    }

    fn resize_window(&mut self, bytes: usize, memory: &mut Memory, from: &OwnedFd) {
        let before = self.window.bytes();
        let bytes = memory.allowed(before, bytes);
        if bytes != before {
            memory.change(before, bytes);
            self.window.resize(bytes, from);
        }
    }

    /// Sets the grant on the direction's sockets.
    pub fn set(&mut self, from: &OwnedFd, to: &OwnedFd) {
        self.window.resize(self.window.bytes(), from);
        self.set_sending(to);
    }

    fn set_sending(&self, to: &OwnedFd) {
        bound_sending(to, self.send);
        bound_unsent(to, self.unsent);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Grants for sockets without traffic: only the sizes are tested.
    fn grants(memory: &mut Memory, number: usize) -> Vec<(Grant, OwnedFd)> {
        let made = (0..number).map(|_| {
            let socket: OwnedFd = std::net::UdpSocket::bind("127.0.0.1:0").unwrap().into();
            (Grant::new(memory, &socket, &socket), socket)
        });
        made.collect()
    }

    /// The total is the sum of all grants, whatever the order of events.
    #[test]
    fn the_sum_is_that_of_the_grants() {
        let mut memory = Memory::new(16 << 20, 100, 1 << 20);
        let mut given = grants(&mut memory, 100);
        let sum = |given: &[(Grant, OwnedFd)]| {
            given
                .iter()
                .map(|(grant, _)| grant.bytes() * KEPT)
                .sum::<usize>()
        };
        assert_eq!(memory.granted(), sum(&given));
        for (grant, socket) in given.iter_mut().step_by(3) {
            grant.shrink(&mut memory, socket, socket);
        }
        assert_eq!(memory.granted(), sum(&given));
        for (grant, _) in given.drain(..) {
            grant.give_back(&mut memory);
        }
        assert_eq!(memory.granted(), 0);
    }

    /// With every connection present and every grant minimal, the bound holds.
    #[test]
    fn the_least_of_all_connections_fits() {
        let mut memory = Memory::new(64 << 20, 500, 4 << 20);
        let mut given = grants(&mut memory, 1000);
        for _ in 0..8 {
            for (grant, socket) in &mut given {
                grant.shrink(&mut memory, socket, socket);
            }
        }
        assert!(!memory.is_short(), "{memory:?}");
        assert!(
            given
                .iter()
                .all(|(grant, _)| grant.bytes() >= BUFFERS * MIN)
        );
    }
}
