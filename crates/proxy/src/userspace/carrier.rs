//! Carries connections by the kernel's sockets on one side, and airtcp's endpoint on a TUN device
//! on the other.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixDatagram;
use std::time::Duration;

use airtcp_endpoint::{ConnectionId, Linger, Options};
use airtcp_host::error::Result;
use airtcp_host::link_reports;
use rustix::net::SocketAddrAny;
use slab::Slab;

use super::best_start::BestStart;
use super::relay::Relay;
use super::sides::Way;
use crate::carrier::{Carrier, Entry, Event, RelayState};
use crate::counters::Counters;
use crate::flow::Side;
use crate::stack::driver::Driver;
use crate::{queue, socket};

/// Limit on the bytes copied at a time.
const COPIED: usize = 256 << 10;
/// Its event sources.
const DEVICE: u64 = 0;
const REPORTS: u64 = 1;

/// The treatment of connections.
#[derive(Debug)]
pub struct Policy {
    /// Their direction.
    pub way: Way,
    /// The endpoint's options.
    pub options: Options,
    /// Knowledge of earlier sessions.
    pub memory: BestStart,
    /// The reports of the radio's driver, if any.
    pub reports: Option<UnixDatagram>,
}

/// The endpoint, and the relays of its connections.
#[derive(Debug)]
pub struct Userspace {
    policy: Policy,
    driver: Driver,
    /// The relays of the endpoint's connections.
    by_id: BTreeMap<ConnectionId, usize>,
    /// The endpoint's connections by their ends, the local one first, as the radio's driver sees
    /// them.
    by_ends: BTreeMap<[SocketAddr; 2], ConnectionId>,
    buffer: Box<[u8]>,
    /// Whether the device may have more packets than a round reads.
    has_more: bool,
}

impl Userspace {
    /// Creates a carrier without connections.
    pub fn new(policy: Policy, driver: Driver) -> Self {
        Self {
            policy,
            driver,
            by_id: BTreeMap::new(),
            by_ends: BTreeMap::new(),
            buffer: vec![0; COPIED].into_boxed_slice(),
            has_more: false,
        }
    }

    /// The ends of a connection as the radio's driver sees them.
    fn ends(&self, id: ConnectionId) -> Option<[SocketAddr; 2]> {
        let tuple = self.driver.endpoint().tuple(id)?;
        Some(self.policy.way.seen(tuple.local, tuple.remote))
    }

    /// Begins a connection of the endpoint.
    fn connect(&mut self, [from, server]: [SocketAddr; 2]) -> Option<ConnectionId> {
        let policy = &self.policy;
        let mut options = policy.memory.options(&policy.options, server.ip());
        policy.way.fit(&mut options, server);
        let now = self.driver.now();
        let endpoint = self.driver.endpoint_mut();
        endpoint.connect(now, from, server, &options).ok()
    }

    /// Accepts one of the endpoint's clients, and continues through the kernel. The outer `None`:
    /// the client has left already.
    fn admit_from_endpoint(&mut self, has_room: bool) -> Option<Option<Relay>> {
        let Way::ToKernel { listener, servers } = &self.policy.way else {
            return None;
        };
        let id = self.driver.endpoint_mut().accept(*listener)?;
        let tuple = self.driver.endpoint().tuple(id);
        let begun = tuple
            .filter(|_| has_room)
            .and_then(|tuple| servers.dial_first(tuple.remote, tuple.local));
        if begun.is_none() {
            let now = self.driver.now();
            let _ = (self.driver.endpoint_mut()).release(now, id, Linger::Reset);
        }
        Some(begun.map(|server| self.relay(server, id, true)))
    }

    fn relay(&self, socket: OwnedFd, id: ConnectionId, is_to_kernel: bool) -> Relay {
        let most = self.policy.options.send_buffer;
        Relay::new(Side::new(socket), id, is_to_kernel, most)
    }
}

impl Carrier for Userspace {
    type Relay = Relay;

    fn watch(&self, events: &OwnedFd, first: u64) -> Result<()> {
        queue::watch(events, &self.driver, first + DEVICE)?;
        match &self.policy.reports {
            Some(reports) => queue::watch(events, reports, first + REPORTS),
            None => Ok(()),
        }
    }

    /// Passes reports of the radio's driver to the endpoint. The device is read in every round.
    fn hear(&mut self, source: u64, counters: &mut Counters) {
        let Some(socket) = self.policy.reports.as_ref().filter(|_| source == REPORTS) else {
            return;
        };
        while let Some(report) = link_reports::next(socket) {
            let ends = self.policy.way.seen(report.local, report.remote);
            if let Some(&id) = self.by_ends.get(&ends) {
                let now = self.driver.now();
                counters.reports += 1;
                for feedback in report.feedback().into_iter().flatten() {
                    let endpoint = self.driver.endpoint_mut();
                    let _ = endpoint.on_link_feedback(now, id, &feedback);
                }
            }
        }
    }

    fn receive(&mut self) -> Result<()> {
        self.has_more = self.driver.pump()?;
        Ok(())
    }

    fn send(&mut self) -> Result<()> {
        self.driver.flush()
    }

    fn next_event(&mut self, has_room: bool) -> Option<Event<Relay>> {
        loop {
            match self.driver.endpoint_mut().next_event()? {
                airtcp_endpoint::Event::Incoming(_) => {
                    if let Some(admitted) = self.admit_from_endpoint(has_room) {
                        return Some(Event::Admitted(admitted));
                    }
                }
                airtcp_endpoint::Event::Changed(id) => {
                    if let Some(&key) = self.by_id.get(&id) {
                        return Some(Event::Work(key));
                    }
                }
            }
        }
    }

    fn idle_for(&self) -> Option<Duration> {
        if self.has_more {
            Some(Duration::ZERO)
        } else {
            self.driver.idle_for()
        }
    }

    /// Continues through the endpoint.
    fn admit(
        &mut self,
        client: OwnedFd,
        from: Option<SocketAddrAny>,
        _: &mut Slab<Entry<Relay>>,
    ) -> Option<Relay> {
        let Way::ToEndpoint(beyond) = self.policy.way else {
            return None;
        };
        let ends = beyond.of(&client, from)?;
        socket::prepare(&client).ok()?;
        let id = self.connect(ends)?;
        Some(self.relay(client, id, false))
    }

    fn enrol(&mut self, key: usize, relay: &Relay) {
        self.by_id.insert(relay.id, key);
        if let Some(ends) = self.ends(relay.id) {
            self.by_ends.insert(ends, relay.id);
        }
    }

    fn turn(&mut self, relay: &mut Relay) -> RelayState {
        relay.turn(self.driver.endpoint_mut(), &mut self.buffer)
    }

    fn end(&mut self, relay: Relay, standing: RelayState) {
        self.by_id.remove(&relay.id);
        if let Some(ends) = self.ends(relay.id) {
            self.by_ends.remove(&ends);
        }
        let now = self.driver.now();
        if standing != RelayState::Closed {
            return relay.reset(now, self.driver.endpoint_mut());
        }
        let endpoint = self.driver.endpoint();
        if let (Some(tuple), Some(stream)) = (endpoint.tuple(relay.id), endpoint.stream(relay.id)) {
            self.policy
                .memory
                .keep(tuple.remote.ip(), stream.connection());
        }
        relay.close(now, self.driver.endpoint_mut());
    }
}
