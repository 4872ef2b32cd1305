//! Means of carrying connections in the loop: the kernel on both sides (`spliced`), or the kernel
//! on one and airtcp's endpoint on the other (`userspace::carrier`).

use std::os::fd::OwnedFd;
use std::time::Duration;

use airtcp_host::error::Result;
use rustix::event::epoll::EventFlags;
use rustix::net::SocketAddrAny;
use serde_json::Value;
use slab::Slab;

use crate::counters::Counters;
use crate::handover::Packed;

/// One of the two connections of a relay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The one made by a client.
    Client,
    /// The one made by the proxy.
    Server,
}

/// The state of a relay after its turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RelayState {
    /// It waits for an event.
    Waits,
    /// It could continue, but others come first.
    Again,
    /// The server is tried at another address, with a new socket.
    Redialled,
    /// Both ends have closed cleanly, and each knows.
    Closed,
    /// The server could not be reached.
    ConnectFailed,
    /// One of the two connections has failed.
    Failed,
}

/// A client's connection and the one that continues it to the server.
pub trait Relay {
    /// The kernel's socket at an end, if the kernel has that end.
    fn socket(&self, end: End) -> Option<&OwnedFd>;

    /// Records the kernel's events on an end.
    fn hear(&mut self, end: End, events: EventFlags);

    /// Whether the server has not answered yet.
    fn is_connecting(&self) -> bool;

    /// Bytes passed to the server, and to the client.
    fn passed(&self) -> [u64; 2];
}

/// A relay in the table of the loop.
#[derive(Debug)]
pub struct Entry<R> {
    /// The relay.
    pub relay: R,
    /// Whether it waits for its turn.
    pub is_queued: bool,
}

/// An event of the carrier.
#[derive(Debug)]
pub enum Event<R> {
    /// The relay with that key has work.
    Work(usize),
    /// A client has arrived; `None` if its server is unreachable.
    Admitted(Option<R>),
}

/// The means of carrying connections. Unsupported operations have defaults.
pub trait Carrier {
    /// A connection that it carries.
    type Relay: Relay;

    /// Registers its event sources with the queue, with tokens from `first` on.
    ///
    /// # Errors
    ///
    /// The system refuses one.
    fn watch(&self, _queue: &OwnedFd, _first: u64) -> Result<()> {
        Ok(())
    }

    /// Reads its event source number `source`.
    fn hear(&mut self, _source: u64, _counters: &mut Counters) {}

    /// Reads arrived data, before relays have their turns.
    ///
    /// # Errors
    ///
    /// A device is gone.
    fn receive(&mut self) -> Result<()> {
        Ok(())
    }

    /// Sends the relays' data, after their turns.
    ///
    /// # Errors
    ///
    /// A device is gone.
    fn send(&mut self) -> Result<()> {
        Ok(())
    }

    /// Its next event; `None` if there is no event. `has_room`: whether another relay fits.
    fn next_event(&mut self, _has_room: bool) -> Option<Event<Self::Relay>> {
        None
    }

    /// Time until it wants to be called without any event; `None` for never.
    fn idle_for(&self) -> Option<Duration> {
        None
    }

    /// Begins the relay of a client accepted by the kernel; `None` if its server is unreachable.
    /// `others` can be asked for memory.
    fn admit(
        &mut self,
        client: OwnedFd,
        from: Option<SocketAddrAny>,
        others: &mut Slab<Entry<Self::Relay>>,
    ) -> Option<Self::Relay>;

    /// Notes that a relay has this key from now on.
    fn enrol(&mut self, _key: usize, _relay: &Self::Relay) {}

    /// Performs everything possible for a relay.
    fn turn(&mut self, relay: &mut Self::Relay) -> RelayState;

    /// Ends a relay: cleanly if it is over, otherwise by resets.
    fn end(&mut self, relay: Self::Relay, standing: RelayState);

    /// State for a successor to continue a relay; `None` if another process cannot.
    fn pack<'a>(&self, _relay: &'a Self::Relay) -> Option<Packed<'a>> {
        None
    }

    /// Continues a relay packed by another process.
    fn unpack(&mut self, _state: Value, _descriptors: Vec<OwnedFd>) -> Option<Self::Relay> {
        None
    }

    /// Adds its counts to the counters.
    fn count(&self, _counters: &mut Counters) {}
}
