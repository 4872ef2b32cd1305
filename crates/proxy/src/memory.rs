//! Limits on the kernel's buffers of every connection, so that their sum stays within one bound.
//!
//! A direction of a connection has a *grant*: the size of its source's receive buffer and of its
//! destination's send buffer. It doubles when a grant's worth has passed within two round trips,
//! when the buffers may be the bottleneck, as in the kernel's own dynamic right-sizing
//! (tcp_rcv_space_adjust). While the sum of all grants is at the bound none grows, and large ones
//! shrink until every direction can have the minimum.

use std::os::fd::OwnedFd;
use std::time::Instant;

use airtcp_host::tcp_info::tcp_info;

use crate::socket::{bound_receiving, bound_sending};

/// The initial grant while memory is plentiful.
const FIRST: usize = 64 << 10;
/// The smallest useful grant: a kernel's send buffer has at least this size (SOCK_MIN_SNDBUF).
const LEAST: usize = 4 << 10;
/// Two buffers, and the kernel's overhead of as much again for each.
const KEPT: usize = 4;

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
        let share = bound / (directions * KEPT);
        Self {
            bound,
            granted: 0,
            least: share.clamp(LEAST, FIRST).min(most),
            most,
        }
    }

    /// Limit on the bytes held under the current grants.
    pub const fn granted(&self) -> usize {
        self.granted
    }

    /// Whether more is granted than available, should all of it be used.
    pub const fn is_short(&self) -> bool {
        self.granted > self.bound
    }

    /// Whether both directions of a new connection can get their first grant.
    pub fn has_room(&self) -> bool {
        self.granted + 2 * KEPT * self.first() <= self.bound
    }

    /// The size of a new grant.
    fn first(&self) -> usize {
        if self.granted < self.bound / 2 {
            FIRST.min(self.most)
        } else {
            self.least
        }
    }

    fn change(&mut self, from: usize, to: usize) {
        self.granted = self.granted - from * KEPT + to * KEPT;
    }
}

/// The size of each of one direction's two buffers.
#[derive(Clone, Copy, Debug)]
pub struct Grant {
    bytes: usize,
    /// Bytes passed since the last check.
    passed: usize,
    since: Instant,
}

impl Grant {
    /// Creates a first grant, and sets it on the direction's sockets.
    pub fn new(memory: &mut Memory, from: &OwnedFd, to: &OwnedFd) -> Self {
        let bytes = memory.first();
        memory.change(0, bytes);
        let grant = Self {
            bytes,
            passed: 0,
            since: Instant::now(),
        };
        grant.set(from, to);
        grant
    }

    /// The size of either buffer, in bytes.
    pub const fn bytes(&self) -> usize {
        self.bytes
    }

    /// Whether it is smaller than the initial size: memory is short.
    pub const fn is_small(&self) -> bool {
        self.bytes < FIRST
    }

    /// Records passed bytes, and regularly checks whether the size is right.
    pub fn passed(&mut self, bytes: usize, memory: &mut Memory, from: &OwnedFd, to: &OwnedFd) {
        self.passed += bytes;
        if self.passed < self.bytes {
            return;
        }
        let took = self.since.elapsed();
        if memory.is_short() {
            self.shrink(memory, from, to);
        } else if self.bytes < memory.most {
            let longer = round_trip_us(from, to);
            let grown = (self.bytes * 2).min(memory.most);
            let cost = (grown - self.bytes) * KEPT;
            if took.as_micros() < u128::from(longer) * 2 && memory.granted + cost <= memory.bound {
                self.resize(grown, memory, from, to);
            }
        }
        self.passed = 0;
        self.since = Instant::now();
    }

    /// Halves it, down to the minimum.
    pub fn shrink(&mut self, memory: &mut Memory, from: &OwnedFd, to: &OwnedFd) {
        let shrunk = (self.bytes / 2).max(memory.least);
        if shrunk < self.bytes {
            self.resize(shrunk, memory, from, to);
        }
    }

    /// Gives it back.
    pub fn give_back(self, memory: &mut Memory) {
        memory.change(self.bytes, 0);
    }

    fn resize(&mut self, bytes: usize, memory: &mut Memory, from: &OwnedFd, to: &OwnedFd) {
        memory.change(self.bytes, bytes);
        self.bytes = bytes;
        self.set(from, to);
    }

    /// Sets it on the direction's sockets.
    pub fn set(&self, from: &OwnedFd, to: &OwnedFd) {
        bound_receiving(from, self.bytes);
        bound_sending(to, self.bytes);
    }
}

/// The longer of the two sides' round trips: for the source, as measured by a receiver.
fn round_trip_us(from: &OwnedFd, to: &OwnedFd) -> u32 {
    let source = tcp_info(from).map_or(0, |info| info.receiver_rtt_us);
    let destination = tcp_info(to).map_or(0, |info| info.srtt_us);
    source.max(destination)
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
        assert!(given.iter().all(|(grant, _)| grant.bytes() >= LEAST));
    }
}
