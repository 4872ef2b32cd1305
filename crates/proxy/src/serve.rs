//! The loop: one thread and one event queue for all connections.
//!
//! A round processes all of the kernel's events, then gives each connection with work its turn, and
//! accepts last: no event of a round concerns a connection of the next.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixListener;
use std::time::Duration;

use airtcp_host::error::{Error, Result};
use rustix::event::Timespec;
use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::io::Errno;
use rustix::net::{SocketFlags, acceptfrom_with};
use slab::Slab;

use crate::admission::Servers;
use crate::counters::Counters;
use crate::flow::Shared;
use crate::kernel_stack::KernelStack;
use crate::relay::{End, Relay, Standing};
use crate::stats_line::StatsLine;
use crate::{queue, signals, socket, status};

/// Limit on the events processed in a round.
const EVENTS: usize = 512;
/// Limit on the connections accepted in a round.
const ACCEPTED: usize = 64;
/// Number of connections asked for memory when a new one finds none.
const ASKED: usize = 256;
/// Tokens of the event sources other than connections.
const SIGNAL: u64 = 0;
const STATUS: u64 = 1;
const LISTENERS: u64 = 2;
/// Each connection has two ends.
const RELAYS: u64 = 16;

/// The event sources other than connections.
#[derive(Debug)]
pub struct Sources {
    /// The clients' listeners.
    pub listeners: Vec<OwnedFd>,
    /// Signals that end the proxy.
    pub signals: OwnedFd,
    /// The listener for status requests.
    pub status: UnixListener,
}

/// The treatment of a client's connection.
#[derive(Debug)]
pub struct Policy {
    /// Its server.
    pub servers: Servers,
    /// The TCP stack of connections to servers, if these are the mobile side.
    pub stack: Option<KernelStack>,
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
    shared: Shared,
    relays: Slab<Entry>,
    /// Connections with work.
    ready: VecDeque<usize>,
    is_accepting: bool,
    /// The next connection to be asked for memory.
    asked: usize,
    counters: Counters,
    line: StatsLine,
}

impl Proxy {
    /// Creates a proxy without connections.
    ///
    /// # Errors
    ///
    /// The system refuses an event queue.
    pub fn new(sources: Sources, policy: Policy, shared: Shared) -> Result<Self> {
        let proxy = Self {
            queue: queue::new()?,
            line: StatsLine::new(policy.has_stats),
            sources,
            policy,
            shared,
            relays: Slab::new(),
            ready: VecDeque::new(),
            is_accepting: true,
            asked: 0,
            counters: Counters::default(),
        };
        queue::watch(&proxy.queue, &proxy.sources.signals, SIGNAL)?;
        queue::watch(&proxy.queue, &proxy.sources.status, STATUS)?;
        for (listener, token) in proxy.sources.listeners.iter().zip(LISTENERS..) {
            queue::watch(&proxy.queue, listener, token)?;
        }
        Ok(proxy)
    }

    /// Runs until a signal arrives, then resets open connections. Returns the counters.
    ///
    /// # Errors
    ///
    /// The event queue fails.
    pub fn run(mut self) -> Result<Counters> {
        let mut events = Vec::with_capacity(EVENTS);
        while self.round(&mut events)? {}
        let counters = self.counters();
        for entry in self.relays.drain() {
            entry.relay.reset(&mut self.shared);
        }
        Ok(counters)
    }

    /// Runs one round. Returns whether there should be another.
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
                SIGNAL => {}
                STATUS => is_asked = true,
                LISTENERS..RELAYS => has_clients = true,
                token => self.hear(token, flags),
            }
        }
        // Those that are ready now; one that could continue is ready for the next round.
        for _ in 0..self.ready.len() {
            if let Some(key) = self.ready.pop_front() {
                self.turn(key);
            }
        }
        if has_clients {
            self.accept();
        }
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

    fn hear(&mut self, token: u64, flags: EventFlags) {
        let (key, end) = connection(token);
        if let Some(entry) = self.relays.get_mut(key) {
            entry.relay.hear(end, flags);
            if !entry.is_queued {
                entry.is_queued = true;
                self.ready.push_back(key);
            }
        }
    }

    fn turn(&mut self, key: usize) {
        let Some(entry) = self.relays.get_mut(key) else {
            return;
        };
        entry.is_queued = false;
        match entry.relay.turn(&mut self.shared) {
            Standing::Waits => {}
            Standing::Again => {
                entry.is_queued = true;
                self.ready.push_back(key);
            }
            Standing::Over => {
                self.counters.over += 1;
                self.remove(key).close(&mut self.shared);
            }
            Standing::Failed(_) => {
                self.counters.failed += 1;
                self.remove(key).reset(&mut self.shared);
            }
            Standing::Unreached(_) => {
                if !self.retry(key) {
                    self.counters.unreached += 1;
                    self.remove(key).reset(&mut self.shared);
                }
            }
        }
    }

    /// Continues to the server's next address. Returns whether there is one.
    fn retry(&mut self, key: usize) -> bool {
        let Some(entry) = self.relays.get_mut(key) else {
            return false;
        };
        let relay = &mut entry.relay;
        let stack = self.policy.stack.as_ref();
        let client = relay.socket(End::Client);
        let mut attempt = relay.attempt + 1;
        loop {
            match (self.policy.servers).dial(client, relay.from, attempt, stack) {
                None => return false,
                Some(Err(_)) => attempt += 1,
                Some(Ok(server)) => {
                    relay.retry(server, attempt);
                    let watched = watch_end(&self.queue, relay, key, End::Server);
                    return watched.is_ok();
                }
            }
        }
    }

    fn remove(&mut self, key: usize) -> Relay {
        let relay = self.relays.remove(key).relay;
        let [up, down] = relay.passed();
        self.counters.up_bytes += up;
        self.counters.down_bytes += down;
        if !self.is_accepting {
            self.set_accepting(true);
        }
        relay
    }

    /// Accepts clients, as many as a round takes and there is room for.
    fn accept(&mut self) {
        for index in 0..self.sources.listeners.len() {
            for _ in 0..ACCEPTED {
                if self.relays.len() >= self.policy.most {
                    self.set_accepting(false);
                    return;
                }
                let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
                match acceptfrom_with(&self.sources.listeners[index], flags) {
                    Ok((client, from)) => {
                        let from = from.and_then(|from| SocketAddr::try_from(from).ok());
                        self.counters.accepted += 1;
                        if from.is_none_or(|from| !self.admit(client, from)) {
                            self.counters.unreached += 1;
                        }
                    }
                    Err(Errno::AGAIN) => break,
                    // The client is already gone, or the error is its own.
                    Err(Errno::INTR | Errno::CONNABORTED | Errno::PROTO | Errno::PERM) => {}
                    // No descriptors or no memory: there are some when a connection has ended.
                    Err(_) => {
                        self.set_accepting(self.relays.is_empty());
                        return;
                    }
                }
            }
        }
    }

    /// Opens a client's connection to its server. Returns whether that is in progress; a client
    /// whose server is unreachable is reset.
    fn admit(&mut self, client: OwnedFd, from: SocketAddr) -> bool {
        if socket::prepare(&client).is_err() {
            return false;
        }
        let stack = self.policy.stack.as_ref();
        let mut attempt = 0;
        let server = loop {
            match (self.policy.servers).dial(&client, from, attempt, stack) {
                None => return false,
                Some(Err(_)) => attempt += 1,
                Some(Ok(server)) => break server,
            }
        };
        self.find_memory();
        let relay = Relay::new(client, from, (server, attempt), &mut self.shared);
        let key = self.relays.vacant_key();
        let watched = [End::Client, End::Server]
            .into_iter()
            .all(|end| watch_end(&self.queue, &relay, key, end).is_ok());
        if !watched {
            relay.reset(&mut self.shared);
            return false;
        }
        self.relays.insert(Entry {
            relay,
            is_queued: false,
        });
        true
    }

    /// Asks some connections for memory, if none is left.
    fn find_memory(&mut self) {
        for _ in 0..ASKED {
            if self.shared.memory.has_room() || self.relays.capacity() == 0 {
                return;
            }
            self.asked = (self.asked + 1) % self.relays.capacity();
            if let Some(entry) = self.relays.get_mut(self.asked) {
                entry.relay.shrink(&mut self.shared);
            }
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
        counters.pipes = self.shared.pipes.lent() as u64;
        counters.granted_bytes = self.shared.memory.granted() as u64;
        counters
    }

    /// Time to wait: none with work to do, until the next line if there is to be one.
    fn timeout(&self) -> Option<Timespec> {
        let wait = if self.ready.is_empty() {
            self.line.due_in()?
        } else {
            Duration::ZERO
        };
        Timespec::try_from(wait).ok()
    }
}

/// Makes the event queue report an end of a connection, once per change.
fn watch_end(queue: &OwnedFd, relay: &Relay, key: usize, end: End) -> rustix::io::Result<()> {
    let flags = EventFlags::IN | EventFlags::OUT | EventFlags::RDHUP | EventFlags::ET;
    let data = EventData::new_u64(RELAYS + (key as u64 * 2) + u64::from(end == End::Server));
    epoll::add(queue, relay.socket(end), data, flags)
}

/// The connection and the end that a token denotes.
fn connection(token: u64) -> (usize, End) {
    let number = token - RELAYS;
    let end = if number.is_multiple_of(2) {
        End::Client
    } else {
        End::Server
    };
    (usize::try_from(number / 2).unwrap_or(usize::MAX), end)
}
