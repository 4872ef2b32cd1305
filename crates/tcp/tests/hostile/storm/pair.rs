//! Two endpoints in a storm: the first sends, the second receives and reads at once.

use std::collections::BTreeMap;

use airtcp_packet::{Segment, SequenceNumber};
use airtcp_tcp::{Connection, Event, Observer, State};
use airtcp_units::{Duration, Instant};

use super::plan::StormPlan;
use super::weather::Path;

const NUMBERS: [SequenceNumber; 2] = [SequenceNumber(0xffff_0000), SequenceNumber(17)];
/// The storm rises once the connection is established.
const STORM_BEGINS: Duration = Duration::from_secs(5);
const STORM_ENDS: Duration = Duration::from_secs(605);
/// The sending application writes for so long after the storm.
const WRITES_AFTERWARDS: Duration = Duration::from_secs(20);
/// Bytes that it lets wait unacknowledged.
const SEND_BUFFER: u64 = 400_000;
/// The data left after a storm may take this many times its time on a clean link.
const MAX_TIMES_CLEAN: u64 = 10;
/// And so many of the longest timeouts before it begins in earnest: one that backed off in the
/// storm, and one for a segment that the receiver had reported and does not have.
const TIMEOUTS: u64 = 4;
/// Nobody waits longer.
const LIMIT: Duration = Duration::from_secs(20_000);
const MAX_EVENTS: u64 = 4_000_000;

/// The outcome of a connection.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Whether it was established before the storm.
    established: bool,
    /// Whether an end gave up, as it may when nothing arrives.
    given_up: bool,
    /// Why it may be slow.
    slow: Option<&'static str>,
    /// Bytes left to deliver at the end of the storm, and the time they took.
    left: u64,
    took: Option<Duration>,
    /// The same bytes on a clean link.
    clean: Duration,
    longest_timeout: Duration,
    /// How long the sender remembers the storm by its rule.
    remembers: Duration,
    /// State of the sender at the end.
    state: String,
}

impl Outcome {
    /// The kind of run, or the reason why it fails.
    pub fn verdict(&self) -> Result<&'static str, String> {
        if !self.established {
            return Ok("never established");
        }
        let most = self.clean * MAX_TIMES_CLEAN + self.longest_timeout * TIMEOUTS + self.remembers;
        match self.took {
            Some(took) if took <= most => Ok("recovered"),
            _ if self.given_up => Ok("given up"),
            took => self.slow.ok_or_else(|| {
                format!(
                    "{} bytes took {took:?} after the storm, {:?} on a clean link: {}",
                    self.left, self.clean, self.state
                )
            }),
        }
    }
}

struct Pair<'a> {
    plan: &'a StormPlan,
    ends: [Connection; 2],
    path: Path,
    now: Instant,
    serial: u64,
    on_path: BTreeMap<(Instant, u64), (usize, Segment)>,
    next_write: Instant,
    storms: bool,
    read: u64,
    trace: bool,
}

impl<'a> Pair<'a> {
    fn new(plan: &'a StormPlan) -> Self {
        let mut pair = Self {
            plan,
            ends: [
                Connection::connect(&plan.configs[0], NUMBERS[0]),
                Connection::listen(&plan.configs[1], NUMBERS[1]),
            ],
            path: Path::new(plan.weather, plan.delay, plan.seed),
            now: Instant::ZERO + Duration::from_secs(1),
            serial: 0,
            on_path: BTreeMap::new(),
            next_write: Instant::ZERO,
            storms: false,
            read: 0,
            trace: std::env::var("AIRTCP_TRACE").is_ok(),
        };
        pair.poll(0);
        pair
    }

    fn poll(&mut self, from: usize) {
        while let Some(segment) = self.ends[from].poll(self.now) {
            if self.trace && !self.storms {
                println!(
                    "{:?} {from} {:?} {}+{} ack {} sack {:?}",
                    self.now,
                    segment.flags,
                    segment.sequence.0.wrapping_sub(NUMBERS[from].0),
                    segment.payload_bytes,
                    segment.acknowledgment.0.wrapping_sub(NUMBERS[1 - from].0),
                    segment
                        .tail
                        .blocks()
                        .iter()
                        .map(|block| [block.start, block.end]
                            .map(|edge| edge.0.wrapping_sub(NUMBERS[1 - from].0)))
                        .collect::<Vec<_>>()
                );
            }
            for (at, segment) in self.path.carry(self.now, from, segment, self.storms) {
                self.serial += 1;
                self.on_path.insert((at, self.serial), (1 - from, segment));
            }
        }
    }

    /// Prints the sender's events after the storm, if the run is traced.
    fn tell(&self, end: usize) -> impl Observer + use<> {
        let tells = self.trace && !self.storms && end == 0;
        move |now: Instant, event: Event| {
            if tells {
                println!("{now:?} {event:?}");
            }
        }
    }

    fn is_up(&self) -> bool {
        self.ends
            .iter()
            .all(|end| matches!(end.state(), State::Established))
    }

    /// Runs until `until`, or until the receiver has read `bytes`. The application writes while
    /// `writes`. Returns whether there were those bytes.
    fn run(&mut self, until: Instant, bytes: u64, writes: bool) -> bool {
        let mut events = 0;
        while self.read < bytes && events < MAX_EVENTS {
            events += 1;
            let write = if writes && self.is_up() && self.unacknowledged() < SEND_BUFFER {
                self.next_write
            } else {
                Instant::FAR_FUTURE
            };
            let arrival = self
                .on_path
                .keys()
                .next()
                .map_or(Instant::FAR_FUTURE, |key| key.0);
            let wakeup = self.ends[0].next_wakeup().min(self.ends[1].next_wakeup());
            let next = write.min(arrival).min(wakeup).max(self.now);
            if next >= until {
                self.now = until;
                return false;
            }
            self.now = next;
            if arrival <= next
                && let Some((_, (to, segment))) = self.on_path.pop_first()
            {
                let mut tell = self.tell(to);
                self.ends[to].handle(next, &segment, &mut tell);
                self.read += self.ends[1].read(u64::MAX);
                self.poll(to);
            } else if write <= next {
                let (bytes, pause) = self.plan.write;
                self.ends[0].write(bytes);
                self.next_write = next + pause;
                self.poll(0);
            } else {
                for end in 0..2 {
                    if self.ends[end].next_wakeup() <= next {
                        let mut tell = self.tell(end);
                        self.ends[end].on_wakeup(next, &mut tell);
                        self.poll(end);
                    }
                }
            }
        }
        self.read >= bytes
    }

    fn unacknowledged(&self) -> u64 {
        let sender = self.ends[0].sender();
        sender.written() - sender.una()
    }

    fn describe(&self) -> String {
        let sender = self.ends[0].sender();
        let counters = sender.counters();
        format!(
            "at {:?}, wakes {:?} {:?}, {:?} una {} nxt {} written {} edge {} in flight {} cwnd {} {:?} RTO {:?} SRTT \
             {:?} minimum {:?}, {} timeouts of which {} judged spurious, {} duplicates reported",
            self.now,
            self.ends[0].next_wakeup(),
            self.ends[1].next_wakeup(),
            self.ends[0].state(),
            sender.una(),
            sender.nxt(),
            sender.written(),
            sender.right_edge(),
            sender.in_flight(),
            sender.cwnd(),
            sender.phase(),
            sender.rto(),
            sender.rtt().srtt(),
            sender.rtt().minimum(),
            counters.timeouts,
            counters.timeouts_judged_spurious,
            counters.duplicates_reported,
        )
    }
}

/// Time that `bytes` take on the plan's link without a storm, from the first write on.
fn clean(plan: &StormPlan, bytes: u64) -> Duration {
    let mut pair = Pair::new(plan);
    pair.ends[0].write(bytes);
    let begun = pair.now;
    let all = pair.run(begun + LIMIT, bytes, false);
    if all { pair.now - begun } else { LIMIT }
}

/// Carries out a plan.
pub fn run(plan: &StormPlan) -> Outcome {
    let mut pair = Pair::new(plan);
    let start = pair.now;
    pair.run(start + STORM_BEGINS, u64::MAX, true);
    let established = pair.is_up();
    let mut outcome = Outcome {
        established,
        given_up: false,
        slow: plan.may_be_slow(),
        left: 0,
        took: None,
        clean: Duration::ZERO,
        longest_timeout: plan.configs[0].timeout.max,
        remembers: plan.remembers(),
        state: String::new(),
    };
    if !established {
        return outcome;
    }
    pair.storms = true;
    pair.run(start + STORM_ENDS, u64::MAX, true);
    pair.storms = false;
    let calm = start + STORM_ENDS;
    let before = pair.read;
    if pair.trace {
        println!("calm: {}", pair.describe());
    }
    pair.run(calm + WRITES_AFTERWARDS, u64::MAX, true);
    let all = pair.ends[0].sender().written();
    outcome.left = all - before;
    if pair.read >= all || pair.run(calm + LIMIT, all, false) {
        outcome.took = Some(pair.now - calm);
    }
    if plan.is_misled_by(pair.ends[0].sender().rtt().minimum()) {
        outcome.slow = outcome.slow.or(Some("a false least round trip, and slow"));
    }
    outcome.given_up = pair.ends.iter().any(|end| end.end().is_some());
    outcome.clean = clean(plan, outcome.left).max(WRITES_AFTERWARDS);
    outcome.state = pair.describe();
    outcome
}
