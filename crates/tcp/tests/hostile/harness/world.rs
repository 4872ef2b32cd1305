//! Two real endpoints, their applications, and a network of bytes between them: virtual time, one
//! event after another, until everything is delivered and both are closed.

use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

use airtcp_packet::{Flags, Segment, SequenceNumber};
use airtcp_tcp::config::{CongestionControl, EcnUse};
use airtcp_tcp::{Config, Connection, Event, State};
use airtcp_units::Instant;

use super::judge::{Answers, Outcome};
use super::plan::{Application, Plan, Treatment};
use super::wire::Wire;
use super::witness::{Piece, Witness};

/// Treatment of packets ends this many events after the last step.
const CALM_AFTER: u64 = 300;

/// A packet between the ends.
#[derive(Clone, Debug)]
pub struct Packet {
    pub to: usize,
    pub bytes: Rc<Vec<u8>>,
    /// The meaning of its bytes, if they are unchanged.
    pub intact: Option<Segment>,
    /// Their meaning before they were damaged.
    pub damaged: Option<Segment>,
    /// The piece of the stream that it really carries.
    pub piece: Option<Piece>,
    /// Length of the chain of packets without data that leads to it.
    pub depth: u32,
    pub forged: bool,
    pub sent_at: Instant,
}

/// One endpoint, and its application.
pub struct End {
    pub connection: Connection,
    pub config: Config,
    pub application: Application,
    pub written: u64,
    pub read: u64,
    pub closed: bool,
    next_write: Instant,
    next_read: Instant,
    pub wakeups_now: u64,
    /// Time at which data it sent was last acknowledged, or no data was waiting to be.
    pub progress_at: Instant,
    known_una: u64,
    pub witness: Witness,
    pub answers: Answers,
}

pub struct World<'a> {
    pub plan: &'a Plan,
    pub wire: Wire,
    pub now: Instant,
    pub ends: [End; 2],
    pub queue: BTreeMap<(Instant, u64), Packet>,
    pub serial: u64,
    /// Treatments of the next packets towards each end, with their counts.
    pub treatments: [Vec<(u64, Treatment)>; 2],
    pub history: [VecDeque<Packet>; 2],
    next_step: usize,
    events_since_step: u64,
    pub events: u64,
    /// Time since which nothing is done to the connection any more.
    pub calm_at: Option<Instant>,
    pub calm_from: u64,
    pub silent_until: Instant,
    /// Whether a timestamp may be older than any that a forger would call old.
    pub slept: bool,
    pub lost_since_progress: u32,
    pub progress: u64,
    /// Whether something lethal was done: from then on only the invariants of each endpoint count.
    pub wounded: bool,
    /// The path has rewritten ECN flags, perhaps a SYN's.
    pub syn_rewritten: bool,
    /// Whether packets are printed (`AIRTCP_TRACE`).
    pub traced: bool,
    /// Number of packets without data that both endpoints have sent.
    pub bare_sent: u64,
    pub outcome: Outcome,
}

impl<'a> World<'a> {
    pub fn new(plan: &'a Plan) -> Self {
        let numbers = plan.initial_numbers.map(SequenceNumber);
        let end = |which: usize| {
            let config = plan.configs[which];
            let opens = which == 0 || plan.both_open;
            let application = plan.applications[which];
            let nothing_to_write = application.bytes == 0;
            End {
                connection: if opens {
                    Connection::connect(&config, numbers[which])
                } else {
                    Connection::listen(&config, numbers[which])
                },
                config,
                application,
                written: 0,
                read: 0,
                closed: false,
                next_write: if nothing_to_write {
                    plan.start + application.close_after
                } else {
                    plan.start
                },
                next_read: plan.start,
                wakeups_now: 0,
                progress_at: plan.start,
                known_una: 0,
                witness: Witness::new(numbers[which], numbers[1 - which]),
                answers: Answers::new(plan.start),
            }
        };
        Self {
            plan,
            wire: Wire { ipv6: plan.ipv6 },
            now: plan.start,
            ends: [end(0), end(1)],
            queue: BTreeMap::new(),
            serial: 0,
            treatments: [Vec::new(), Vec::new()],
            history: [VecDeque::new(), VecDeque::new()],
            next_step: 0,
            events_since_step: 0,
            events: 0,
            calm_at: None,
            calm_from: 0,
            silent_until: plan.start,
            slept: false,
            lost_since_progress: 0,
            progress: 0,
            wounded: false,
            syn_rewritten: false,
            traced: std::env::var_os("AIRTCP_TRACE").is_some(),
            bare_sent: 0,
            outcome: Outcome::default(),
        }
    }

    /// Runs the plan to its end. Panics if an endpoint does something that it must not.
    pub fn run(mut self) -> Outcome {
        self.begin();
        loop {
            self.perform_due_steps();
            if self.is_done() || self.is_over() {
                break;
            }
            let Some(next) = self.next_instant() else {
                if self.next_step == self.plan.steps.len() {
                    break;
                }
                self.events_since_step = u64::MAX - 1;
                continue;
            };
            if self.calm_at.is_some() && self.patience_ends() < next {
                break;
            }
            self.advance(next);
            self.check();
        }
        self.conclude()
    }

    /// The first SYN.
    pub fn begin(&mut self) {
        self.act();
        self.check();
    }

    fn perform_due_steps(&mut self) {
        while let Some(step) = self.plan.steps.get(self.next_step)
            && self.events_since_step >= step.after
        {
            self.next_step += 1;
            self.events_since_step = 0;
            self.perform(&step.operation);
            self.check();
        }
        let steps_left = self.next_step < self.plan.steps.len();
        let treated = self.treatments.iter().any(|list| !list.is_empty());
        let waits = treated && self.events_since_step < CALM_AFTER;
        if self.calm_at.is_none() && !steps_left && !waits {
            self.calm_at = Some(self.now);
            self.calm_from = self.events;
            self.treatments = [Vec::new(), Vec::new()];
            for end in 0..2 {
                self.ends[end].connection.thaw(self.now);
                self.poll(end, None);
            }
        }
    }

    pub fn is_done(&self) -> bool {
        let satisfied = |end: usize| {
            let (this, other) = (&self.ends[end], &self.ends[1 - end]);
            this.closed && this.read == other.application.bytes && this.is_down()
        };
        satisfied(0) && satisfied(1)
    }

    /// The time of the next event.
    pub fn next_instant(&self) -> Option<Instant> {
        let arrival = self.queue.keys().next().map(|&(at, _)| at);
        let next = self
            .ends
            .iter()
            .flat_map(|end| {
                [
                    end.connection.next_wakeup(),
                    end.next_act(self.silent_until),
                ]
            })
            .chain(arrival)
            .min()?;
        (next < Instant::FAR_FUTURE).then_some(next.max(self.now))
    }

    /// Processes one event: an arrival, the wake-ups of one instant, or the applications' actions.
    pub fn advance(&mut self, next: Instant) {
        self.events += 1;
        self.events_since_step += 1;
        if next > self.now {
            self.ends.iter_mut().for_each(|end| end.wakeups_now = 0);
        }
        self.now = next;
        self.ends.iter_mut().for_each(|end| end.note_progress(next));
        if let Some(entry) = self.queue.first_entry()
            && entry.key().0 <= next
        {
            let packet = entry.remove();
            self.deliver(&packet);
            return;
        }
        for end in 0..2 {
            if self.ends[end].connection.next_wakeup() <= next {
                self.wake(end);
            }
        }
        self.act();
    }

    fn wake(&mut self, end: usize) {
        let this = &mut self.ends[end];
        this.wakeups_now += 1;
        let sender = this.connection.sender();
        // A timer for each segment may expire at once; a wake-up that changes nothing would repeat
        // for ever.
        let most = 8 + (sender.nxt() - sender.una());
        assert!(
            this.wakeups_now <= most,
            "end {end} is woken {most} times at one instant"
        );
        this.connection.on_wakeup(self.now, &mut ());
        self.poll(end, None);
    }

    fn act(&mut self) {
        let (now, silent) = (self.now, self.now < self.silent_until);
        for end in 0..2 {
            self.ends[end].act(now, silent, self.plan.start);
            self.poll(end, None);
        }
    }

    /// Delivers a packet now.
    pub fn deliver(&mut self, packet: &Packet) {
        let segment = self.wire.unpack(packet.to, &packet.bytes);
        if let Some(intact) = packet.intact {
            assert_eq!(
                segment,
                Some(intact),
                "the packet does not read as it was written"
            );
        }
        let Some(segment) = segment else {
            return;
        };
        if let Some(damaged) = packet.damaged {
            assert_intact(segment, damaged);
        }
        let end = &mut self.ends[packet.to];
        if !packet.forged {
            end.witness.on_arrival(&segment, packet.piece);
        }
        let mut reset = false;
        let (before, all_read) = (end.connection.state(), end.has_all());
        end.connection.handle(self.now, &segment, &mut |_, event| {
            reset |= event == Event::Reset
        });
        let asks_otherwise = self.syn_rewritten
            && end.config.ecn == EcnUse::Accurate
            && before == State::SynReceived
            && segment.flags.contains(Flags::SYN)
            && !segment.flags.contains(Flags::ACK);
        // Two SYNs that ask for different feedback end a connection (RFC 9768 §3.1.5).
        self.wounded |= reset && asks_otherwise;
        if reset && !self.wounded {
            // A closed endpoint answers a late packet with a reset (RFC 9293 §3.10.7.1).
            let over =
                all_read && matches!(before, State::TimeWait | State::LastAck | State::Closing);
            assert!(
                over,
                "end {} is reset in {before:?} by {segment:?}: {}",
                packet.to,
                self.describe()
            );
        }
        self.print("takes", packet.to, &segment);
        let bare = segment.sequence_length() == 0;
        self.poll(packet.to, bare.then_some(packet.depth));
    }

    /// Prints a segment that an endpoint takes or sends, and the state it is in then.
    fn print(&self, does: &str, end: usize, segment: &Segment) {
        if !self.traced {
            return;
        }
        let connection = &self.ends[end].connection;
        let sender = connection.sender();
        println!(
            "{:.6} end {end} {does} {:?} {}:+{} ack {} window {}: {:?} una {} nxt {} edge {} \
             cwnd {} in flight {} {:?} due {:?}",
            self.now.as_secs_f64(),
            segment.flags,
            segment.sequence.0,
            segment.payload_bytes,
            segment.acknowledgment.0,
            segment.window,
            connection.state(),
            sender.una(),
            sender.nxt(),
            sender.right_edge(),
            sender.cwnd(),
            sender.in_flight(),
            sender.phase(),
            connection.next_wakeup(),
        );
    }

    /// Takes an endpoint's output. `cause`: the depth of the packet without data that it answers.
    pub fn poll(&mut self, from: usize, cause: Option<u32>) {
        let mut polled = 0;
        while let Some(segment) = self.ends[from].connection.poll(self.now) {
            polled += 1;
            assert!(polled < 1_000_000, "end {from} sends for ever");
            let end = &mut self.ends[from];
            assert!(
                segment.payload_bytes <= end.config.mss + 12,
                "a segment above the MSS"
            );
            assert!(segment.sack_blocks_on_wire() == segment.tail.blocks().len());
            let piece = end.witness.piece(&segment);
            if !self.wounded {
                let agreed = end.connection.has_ecn();
                let counted = end.connection.has_accurate_ecn();
                let heeds_each = matches!(
                    end.config.congestion,
                    CongestionControl::Dctcp | CongestionControl::Abc | CongestionControl::Prague
                );
                end.witness
                    .check_marks(&segment, agreed, counted, heeds_each);
                end.witness.on_sent(&segment);
            }
            let bare = segment.sequence_length() == 0;
            let depth = if bare {
                cause.map_or(0, |depth| depth + 1)
            } else {
                0
            };
            end.answers.on_sent(self.now, depth);
            self.bare_sent += u64::from(bare);
            self.print("sends", from, &segment);
            let packet = Packet {
                to: 1 - from,
                bytes: Rc::new(self.wire.pack(from, &segment)),
                intact: Some(segment),
                damaged: None,
                piece,
                depth,
                forged: false,
                sent_at: self.now,
            };
            self.send(packet);
        }
    }
}

/// No checksum covers the header of IPv6: of a segment only the ECN field is in it.
pub fn assert_intact(segment: Segment, meant: Segment) {
    let ecn = meant.ecn;
    assert_eq!(
        Segment { ecn, ..segment },
        meant,
        "a damaged packet is taken"
    );
}

impl End {
    /// Whether it is opening: a connection closed before it has reached its peer is gone (RFC 9293
    /// §3.10.4), so applications wait.
    pub fn is_opening(&self) -> bool {
        matches!(
            self.connection.state(),
            State::Listen | State::SynSent | State::SynReceived
        )
    }

    pub fn is_down(&self) -> bool {
        matches!(self.connection.state(), State::Closed | State::TimeWait)
    }

    /// Whether it has read its peer's whole stream, up to the FIN.
    fn has_all(&self) -> bool {
        self.closed && self.connection.receiver().is_finished()
    }

    /// Records before an event how much of its data was acknowledged.
    fn note_progress(&mut self, now: Instant) {
        let sender = self.connection.sender();
        let waits = sender.una() < sender.written() + u64::from(sender.is_closed());
        if !waits || sender.una() != self.known_una {
            (self.known_una, self.progress_at) = (sender.una(), now);
        }
    }

    fn next_act(&self, silent_until: Instant) -> Instant {
        let write = if self.written < self.application.bytes {
            self.next_write.max(silent_until)
        } else if self.closed || self.is_opening() {
            Instant::FAR_FUTURE
        } else {
            self.next_write.max(silent_until)
        };
        let unread = self.connection.receiver().received() > self.read;
        if unread {
            write.min(self.next_read)
        } else {
            write
        }
    }

    fn act(&mut self, now: Instant, silent: bool, start: Instant) {
        let application = self.application;
        if !silent && self.next_write <= now && self.written < application.bytes {
            let bytes = application.write.0.min(application.bytes - self.written);
            self.connection.write(bytes);
            self.written += bytes;
            self.next_write = now + application.write.1;
            if self.written == application.bytes {
                self.next_write = now.max(start + application.close_after);
            }
        }
        let finished = self.written == application.bytes && self.next_write <= now;
        if finished && !silent && !self.closed && !self.is_opening() {
            self.connection.close();
            self.closed = true;
        }
        if self.next_read <= now {
            let bytes = self.connection.read(application.read.0);
            self.read += bytes;
            if bytes > 0 {
                self.next_read = now + application.read.1;
            }
        }
    }
}
