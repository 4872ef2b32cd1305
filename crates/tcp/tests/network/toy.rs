//! A network small enough to understand completely: a sorted list of segments in flight with fates
//! decided one by one by a function, two real connections, and two applications.
//!
//! After every step the invariants that hold for any network are checked. Deliveries are recorded
//! outside the endpoints, so that the endpoints are compared with the network's actions.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash};

use airtcp_packet::{Flags, Segment, SequenceNumber};
use airtcp_tcp::{Config, Connection, Event, State};
use airtcp_units::{Duration, Instant};

use crate::truth::Truth;

/// Delays after which the copies of a segment arrive: empty if it is lost.
pub type Copies = Vec<Duration>;

/// Decides the fate of segment number `index`, sent by end `from` at an instant.
pub type Fate = Box<dyn FnMut(Instant, usize, u64, &Segment) -> Copies>;

/// Observes a segment that an endpoint sends, and the endpoint's state.
pub type OnSend = Box<dyn FnMut(Instant, usize, &Segment, &Connection)>;

/// The times at which an application reads.
#[derive(Clone, Copy, Debug)]
pub enum Reader {
    /// Everything available, at once.
    Eager,
    /// Some bytes at a time, with a pause between.
    Slow(u64, Duration),
    /// Nothing before an instant, everything from then on.
    Late(Instant),
}

/// The behaviour of one application.
#[derive(Clone, Copy, Debug)]
pub struct Application {
    /// Total bytes it writes.
    pub bytes: u64,
    /// Bytes per write, and the pause between writes.
    pub write: (u64, Duration),
    /// Its reads.
    pub reader: Reader,
    /// It closes when everything is written, and not before this time.
    pub close_at: Instant,
}

impl Application {
    /// Writes `bytes` at once and closes; reads eagerly.
    pub fn sends(bytes: u64) -> Self {
        Self {
            bytes,
            write: (bytes.max(1), Duration::ZERO),
            reader: Reader::Eager,
            close_at: Instant::ZERO,
        }
    }
}

/// One endpoint, its application's progress, and facts about it from outside.
pub struct End {
    pub connection: Connection,
    pub application: Application,
    pub config: Config,
    pub written: u64,
    pub read: u64,
    pub events: Vec<(Instant, Event)>,
    pub truth: Truth,
    closed: bool,
    next_write: Instant,
    next_read: Instant,
    sent: u64,
    wakeups_now: u32,
}

/// Two endpoints and the network between them.
pub struct Network {
    pub now: Instant,
    pub ends: [End; 2],
    fate: Fate,
    in_flight: BTreeMap<(Instant, u64), (usize, Segment)>,
    sent: u64,
    steps: u64,
    /// A digest of every segment with its instant.
    pub digest: DefaultHasher,
    /// Called with every segment sent.
    pub on_send: Option<OnSend>,
}

/// Initial sequence numbers: the client's wraps after 1023 bytes, the server's changes its sign.
pub const CLIENT: SequenceNumber = SequenceNumber(0xffff_fc00);
pub const SERVER: SequenceNumber = SequenceNumber(0x7fff_ff00);

/// Steps that no run here should need.
const MAX_STEPS: u64 = 2_000_000;

impl Network {
    /// A client, which connects, and a server, which listens.
    pub fn new(configs: [Config; 2], applications: [Application; 2], fate: Fate) -> Self {
        let numbers = [CLIENT, SERVER];
        let connections = [
            Connection::connect(&configs[0], numbers[0]),
            Connection::listen(&configs[1], numbers[1]),
        ];
        Self::between(configs, connections, numbers, applications, fate)
    }

    /// Any two connections with these initial sequence numbers.
    pub fn between(
        configs: [Config; 2],
        connections: [Connection; 2],
        numbers: [SequenceNumber; 2],
        applications: [Application; 2],
        fate: Fate,
    ) -> Self {
        let [client, server] = connections;
        let end = |which: usize, connection| End {
            connection,
            application: applications[which],
            config: configs[which],
            written: 0,
            read: 0,
            events: Vec::new(),
            truth: Truth::new(numbers[which], numbers[1 - which]),
            closed: false,
            next_write: Instant::ZERO,
            next_read: Instant::ZERO,
            sent: 0,
            wakeups_now: 0,
        };
        Self {
            now: Instant::ZERO,
            ends: [end(0, client), end(1, server)],
            fate,
            in_flight: BTreeMap::new(),
            sent: 0,
            steps: 0,
            digest: DefaultHasher::new(),
            on_send: None,
        }
    }

    /// Runs until both endpoints are done or `limit`. Returns whether they are done: everything
    /// read, and both closed or in TIME-WAIT.
    pub fn run(&mut self, limit: Instant) -> bool {
        self.applications();
        self.poll();
        while !self.is_done() {
            let Some(next) = self.next_instant() else {
                return false;
            };
            if next > limit {
                return false;
            }
            self.step(next);
        }
        true
    }

    fn is_done(&self) -> bool {
        let read_all = (0..2).all(|which| {
            let end = &self.ends[which];
            end.closed && end.read == self.ends[1 - which].application.bytes
        });
        let closed = |end: &End| matches!(end.connection.state(), State::Closed | State::TimeWait);
        read_all && self.ends.iter().all(closed)
    }

    fn next_instant(&self) -> Option<Instant> {
        let arrival = self.in_flight.keys().next().map(|&(at, _)| at);
        let ends = self
            .ends
            .iter()
            .flat_map(|end| [end.connection.next_wakeup(), end.next_application_instant()]);
        let next = ends.chain(arrival).min()?;
        (next < Instant::FAR_FUTURE).then_some(next.max(self.now))
    }

    fn step(&mut self, next: Instant) {
        self.steps += 1;
        assert!(self.steps < MAX_STEPS, "too many steps at {:?}", self.now);
        if next > self.now {
            self.ends.iter_mut().for_each(|end| end.wakeups_now = 0);
        }
        self.now = next;
        while let Some(entry) = self.in_flight.first_entry() {
            if entry.key().0 > next {
                break;
            }
            let (to, segment) = entry.remove();
            let end = &mut self.ends[to];
            end.truth.on_delivered(&segment);
            let events = &mut end.events;
            end.connection
                .handle(next, &segment, &mut |at, event| events.push((at, event)));
            self.poll();
            self.check();
        }
        for end in &mut self.ends {
            if end.connection.next_wakeup() <= next {
                end.wakeups_now += 1;
                // A timer for each segment may expire at once, but a wake-up that changes nothing
                // would repeat for ever.
                let outstanding = end.connection.sender().nxt() - end.connection.sender().una();
                let most = 8 + outstanding;
                assert!(
                    u64::from(end.wakeups_now) <= most,
                    "{} wake-ups at {next:?}",
                    end.wakeups_now
                );
                let events = &mut end.events;
                end.connection
                    .on_wakeup(next, &mut |at, event| events.push((at, event)));
            }
        }
        self.poll();
        self.applications();
        self.poll();
        self.check();
    }

    fn applications(&mut self) {
        let now = self.now;
        self.ends.iter_mut().for_each(|end| end.act(now));
    }

    fn poll(&mut self) {
        for from in 0..2 {
            while let Some(segment) = self.ends[from].connection.poll(self.now) {
                self.ends[from].truth.on_sent(&segment);
                (self.now, from, segment).hash(&mut self.digest);
                if let Some(on_send) = &mut self.on_send {
                    on_send(self.now, from, &segment, &self.ends[from].connection);
                }
                let index = self.ends[from].sent;
                self.ends[from].sent += 1;
                for delay in (self.fate)(self.now, from, index, &segment) {
                    let key = (self.now + delay, self.sent);
                    self.in_flight.insert(key, (1 - from, segment));
                    self.sent += 1;
                }
            }
        }
    }

    /// Checks the invariants that hold at any instant on any network.
    fn check(&self) {
        for (which, end) in self.ends.iter().enumerate() {
            let sender = end.connection.sender();
            let outstanding = sender.nxt() - sender.una();
            assert!(sender.una() <= sender.nxt());
            assert!(sender.nxt() <= sender.written() + u64::from(sender.is_closed()));
            // Each outstanding byte is in flight at most twice: first, and retransmitted.
            assert!(sender.in_flight() <= 2 * outstanding);
            assert!(sender.cwnd() >= sender.mss(), "cwnd {}", sender.cwnd());
            let timeout = &end.config.timeout;
            assert!((timeout.min..=timeout.max).contains(&sender.rto()));
            assert!(
                end.connection.next_wakeup() < Instant::FAR_FUTURE
                    || outstanding == 0
                    || end.connection.state() == State::Closed,
                "end {which} waits for an acknowledgment without a timer"
            );
            let receiver = end.connection.receiver();
            assert!(receiver.next_expected() <= end.truth.prefix());
            assert!(receiver.received() >= end.read);
            assert!(end.read <= self.ends[1 - which].written);
            assert!(receiver.acceptable().end <= end.read + end.config.receive_buffer + 1);
            let counters = sender.counters();
            assert!(counters.segments_retransmitted <= counters.segments_sent);
            assert!(counters.timeouts_judged_spurious <= counters.timeouts);
        }
    }
}

impl End {
    fn next_application_instant(&self) -> Instant {
        let write = if self.written < self.application.bytes {
            self.next_write
        } else if self.closed || self.is_opening() {
            Instant::FAR_FUTURE
        } else {
            self.application.close_at
        };
        let unread = self.connection.receiver().received() > self.read;
        if unread {
            write.min(self.next_read)
        } else {
            write
        }
    }

    /// Whether it is opening: a connection closed before it has reached its peer is gone (RFC 9293
    /// §3.10.4), so applications wait.
    fn is_opening(&self) -> bool {
        matches!(self.connection.state(), State::Listen | State::SynSent)
    }

    fn act(&mut self, now: Instant) {
        if self.next_write <= now && self.written < self.application.bytes {
            let bytes = self
                .application
                .write
                .0
                .min(self.application.bytes - self.written);
            self.connection.write(bytes);
            self.written += bytes;
            self.next_write = now + self.application.write.1;
        }
        let finished = self.written == self.application.bytes;
        if finished && !self.closed && !self.is_opening() && self.application.close_at <= now {
            self.connection.close();
            self.closed = true;
        }
        let most = match self.application.reader {
            Reader::Eager => u64::MAX,
            Reader::Late(from) if now < from => {
                self.next_read = from;
                0
            }
            Reader::Late(_) => u64::MAX,
            Reader::Slow(bytes, pause) => {
                if now < self.next_read {
                    0
                } else {
                    self.next_read = now + pause;
                    bytes
                }
            }
        };
        self.read += self.connection.read(most);
    }

    /// Number of events of one kind.
    pub fn count(&self, of: impl Fn(&Event) -> bool) -> usize {
        self.events.iter().filter(|(_, event)| of(event)).count()
    }
}

/// A constant delay for every segment, without losses.
pub fn steady(delay: Duration) -> Fate {
    Box::new(move |_, _, _, _| vec![delay])
}

/// A bottleneck in front of end 1: `bit_rate`, room for `queue` packets, then `delay`, with each
/// packet additionally lost with `loss` in 10 000. Acknowledgments take only `delay`.
pub fn bottleneck(bit_rate: u64, queue: u64, delay: Duration, loss: u64, seed: u64) -> Fate {
    changing(move |_| bit_rate, queue, delay, loss, seed)
}

/// A [`bottleneck`] with a rate given by `bit_rate` at each instant.
pub fn changing(
    bit_rate: impl Fn(Instant) -> u64 + 'static,
    queue: u64,
    delay: Duration,
    loss: u64,
    seed: u64,
) -> Fate {
    let mut free_at = Instant::ZERO;
    let mut state = seed;
    Box::new(move |now, from, _, segment| {
        if from == 1 {
            return vec![delay];
        }
        // Knuth's linear congruential generator, TAOCP 2 §3.3.4; its high bits.
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let bit_rate = bit_rate(now);
        let service =
            Duration::from_nanos(u64::from(segment.ip_bytes()) * 8_000_000_000 / bit_rate);
        let full = Duration::from_nanos(1500 * 8_000_000_000 / bit_rate) * queue;
        if free_at - now > full {
            return vec![];
        }
        free_at = free_at.max(now) + service;
        if (state >> 33) % 10_000 < loss {
            return vec![];
        }
        vec![(free_at - now) + delay]
    })
}

/// Loses the first transmission of the data segments for which `is_lost` of the number, counted in
/// `mss`, is true; everything else takes `delay`.
pub fn losing(mss: u64, delay: Duration, is_lost: impl Fn(u64) -> bool + 'static) -> Fate {
    let mut sent_to = 0;
    Box::new(move |_, from, _, segment| {
        if from == 1 || !carries_data(segment) {
            return vec![delay];
        }
        // The client's stream starts after its SYN.
        let start = u64::from(segment.sequence.0.wrapping_sub(CLIENT.0).wrapping_sub(1));
        let first = start >= sent_to;
        sent_to = sent_to.max(start + u64::from(segment.payload_bytes));
        if first && is_lost(start / mss) {
            vec![]
        } else {
            vec![delay]
        }
    })
}

/// Whether a segment carries stream bytes or a FIN.
pub fn carries_data(segment: &Segment) -> bool {
    segment.payload_bytes > 0 || segment.flags.contains(Flags::FIN)
}
