//! The loop: one thread and one event queue for all connections over any carrier.
//!
//! A round processes the kernel's events, reads the carrier's received data, gives each connection
//! with work its turn, and accepts last: no event of a round concerns a connection of the next.

use std::collections::VecDeque;
use std::os::fd::OwnedFd;
use std::time::Duration;

use airtcp_host::daemon::signals::{Signal, Signals};
use airtcp_host::daemon::status::{Request, Requests};
use airtcp_host::daemon::successor::Successor;
use airtcp_host::error::{Error, Result};
use rustix::event::Timespec;
use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::io::Errno;
use rustix::net::{SocketFlags, acceptfrom_with};
use serde_json::Value;
use slab::Slab;

use crate::carrier::{Carrier, End, Entry, Event, Relay, RelayState};
use crate::counters::Counters;
use crate::handover::{Channel, Estate, Identity};
use crate::stats_line::StatsLine;
use crate::{handover, queue};

/// Signals that end the proxy, and SIGUSR2, which starts a successor.
pub const SIGNALS: [Signal; 4] = [Signal::INT, Signal::TERM, Signal::HUP, Signal::USR2];

/// Limit on the events processed in a round.
const EVENTS: usize = 512;
/// Limit on the connections accepted in a round.
const ACCEPTED: usize = 64;
/// Tokens of the event sources other than connections.
const SIGNAL: u64 = 0;
const STATUS: u64 = 1;
const LISTENERS: u64 = 2;
const SUCCESSOR: u64 = 7;
/// First token of the carrier's sources.
const OWN: u64 = 8;
/// Each connection has two ends.
const RELAYS: u64 = 16;

/// The event sources other than connections.
#[derive(Debug)]
pub struct Sources {
    /// The clients' listeners.
    pub listeners: Vec<OwnedFd>,
    /// The signals that the proxy obeys.
    pub signals: Signals,
    /// The listener for a successor.
    pub successor: OwnedFd,
}

/// Reasons for the end of a proxy.
#[derive(Debug)]
pub enum Ended {
    /// A signal; open connections were reset.
    Signalled(Counters),
    /// A successor has everything.
    HandedOver(Channel),
}

/// The step after a round.
#[derive(Debug)]
enum Next {
    /// Another round.
    Round,
    /// The end.
    End,
    /// A successor at the other end of the channel has everything.
    Successor(Channel),
}

/// The running proxy.
#[derive(Debug)]
pub struct Proxy<C: Carrier> {
    queue: OwnedFd,
    sources: Sources,
    carrier: C,
    relays: Slab<Entry<C::Relay>>,
    /// Connections with work.
    ready: VecDeque<usize>,
    /// Limit on connections.
    most: usize,
    is_accepting: bool,
    counters: Counters,
    line: StatsLine,
    identity: Identity,
    /// The lock on the journal of a diversion, for a successor.
    lock: Option<OwnedFd>,
    successor: Successor,
}

impl<C: Carrier> Proxy<C> {
    /// Creates a proxy without connections, with at most `most`; prints a line every second if
    /// `has_stats`.
    ///
    /// # Errors
    ///
    /// The system refuses an event queue.
    pub fn new(
        sources: Sources,
        carrier: C,
        most: usize,
        has_stats: bool,
        identity: Identity,
    ) -> Result<Self> {
        let proxy = Self {
            queue: queue::new()?,
            line: StatsLine::new(has_stats),
            sources,
            carrier,
            relays: Slab::new(),
            ready: VecDeque::new(),
            most,
            is_accepting: true,
            counters: Counters::default(),
            identity,
            lock: None,
            successor: Successor::default(),
        };
        queue::watch(&proxy.queue, &proxy.sources.signals, SIGNAL)?;
        queue::watch(&proxy.queue, &proxy.sources.successor, SUCCESSOR)?;
        for (listener, token) in proxy.sources.listeners.iter().zip(LISTENERS..SUCCESSOR) {
            queue::watch(&proxy.queue, listener, token)?;
        }
        proxy.carrier.watch(&proxy.queue, OWN)?;
        Ok(proxy)
    }

    /// Adds the lock on the journal of its diversion, which a successor needs.
    #[must_use]
    pub fn with_lock(self, lock: Option<OwnedFd>) -> Self {
        Self { lock, ..self }
    }

    /// Continues the connections and the counters of another process.
    pub fn resume(&mut self, relays: Vec<(Value, Vec<OwnedFd>)>, counters: Counters) {
        for (state, descriptors) in relays {
            match self.carrier.unpack(state, descriptors) {
                Some(relay) => self.enter(relay),
                None => self.counters.failed += 1,
            }
        }
        self.counters.add(&counters);
    }

    /// Runs until a signal arrives, then resets open connections, or until a successor has them.
    ///
    /// # Errors
    ///
    /// The event queue or a device fails.
    pub fn run(mut self, requests: &Requests) -> Result<Ended> {
        queue::watch(&self.queue, requests, STATUS)?;
        let mut events = Vec::with_capacity(EVENTS);
        loop {
            match self.round(&mut events, requests)? {
                Next::Round => {}
                Next::End => break,
                Next::Successor(channel) => {
                    // Closed here, the connections continue there.
                    self.relays.clear();
                    return Ok(Ended::HandedOver(channel));
                }
            }
        }
        let counters = self.counters();
        for entry in self.relays.drain() {
            self.carrier.end(entry.relay, RelayState::Failed);
        }
        self.carrier.send()?;
        Ok(Ended::Signalled(counters))
    }

    /// Runs one round. Returns the next step.
    fn round(&mut self, events: &mut Vec<epoll::Event>, requests: &Requests) -> Result<Next> {
        events.clear();
        let timeout = self.timeout();
        let spare = rustix::buffer::spare_capacity(events);
        match epoll::wait(&self.queue, spare, timeout.as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(cause) => return Err(Error::system("cannot wait for events", cause)),
        }
        let (mut has_clients, mut is_asked, mut has_successor) = (false, false, false);
        for event in events.iter() {
            let (token, flags) = (event.data.u64(), event.flags);
            match token {
                SIGNAL => match self.sources.signals.next() {
                    Some(Signal::USR2) => {
                        if let Err(error) = self.successor.start(true) {
                            let process = std::process::id();
                            eprintln!(
                                "airtcp-net: {error}; start it by hand, with the same options and \
                                 --take-over {process}"
                            );
                        }
                    }
                    Some(_) => return Ok(Next::End),
                    None => {}
                },
                STATUS => is_asked = true,
                SUCCESSOR => has_successor = true,
                LISTENERS..SUCCESSOR => has_clients = true,
                OWN..RELAYS => self.carrier.hear(token - OWN, &mut self.counters),
                token => self.hear(token, flags),
            }
        }
        self.carrier.receive()?;
        self.take_events();
        // Only connections ready now; one that could continue is ready in the next round.
        for _ in 0..self.ready.len() {
            if let Some(key) = self.ready.pop_front() {
                self.turn(key);
            }
        }
        if has_clients {
            self.accept();
        }
        self.carrier.send()?;
        self.take_events();
        while is_asked && let Some(Request::Status(to)) = requests.next() {
            // The client may be gone meanwhile.
            let _ = to.send(Box::new(self.counters()));
        }
        if self.line.due_in() == Some(Duration::ZERO) {
            let counters = self.counters();
            self.line.show(counters);
        }
        let successor = if has_successor {
            self.hand_over()
        } else {
            None
        };
        Ok(successor.map_or(Next::Round, Next::Successor))
    }

    /// Hands everything over to a successor that has requested it. On any failure everything stays
    /// here.
    fn hand_over(&self) -> Option<Channel> {
        let channel = Channel::accept(&self.sources.successor)?;
        let relays = self.relays.iter();
        let estate = Estate {
            listeners: &self.sources.listeners,
            lock: self.lock.as_ref(),
            counters: Counters {
                // Continuing connections are counted there.
                open: 0,
                ..self.counters
            },
            relays: relays
                .filter_map(|(_, entry)| self.carrier.pack(&entry.relay))
                .collect(),
        };
        match handover::give(&channel, &self.identity, &estate) {
            Ok(()) => Some(channel),
            Err(error) => {
                eprintln!("airtcp-net: {error}");
                None
            }
        }
    }

    fn hear(&mut self, token: u64, flags: EventFlags) {
        let (key, end) = connection(token);
        if let Some(entry) = self.relays.get_mut(key) {
            entry.relay.hear(end, flags);
            self.queue_up(key);
        }
    }

    fn queue_up(&mut self, key: usize) {
        if let Some(entry) = self.relays.get_mut(key)
            && !entry.is_queued
        {
            entry.is_queued = true;
            self.ready.push_back(key);
        }
    }

    /// Processes the carrier's events.
    fn take_events(&mut self) {
        loop {
            let has_room = self.relays.len() < self.most;
            match self.carrier.next_event(has_room) {
                None => return,
                Some(Event::Work(key)) => self.queue_up(key),
                Some(Event::Admitted(relay)) => self.begin(relay),
            }
        }
    }

    fn turn(&mut self, key: usize) {
        let Some(entry) = self.relays.get_mut(key) else {
            return;
        };
        entry.is_queued = false;
        let mut standing = self.carrier.turn(&mut entry.relay);
        if standing == RelayState::Redialled {
            match watch_end(&self.queue, &entry.relay, key, End::Server) {
                Ok(()) => return,
                Err(_) => standing = RelayState::ConnectFailed,
            }
        }
        match standing {
            RelayState::Waits | RelayState::Redialled => return,
            RelayState::Again => return self.queue_up(key),
            RelayState::Closed => self.counters.closed += 1,
            RelayState::ConnectFailed => self.counters.connect_failed += 1,
            RelayState::Failed => self.counters.failed += 1,
        }
        let relay = self.relays.remove(key).relay;
        let [up, down] = relay.passed();
        self.counters.up_bytes += up;
        self.counters.down_bytes += down;
        self.carrier.end(relay, standing);
        if !self.is_accepting {
            self.set_accepting(true);
        }
    }

    /// Accepts the kernel's clients, within the limit of a round and the available room.
    fn accept(&mut self) {
        for index in 0..self.sources.listeners.len() {
            for _ in 0..ACCEPTED {
                if self.relays.len() >= self.most {
                    return self.set_accepting(false);
                }
                let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
                match acceptfrom_with(&self.sources.listeners[index], flags) {
                    Ok((client, from)) => {
                        let relay = self.carrier.admit(client, from, &mut self.relays);
                        self.begin(relay);
                    }
                    Err(Errno::AGAIN) => break,
                    // The client is already gone, or the error is specific to it.
                    Err(Errno::INTR | Errno::CONNABORTED | Errno::PROTO | Errno::PERM) => {}
                    // No descriptors or no memory: retry when a connection has ended.
                    Err(_) => return self.set_accepting(self.relays.is_empty()),
                }
            }
        }
    }

    /// Counts a client, and registers its relay, if any. A client with an unreachable server is
    /// reset.
    fn begin(&mut self, relay: Option<C::Relay>) {
        self.counters.accepted += 1;
        let Some(relay) = relay else {
            self.counters.connect_failed += 1;
            return;
        };
        self.enter(relay);
    }

    /// Registers a relay, and has the queue report its ends.
    fn enter(&mut self, relay: C::Relay) {
        let entry = self.relays.vacant_entry();
        let key = entry.key();
        let watched = [End::Client, End::Server]
            .into_iter()
            .all(|end| watch_end(&self.queue, &relay, key, end).is_ok());
        if !watched {
            self.counters.failed += 1;
            return self.carrier.end(relay, RelayState::Failed);
        }
        self.carrier.enrol(key, &relay);
        entry.insert(Entry {
            relay,
            is_queued: false,
        });
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
        self.carrier.count(&mut counters);
        counters
    }

    /// Time to wait: zero with work to do, else until the carrier's next timer or the next line.
    fn timeout(&self) -> Option<Timespec> {
        if !self.ready.is_empty() {
            return Some(Timespec::default());
        }
        let times = [self.carrier.idle_for(), self.line.due_in()];
        let wait = times.into_iter().flatten().min()?;
        Timespec::try_from(wait).ok()
    }
}

/// Makes the event queue report an end held by the kernel, once per change.
fn watch_end(queue: &OwnedFd, relay: &impl Relay, key: usize, end: End) -> rustix::io::Result<()> {
    let Some(socket) = relay.socket(end) else {
        return Ok(());
    };
    let flags = EventFlags::IN | EventFlags::OUT | EventFlags::RDHUP | EventFlags::ET;
    let data = EventData::new_u64(RELAYS + (key as u64 * 2) + u64::from(end == End::Server));
    epoll::add(queue, socket, data, flags)
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
