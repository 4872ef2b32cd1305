//! The disciplines against models that follow the RFCs' pseudo-code and prose line by line, on
//! lists, with nothing clever.

use super::*;
use proptest::prelude::*;

/// A packet in a model: number, size, arrival, whether it may be marked.
#[derive(Clone, Copy, Debug)]
struct Entry {
    number: usize,
    bytes: u64,
    since: u64,
    capable: bool,
}

/// RFC 8289 §5.3, the state of a queue.
#[derive(Clone, Debug, Default)]
struct CoDelModel {
    first_above_time: u64,
    drop_next: u64,
    count: u64,
    last_count: u64,
    dropping: bool,
}

fn control_law(time: u64, count: u64, interval: u64) -> u64 {
    time + (interval as f64 / (count as f64).sqrt()).round() as u64
}

impl CoDelModel {
    /// §5.6, "dodequeue": the head, and whether it may be dropped. `backlog` is that of all queues.
    fn take(
        &mut self,
        now: u64,
        config: &CoDelConfig,
        list: &mut Vec<Entry>,
        backlog: &mut u64,
    ) -> (Option<Entry>, bool) {
        if list.is_empty() {
            self.first_above_time = 0;
            return (None, false);
        }
        let entry = list.remove(0);
        *backlog -= entry.bytes;
        let sojourn = now - entry.since;
        if sojourn < config.target.as_nanos() || *backlog <= u64::from(config.largest_packet) {
            self.first_above_time = 0;
        } else if self.first_above_time == 0 {
            self.first_above_time = now + config.interval.as_nanos();
        } else if now >= self.first_above_time {
            return (Some(entry), true);
        }
        (Some(entry), false)
    }

    /// §5.5, "dequeue", with a mark in place of a drop where both sides understand it.
    fn dequeue(
        &mut self,
        now: u64,
        config: &CoDelConfig,
        list: &mut Vec<Entry>,
        backlog: &mut u64,
        step: &mut Step,
    ) {
        let interval = config.interval.as_nanos();
        let (mut entry, ok_to_drop) = self.take(now, config, list, backlog);
        let mut marked = false;
        let mark = |entry: &Option<Entry>| config.ecn && entry.is_some_and(|entry| entry.capable);
        if self.dropping {
            if !ok_to_drop {
                self.dropping = false;
            }
            while now >= self.drop_next && self.dropping {
                self.count += 1;
                if mark(&entry) {
                    marked = true;
                    self.drop_next = control_law(self.drop_next, self.count, interval);
                    break;
                }
                step.dropped.push(entry.unwrap().number);
                let again = self.take(now, config, list, backlog);
                entry = again.0;
                if again.1 {
                    self.drop_next = control_law(self.drop_next, self.count, interval);
                } else {
                    self.dropping = false;
                }
            }
        } else if ok_to_drop {
            if mark(&entry) {
                marked = true;
            } else {
                step.dropped.push(entry.unwrap().number);
                entry = self.take(now, config, list, backlog).0;
            }
            self.dropping = true;
            let delta = self.count - self.last_count;
            self.count = 1;
            if delta > 1 && now < self.drop_next + 16 * interval {
                self.count = delta;
            }
            self.drop_next = control_law(now, self.count, interval);
            self.last_count = self.count;
        }
        step.served = entry.map(|entry| (entry.number, marked));
    }
}

/// RFC 8290 §4: queues by flow (the test gives each a separate queue), two lists of them.
#[derive(Debug, Default)]
struct FqModel {
    queues: Vec<(Vec<Entry>, CoDelModel, i64)>,
    new_queues: Vec<usize>,
    old_queues: Vec<usize>,
    backlog: u64,
}

impl FqModel {
    fn push(&mut self, flow: usize, entry: Entry, config: &FqCoDelConfig) {
        self.queues
            .resize_with(self.queues.len().max(flow + 1), Default::default);
        self.backlog += entry.bytes;
        self.queues[flow].0.push(entry);
        if !self.new_queues.contains(&flow) && !self.old_queues.contains(&flow) {
            self.queues[flow].2 = i64::from(config.quantum);
            self.new_queues.push(flow);
        }
    }

    fn dequeue(&mut self, now: u64, config: &FqCoDelConfig) -> Step {
        let mut step = Step::default();
        loop {
            let from_new = !self.new_queues.is_empty();
            let from = if from_new {
                &mut self.new_queues
            } else {
                &mut self.old_queues
            };
            let Some(&flow) = from.first() else {
                return step;
            };
            let (list, codel, credits) = &mut self.queues[flow];
            if *credits <= 0 {
                *credits += i64::from(config.quantum);
                from.remove(0);
                self.old_queues.push(flow);
                continue;
            }
            let sizes: Vec<_> = list
                .iter()
                .map(|entry| (entry.number, entry.bytes))
                .collect();
            codel.dequeue(now, &config.codel, list, &mut self.backlog, &mut step);
            if let Some((number, _)) = step.served {
                let size = sizes.iter().find(|(other, _)| *other == number).unwrap().1;
                *credits -= size as i64;
                return step;
            }
            from.remove(0);
            if from_new && !self.old_queues.is_empty() {
                self.old_queues.push(flow);
            }
        }
    }
}

/// An operation, and the time since the one before.
#[derive(Clone, Copy, Debug)]
enum Operation {
    Push {
        flow: u32,
        bytes: u32,
        capable: bool,
    },
    Serve,
}

/// Bursts of arrivals and of departures, so that queues build up and drain.
fn operations() -> impl Strategy<Value = Vec<(u64, Operation)>> {
    let push = (0..5_u32, 40..1501_u32, any::<bool>()).prop_map(|(flow, bytes, capable)| {
        Operation::Push {
            flow,
            bytes,
            capable,
        }
    });
    let operation = prop_oneof![push, Just(Operation::Serve), Just(Operation::Serve)];
    let burst = (0..6_u64, 1..40_usize, operation);
    proptest::collection::vec(burst, 1..60).prop_map(|bursts| {
        let repeat = |(gap_ms, count, operation)| {
            std::iter::repeat_n((gap_ms * 1_000_000 + 77, operation), count)
        };
        bursts.into_iter().flat_map(repeat).collect()
    })
}

fn configs() -> impl Strategy<Value = CoDelConfig> {
    (1..10_u64, 5..100_u64, any::<bool>()).prop_map(|(target, interval, ecn)| CoDelConfig {
        target: Duration::from_millis(target),
        interval: Duration::from_millis(interval),
        ecn,
        largest_packet: 1500,
    })
}

proptest! {
    #[test]
    fn codel_is_its_pseudo_code(operations in operations(), config in configs()) {
        let mut queue = queue(Discipline::CoDel(config), QueueLimit::Unlimited);
        let (mut model, mut list, mut backlog) = (CoDelModel::default(), Vec::new(), 0);
        let mut now = 0;
        for (number, (gap, operation)) in operations.into_iter().enumerate() {
            now += gap;
            match operation {
                Operation::Push { bytes, capable, .. } => {
                    let ecn = if capable { Ecn::Capable0 } else { Ecn::NotCapable };
                    queue.push(waiting(now, number, 0, bytes, ecn));
                    let bytes = u64::from(bytes);
                    list.push(Entry { number, bytes, since: now, capable });
                    backlog += bytes;
                }
                Operation::Serve => {
                    let mut expected = Step::default();
                    model.dequeue(now, &config, &mut list, &mut backlog, &mut expected);
                    prop_assert_eq!(step(&mut queue, now), expected);
                    prop_assert_eq!(queue.bytes(), backlog);
                }
            }
        }
    }

    #[test]
    fn fq_codel_is_its_prose(
        operations in operations(), codel in configs(), quantum in 256..4000_u32,
    ) {
        // Among 65 536 queues the five flows have one each, for the hash of this test.
        let config = FqCoDelConfig { codel, queues: 65_536, quantum };
        let mut queue = queue(Discipline::FqCoDel(config), QueueLimit::Unlimited);
        let mut model = FqModel::default();
        let mut now = 0;
        for (number, (gap, operation)) in operations.into_iter().enumerate() {
            now += gap;
            match operation {
                Operation::Push { flow, bytes, capable } => {
                    let ecn = if capable { Ecn::Capable0 } else { Ecn::NotCapable };
                    queue.push(waiting(now, number, flow, bytes, ecn));
                    let bytes = u64::from(bytes);
                    let entry = Entry { number, bytes, since: now, capable };
                    model.push(flow as usize, entry, &config);
                }
                Operation::Serve => {
                    prop_assert_eq!(step(&mut queue, now), model.dequeue(now, &config));
                    prop_assert_eq!(queue.bytes(), model.backlog);
                }
            }
        }
    }
}
