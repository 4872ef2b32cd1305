//! What the loop carries connections by: the kernel on both sides (`spliced`), or the kernel on one
//! and an endpoint of our own on the other (`userspace::carrier`).

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
    /// The server is tried at another address, by a new socket.
    Redialled,
    /// Both ends have closed in order, and each knows.
    Over,
    /// The server could not be reached.
    Unreached,
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

/// A relay in the loop's table.
#[derive(Debug)]
pub struct Entry<R> {
    /// The relay.
    pub relay: R,
    /// Whether it waits for its turn.
    pub is_queued: bool,
}

/// An event of the carrier's own.
#[derive(Debug)]
pub enum Event<R> {
    /// The relay with that key has work.
    Work(usize),
    /// A client has come in; `None` if its server is out of reach.
    Admitted(Option<R>),
}

/// The means of carrying connections. What it has no part in has a default.
pub trait Carrier {
    /// A connection that it carries.
    type Relay: Relay;

    /// Has the queue report its own sources, with tokens from `first` on.
    ///
    /// # Errors
    ///
    /// The system refuses one.
    fn watch(&self, _queue: &OwnedFd, _first: u64) -> Result<()> {
        Ok(())
    }

    /// Reads its own source number `source`.
    fn hear(&mut self, _source: u64, _counters: &mut Counters) {}

    /// Takes what has arrived, before relays have their turns.
    ///
    /// # Errors
    ///
    /// A device is gone.
    fn receive(&mut self) -> Result<()> {
        Ok(())
    }

    /// Sends what relays have left, after their turns.
    ///
    /// # Errors
    ///
    /// A device is gone.
    fn send(&mut self) -> Result<()> {
        Ok(())
    }

    /// The next event of its own; `None` if there is none now. `has_room`: for another relay.
    fn next_event(&mut self, _has_room: bool) -> Option<Event<Self::Relay>> {
        None
    }

    /// Time until it wants to be called again without any event; `None` for ever.
    fn idle_for(&self) -> Option<Duration> {
        None
    }

    /// Begins the relay of a client that the kernel has accepted; `None` if its server is out of
    /// reach. `others` can be asked for memory.
    fn admit(
        &mut self,
        client: OwnedFd,
        from: Option<SocketAddrAny>,
        others: &mut Slab<Entry<Self::Relay>>,
    ) -> Option<Self::Relay>;

    /// Notes that a relay has that key from now on.
    fn enrol(&mut self, _key: usize, _relay: &Self::Relay) {}

    /// Performs everything possible for a relay.
    fn turn(&mut self, relay: &mut Self::Relay) -> RelayState;

    /// Ends a relay: in order if it is over, by resets otherwise.
    fn end(&mut self, relay: Self::Relay, standing: RelayState);

    /// What a successor needs to carry a relay on; `None` if another process cannot.
    fn pack<'a>(&self, _relay: &'a Self::Relay) -> Option<Packed<'a>> {
        None
    }

    /// Carries a relay on that another process has packed.
    fn unpack(&mut self, _state: Value, _descriptors: Vec<OwnedFd>) -> Option<Self::Relay> {
        None
    }

    /// Adds what it has to say to the counters.
    fn count(&self, _counters: &mut Counters) {}
}
