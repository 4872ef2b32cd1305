//! Many plans, on every core; a plan that fails is shrunk as far as possible.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, Once};
use std::thread;

use airtcp_tcp::{Config, Profile};

use super::harness::plan::Plan;
use super::harness::source::{Source, bytes_of_seed};
use super::harness::{Outcome, run};

thread_local! {
    /// Whether panics are expected, and the place of the last one.
    static QUIET: Cell<bool> = const { Cell::new(false) };
    static PLACE: Cell<String> = const { Cell::new(String::new()) };
}

pub fn plan_of_seed(seed: u64) -> Plan {
    Plan::new(&mut Source::new(&bytes_of_seed(seed)))
}

/// Runs a plan; returns its panic message, if any.
fn attempt(plan: &Plan) -> Result<Outcome, String> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let usual = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if QUIET.get() {
                PLACE.set(info.location().map(ToString::to_string).unwrap_or_default());
            } else {
                usual(info);
            }
        }));
    });
    QUIET.set(true);
    let result = panic::catch_unwind(AssertUnwindSafe(|| run(plan)));
    QUIET.set(false);
    result.map_err(|payload| {
        let text = payload.downcast_ref::<String>().cloned();
        text.or_else(|| payload.downcast_ref::<&str>().map(ToString::to_string))
            .map(|text| format!("{text}, at {}", PLACE.take()))
            .unwrap_or_else(|| "a panic without words".to_owned())
    })
}

/// The smallest plan found that fails in the same way, and its message.
fn shrink(plan: &Plan, message: String) -> (Plan, String) {
    let kind = kind_of(&message);
    let fails = |plan: &Plan| attempt(plan).err().filter(|why| kind_of(why) == kind);
    let (mut plan, mut message) = (plan.clone(), message);
    let mut length = plan.steps.len().max(1);
    loop {
        let mut at = 0;
        while at < plan.steps.len() {
            let mut smaller = plan.clone();
            smaller.steps.drain(at..(at + length).min(plan.steps.len()));
            match fails(&smaller) {
                Some(why) => (plan, message) = (smaller, why),
                None => at += length,
            }
        }
        if length == 1 {
            break;
        }
        length /= 2;
    }
    for simplify in SIMPLER {
        let mut simpler = plan.clone();
        simplify(&mut simpler);
        if let Some(why) = fails(&simpler) {
            (plan, message) = (simpler, why);
        }
    }
    (plan, message)
}

/// Ways to make a plan simpler.
const SIMPLER: [fn(&mut Plan); 10] = [
    |plan| plan.configs[0] = plan.profiles[0].config(),
    |plan| plan.configs[1] = plan.profiles[1].config(),
    |plan| plan.configs[0].pacing = false,
    |plan| plan.configs[1].pacing = false,
    |plan| plan.start = airtcp_units::Instant::ZERO,
    |plan| plan.initial_numbers = [0, 0],
    |plan| plan.applications[1].bytes = 0,
    |plan| plan.applications[0].bytes = 0,
    |plan| plan.ipv6 = false,
    |plan| plan.both_open = false,
];

/// The kind of a message: its words without numbers.
fn kind_of(message: &str) -> String {
    let words = message.chars().filter(|char| !char.is_ascii_digit());
    words.take(60).collect()
}

/// A configuration as its differences from its profile.
pub fn differences(profile: Profile, config: &Config, end: usize) -> String {
    let usual = format!("{:?}", profile.config());
    let usual: Vec<&str> = usual.split(", ").collect();
    let config = format!("{config:?}");
    let changed: Vec<&str> = config
        .split(", ")
        .filter(|part| !usual.contains(part))
        .collect();
    let name = profile.name();
    format!("end {end}: {name} with {}\n", changed.join(", "))
}

/// A plan as text, with its configurations as differences from their profiles.
pub fn describe(plan: &Plan) -> String {
    let mut text = String::new();
    for end in 0..2 {
        text += &differences(plan.profiles[end], &plan.configs[end], end);
        _ = writeln!(text, "  {:?}", plan.applications[end]);
    }
    _ = writeln!(
        text,
        "numbers {:?}, start {:?}, delays {:?}, IPv6 {}, both open {}, lethal {}",
        plan.initial_numbers, plan.start, plan.delays, plan.ipv6, plan.both_open, plan.lethal
    );
    for step in &plan.steps {
        _ = writeln!(text, "  after {:2} {:?}", step.after, step.operation);
    }
    text
}

/// Failures by kind: their number, and the lowest seed with its message.
type Failures = BTreeMap<String, (u64, u64, String)>;

/// Fails with the kinds found, each with its smallest plan.
fn report(failures: &Failures) -> ! {
    let mut text = String::new();
    for (times, seed, message) in failures.values() {
        let (plan, why) = shrink(&plan_of_seed(*seed), message.clone());
        _ = writeln!(
            text,
            "\n{times} times, first with AIRTCP_SEED={seed}: {message}"
        );
        _ = writeln!(
            text,
            "The smallest plan found fails with: {why}\n{}",
            describe(&plan)
        );
    }
    panic!("{text}");
}

/// Runs the plans of these seeds, and passes each outcome to `each` in no particular order.
pub fn connections(
    seeds: std::ops::Range<u64>,
    threads: usize,
    each: impl Fn(&Plan, &Outcome) + Sync,
) {
    let next = AtomicU64::new(seeds.start);
    let failures: Mutex<Failures> = Mutex::default();
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= seeds.end {
                        break;
                    }
                    let plan = plan_of_seed(seed);
                    match attempt(&plan) {
                        Ok(outcome) => each(&plan, &outcome),
                        Err(message) => {
                            let mut failures = failures.lock().expect("no thread panics with it");
                            let entry = failures
                                .entry(kind_of(&message))
                                .or_insert_with(|| (0, seed, message.clone()));
                            entry.0 += 1;
                            // The lowest seed is reported, however the threads are scheduled.
                            if seed < entry.1 {
                                (entry.1, entry.2) = (seed, message);
                            }
                        }
                    }
                }
            });
        }
    });
    let failures = failures.into_inner().expect("no thread panics with it");
    if !failures.is_empty() {
        report(&failures);
    }
}
