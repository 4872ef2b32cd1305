//! Carries connections by the kernel on both sides: data moves by splice(2).

use std::net::SocketAddr;
use std::os::fd::OwnedFd;

use rustix::net::SocketAddrAny;
use serde_json::Value;
use slab::Slab;

use crate::admission::Servers;
use crate::carrier::{Carrier, End, Entry, Relay as _, RelayState};
use crate::counters::Counters;
use crate::flow::Shared;
use crate::handover::Packed;
use crate::kernel_stack::KernelStack;
use crate::relay::Relay;
use crate::socket;

/// Number of connections checked for spare memory when a new one finds no memory left.
const ASKED: usize = 256;

/// The treatment of clients' connections.
#[derive(Debug)]
pub struct Spliced {
    servers: Servers,
    /// The TCP stack of connections to servers, if these are the mobile side.
    stack: Option<KernelStack>,
    shared: Shared,
    /// The next connection to check for spare memory.
    asked: usize,
}

impl Spliced {
    /// Creates a carrier to these servers.
    pub const fn new(servers: Servers, stack: Option<KernelStack>, shared: Shared) -> Self {
        Self {
            servers,
            stack,
            shared,
            asked: 0,
        }
    }

    /// Opens a connection to a client's server, at the first reachable address from number
    /// `attempt` on.
    fn dial(&self, client: &OwnedFd, from: SocketAddr, attempt: usize) -> Option<(OwnedFd, usize)> {
        let mut attempt = attempt;
        loop {
            match (self.servers).dial(client, from, attempt, self.stack.as_ref())? {
                Ok(server) => return Some((server, attempt)),
                Err(_) => attempt += 1,
            }
        }
    }

    /// Asks some connections for memory, if it is used up.
    fn find_memory(&mut self, relays: &mut Slab<Entry<Relay>>) {
        for _ in 0..ASKED {
            if self.shared.memory.has_room() || relays.capacity() == 0 {
                return;
            }
            self.asked = (self.asked + 1) % relays.capacity();
            if let Some(entry) = relays.get_mut(self.asked) {
                entry.relay.shrink(&mut self.shared);
            }
        }
    }
}

impl Carrier for Spliced {
    type Relay = Relay;

    fn admit(
        &mut self,
        client: OwnedFd,
        from: Option<SocketAddrAny>,
        others: &mut Slab<Entry<Relay>>,
    ) -> Option<Relay> {
        let from = SocketAddr::try_from(from?).ok()?;
        socket::prepare(&client).ok()?;
        let server = self.dial(&client, from, 0)?;
        self.find_memory(others);
        Some(Relay::new(client, from, server, &mut self.shared))
    }

    fn turn(&mut self, relay: &mut Relay) -> RelayState {
        let standing = relay.turn(&mut self.shared);
        if standing != RelayState::ConnectFailed {
            return standing;
        }
        let Some(client) = relay.socket(End::Client) else {
            return standing;
        };
        match self.dial(client, relay.from, relay.attempt + 1) {
            Some((server, attempt)) => {
                relay.retry(server, attempt);
                RelayState::Redialled
            }
            None => RelayState::ConnectFailed,
        }
    }

    fn end(&mut self, relay: Relay, standing: RelayState) {
        if standing == RelayState::Closed {
            relay.close(&mut self.shared);
        } else {
            relay.reset(&mut self.shared);
        }
    }

    fn pack<'a>(&self, relay: &'a Relay) -> Option<Packed<'a>> {
        let (state, descriptors) = relay.packed();
        Some(Packed {
            state: serde_json::to_value(state).ok()?,
            descriptors,
        })
    }

    fn unpack(&mut self, state: Value, descriptors: Vec<OwnedFd>) -> Option<Relay> {
        let state = serde_json::from_value(state).ok()?;
        Relay::resumed(&state, descriptors, &mut self.shared)
    }

    fn count(&self, counters: &mut Counters) {
        counters.pipes = self.shared.pipes.lent() as u64;
        counters.granted_bytes = self.shared.memory.granted() as u64;
    }
}
