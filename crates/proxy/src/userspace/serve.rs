//! The loop for a mobile side with our own endpoint: the kernel's sockets on one side, a TUN device
//! on the other.
//!
//! A round processes the kernel's events, reads packets, gives each connection with work its turn,
//! accepts, and sends the endpoint's output.

use std::collections::{BTreeMap, VecDeque};
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixDatagram;
use std::time::Duration;

use airtcp_endpoint::{ConnectionId, Event, Options};
use airtcp_host::clock::wait;
use airtcp_host::error::{Error, Result};
use airtcp_host::link_reports;
use rustix::event::Timespec;
use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::io::Errno;
use rustix::net::{SocketFlags, acceptfrom_with};
use slab::Slab;

use super::best_start::BestStart;
use super::relay::{Relay, Standing};
use super::sides::Way;
use crate::counters::Counters;
use crate::flow::Side;
use crate::serve::Sources;
use crate::stack::driver::Driver;
use crate::stats_line::StatsLine;
use crate::{queue, signals, socket, status};

/// Limit on the events processed in a round.
const EVENTS: usize = 512;
/// Limit on the connections accepted in a round.
const ACCEPTED: usize = 64;
/// Limit on the bytes copied at a time.
const COPIED: usize = 256 << 10;
/// Tokens of the event sources other than connections.
const SIGNAL: u64 = 0;
const STATUS: u64 = 1;
const DEVICE: u64 = 2;
const REPORTS: u64 = 3;
const LISTENERS: u64 = 4;
const RELAYS: u64 = 16;

/// The treatment of connections.
#[derive(Debug)]
pub struct Policy {
    /// Their way.
    pub way: Way,
    /// The endpoint's options.
    pub options: Options,
    /// The knowledge of earlier sessions.
    pub memory: BestStart,
    /// The reports of the radio's driver, if any.
    pub reports: Option<UnixDatagram>,
    /// Limit on connections.
    pub most: usize,
    /// Whether a line is printed every second.
    pub has_stats: bool,
}

#[derive(Debug)]
struct Entry {
    relay: Relay,
    is_queued: bool,
}

/// The running proxy.
#[derive(Debug)]
pub struct Proxy {
    queue: OwnedFd,
    sources: Sources,
    policy: Policy,
    driver: Driver,
    relays: Slab<Entry>,
    /// The relays of the endpoint's connections.
    by_id: BTreeMap<ConnectionId, usize>,
    /// The endpoint's connections by their ends, this side's first, as the radio's driver sees
    /// them.
    by_ends: BTreeMap<[SocketAddr; 2], ConnectionId>,
    ready: VecDeque<usize>,
    buffer: Box<[u8]>,
    /// Whether the device or a listener may have more than a round takes.
    has_more: bool,
    is_accepting: bool,
    counters: Counters,
    line: StatsLine,
}

impl Proxy {
    /// Creates a proxy without connections.
    ///
    /// # Errors
    ///
    /// The system refuses an event queue.
    pub fn new(sources: Sources, policy: Policy, driver: Driver) -> Result<Self> {
        let proxy = Self {
            queue: queue::new()?,
            line: StatsLine::new(policy.has_stats),
            sources,
            policy,
            driver,
            relays: Slab::new(),
            by_id: BTreeMap::new(),
            by_ends: BTreeMap::new(),
            ready: VecDeque::new(),
            buffer: vec![0; COPIED].into_boxed_slice(),
            has_more: false,
            is_accepting: true,
            counters: Counters::default(),
        };
        queue::watch(&proxy.queue, &proxy.sources.signals, SIGNAL)?;
        queue::watch(&proxy.queue, &proxy.sources.status, STATUS)?;
        queue::watch(&proxy.queue, &proxy.driver, DEVICE)?;
        if let Some(reports) = &proxy.policy.reports {
            queue::watch(&proxy.queue, reports, REPORTS)?;
        }
        for (listener, token) in proxy.sources.listeners.iter().zip(LISTENERS..) {
            queue::watch(&proxy.queue, listener, token)?;
        }
        Ok(proxy)
    }

    /// Runs until a signal arrives, then resets open connections. Returns the counters.
    ///
    /// # Errors
    ///
    /// The event queue or the device fails.
    pub fn run(mut self) -> Result<Counters> {
        let mut events = Vec::with_capacity(EVENTS);
        while self.round(&mut events)? {}
        let counters = self.counters();
        let now = self.driver.now();
        for entry in self.relays.drain() {
            entry.relay.reset(now, self.driver.endpoint_mut());
        }
        self.driver.flush()?;
        Ok(counters)
    }

    fn round(&mut self, events: &mut Vec<epoll::Event>) -> Result<bool> {
        events.clear();
        let timeout = self.timeout();
        let spare = rustix::buffer::spare_capacity(events);
        match epoll::wait(&self.queue, spare, timeout.as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(cause) => return Err(Error::system("cannot wait for events", cause)),
        }
        let (mut has_clients, mut is_asked) = (false, false);
        for event in events.iter() {
            let (token, flags) = (event.data.u64(), event.flags);
            match token {
                SIGNAL if signals::take(&self.sources.signals) => return Ok(false),
                SIGNAL | DEVICE => {}
                REPORTS => self.take_reports(),
                STATUS => is_asked = true,
                LISTENERS..RELAYS => has_clients = true,
                token => {
                    let key = usize::try_from(token - RELAYS).unwrap_or(usize::MAX);
                    if let Some(entry) = self.relays.get_mut(key) {
                        entry.relay.hear(flags);
                        self.queue_up(key);
                    }
                }
            }
        }
        self.has_more = self.driver.pump()?;
        self.take_events();
        for _ in 0..self.ready.len() {
            if let Some(key) = self.ready.pop_front() {
                self.turn(key);
            }
        }
        if has_clients {
            self.accept();
        }
        self.driver.flush()?;
        self.take_events();
        if is_asked {
            let counters = self.counters();
            status::answer(&self.sources.status, || counters.json());
        }
        if self.line.due_in() == Some(Duration::ZERO) {
            let counters = self.counters();
            self.line.show(counters);
        }
        Ok(true)
    }

    fn queue_up(&mut self, key: usize) {
        if let Some(entry) = self.relays.get_mut(key)
            && !entry.is_queued
        {
            entry.is_queued = true;
            self.ready.push_back(key);
        }
    }

    /// Processes the endpoint's events.
    fn take_events(&mut self) {
        while let Some(event) = self.driver.endpoint_mut().next_event() {
            match event {
                Event::Incoming(_) => self.admit_from_endpoint(),
                Event::Changed(id) => {
                    if let Some(&key) = self.by_id.get(&id) {
                        self.queue_up(key);
                    }
                }
            }
        }
    }

    /// Hands the endpoint what the radio's driver tells.
    fn take_reports(&mut self) {
        let Some(socket) = &self.policy.reports else {
            return;
        };
        while let Some(report) = link_reports::next(socket) {
            let ends = self.policy.way.seen(report.local, report.remote);
            if let Some(&id) = self.by_ends.get(&ends) {
                let now = self.driver.now();
                self.counters.reports += 1;
                for feedback in report.feedback().into_iter().flatten() {
                    let endpoint = self.driver.endpoint_mut();
                    let _ = endpoint.on_link_feedback(now, id, &feedback);
                }
            }
        }
    }

    fn turn(&mut self, key: usize) {
        let Some(entry) = self.relays.get_mut(key) else {
            return;
        };
        entry.is_queued = false;
        let standing = entry
            .relay
            .turn(self.driver.endpoint_mut(), &mut self.buffer);
        match standing {
            Standing::Waits => return,
            Standing::Again => return self.queue_up(key),
            Standing::Over => self.counters.over += 1,
            Standing::Unreached => self.counters.unreached += 1,
            Standing::Failed => self.counters.failed += 1,
        }
        let relay = self.relays.remove(key).relay;
        self.by_id.remove(&relay.id);
        if let Some(tuple) = self.driver.endpoint().tuple(relay.id) {
            let ends = self.policy.way.seen(tuple.local, tuple.remote);
            self.by_ends.remove(&ends);
            let stream = self.driver.endpoint().stream(relay.id);
            if standing == Standing::Over
                && let Some(stream) = stream
            {
                self.policy
                    .memory
                    .keep(tuple.remote.ip(), stream.connection());
            }
        }
        let [up, down] = relay.passed();
        self.counters.up_bytes += up;
        self.counters.down_bytes += down;
        let (now, endpoint) = (self.driver.now(), self.driver.endpoint_mut());
        if standing == Standing::Over {
            relay.close(now, endpoint);
        } else {
            relay.reset(now, endpoint);
        }
        if !self.is_accepting {
            self.set_accepting(true);
        }
    }

    /// Accepts the kernel's clients, and continues through the endpoint.
    fn accept(&mut self) {
        let Way::ToEndpoint(beyond) = self.policy.way else {
            return;
        };
        for index in 0..self.sources.listeners.len() {
            for _ in 0..ACCEPTED {
                if self.relays.len() >= self.policy.most {
                    return self.set_accepting(false);
                }
                let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
                match acceptfrom_with(&self.sources.listeners[index], flags) {
                    Ok((client, peer)) => {
                        self.counters.accepted += 1;
                        let ends = beyond.of(&client, peer);
                        let ends = ends.filter(|_| socket::prepare(&client).is_ok());
                        match ends.and_then(|ends| self.connect(ends)) {
                            Some(id) => self.insert(Side::new(client), id, false),
                            None => self.counters.unreached += 1,
                        }
                    }
                    Err(Errno::AGAIN) => break,
                    // The client is already gone, or the error is its own.
                    Err(Errno::INTR | Errno::CONNABORTED | Errno::PROTO | Errno::PERM) => {}
                    // No descriptors or no memory: there are some when a connection has ended.
                    Err(_) => return self.set_accepting(self.relays.is_empty()),
                }
            }
        }
    }

    /// Begins a connection of the endpoint's.
    fn connect(&mut self, [from, server]: [SocketAddr; 2]) -> Option<ConnectionId> {
        let policy = &self.policy;
        let mut options = policy.memory.options(&policy.options, server.ip());
        policy.way.fit(&mut options, server);
        let now = self.driver.now();
        let endpoint = self.driver.endpoint_mut();
        endpoint.connect(now, from, server, &options).ok()
    }

    /// Accepts the endpoint's clients, and continues through the kernel.
    fn admit_from_endpoint(&mut self) {
        let Way::ToKernel { listener, servers } = &self.policy.way else {
            return;
        };
        let Some(id) = self.driver.endpoint_mut().accept(*listener) else {
            return;
        };
        self.counters.accepted += 1;
        let tuple = self.driver.endpoint().tuple(id);
        let begun = tuple
            .filter(|_| self.relays.len() < self.policy.most)
            .and_then(|tuple| servers.dial_first(tuple.remote, tuple.local));
        match begun {
            Some(server) => self.insert(Side::new(server), id, true),
            None => {
                self.counters.unreached += 1;
                let now = self.driver.now();
                let _ =
                    (self.driver.endpoint_mut()).release(now, id, airtcp_endpoint::Linger::Reset);
            }
        }
    }

    fn insert(&mut self, side: Side, id: ConnectionId, is_to_kernel: bool) {
        let relay = Relay::new(side, id, is_to_kernel);
        let entry = self.relays.vacant_entry();
        let key = entry.key();
        let flags = EventFlags::IN | EventFlags::OUT | EventFlags::RDHUP | EventFlags::ET;
        let data = EventData::new_u64(RELAYS + key as u64);
        if epoll::add(&self.queue, &relay.side().socket, data, flags).is_err() {
            self.counters.failed += 1;
            let now = self.driver.now();
            return relay.reset(now, self.driver.endpoint_mut());
        }
        entry.insert(Entry {
            relay,
            is_queued: false,
        });
        self.by_id.insert(id, key);
        if let Some(tuple) = self.driver.endpoint().tuple(id) {
            let ends = self.policy.way.seen(tuple.local, tuple.remote);
            self.by_ends.insert(ends, id);
        }
    }

    fn set_accepting(&mut self, accepting: bool) {
        self.is_accepting = accepting;
        queue::set_accepting(&self.queue, &self.sources.listeners, LISTENERS, accepting);
    }

    fn counters(&self) -> Counters {
        let mut counters = self.counters;
        for (_, entry) in &self.relays {
            let [up, down] = entry.relay.passed();
            counters.up_bytes += up;
            counters.down_bytes += down;
            counters.connecting += u64::from(entry.relay.is_connecting());
        }
        counters.open = self.relays.len() as u64;
        counters
    }

    /// Time until the endpoint's next timer, or the next line; zero with work to do.
    fn timeout(&self) -> Option<Timespec> {
        if self.has_more || !self.ready.is_empty() {
            return Some(Timespec::default());
        }
        let until_timer = wait(self.driver.now(), self.driver.endpoint().next_wakeup());
        let until_line = self.line.due_in();
        let until_line = until_line.map(|left| Timespec::try_from(left).unwrap_or_default());
        let length = |time: &Timespec| (time.tv_sec, time.tv_nsec);
        [until_timer, until_line]
            .into_iter()
            .flatten()
            .min_by_key(length)
    }
}
