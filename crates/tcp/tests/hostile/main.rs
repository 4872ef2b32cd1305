//! Connections under attack, through the wire codec: no panic, no byte lost or doubled, no stall,
//! no storm of acknowledgments, and no waste where nothing is lost.
//!
//! `AIRTCP_CONNECTIONS` sets their number, `AIRTCP_SEED` repeats one; both together run that many
//! seeds from there.

mod directed;
mod harness;
mod hunt;
mod storm;

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::{env, fmt, thread};

use airtcp_tcp::Profile;

use harness::Outcome;
use harness::plan::Plan;

/// Number of connections in an ordinary run.
const CONNECTIONS: u64 = 1000;
/// Operations that this many connections must have met.
const OPERATIONS: [&str; 21] = [
    "abort",
    "anything",
    "cut",
    "delay",
    "duplicate",
    "exact reset",
    "flip",
    "forged SYN",
    "forged acknowledgment",
    "forged data",
    "freeze",
    "link report",
    "lose",
    "mangle",
    "mark",
    "no delay",
    "replay",
    "reset inside the window",
    "reset outside the window",
    "silence",
    "window",
];

fn number(name: &str) -> Option<u64> {
    let text = env::var(name).ok()?;
    Some(
        text.parse()
            .unwrap_or_else(|_| panic!("{name} is {text:?}, and must be a whole number")),
    )
}

#[test]
fn every_profile_survives_every_attack() {
    let seeds = if let Some(seed) = number("AIRTCP_SEED") {
        let count = number("AIRTCP_CONNECTIONS").unwrap_or(1);
        if count == 1 {
            println!("{}", hunt::describe(&hunt::plan_of_seed(seed)));
        }
        seed..seed.saturating_add(count)
    } else {
        0..number("AIRTCP_CONNECTIONS").unwrap_or(CONNECTIONS)
    };
    let count = seeds.end - seeds.start;
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let seen: Mutex<Seen> = Mutex::default();
    hunt::connections(seeds, threads, |plan, outcome| {
        seen.lock()
            .expect("no thread panics with it")
            .add(plan, outcome);
    });
    let seen = seen.into_inner().expect("no thread panics with it");
    println!(
        "{count} connections: {}\n{:?}\n{:?}",
        seen.sums, seen.profiles, seen.performed
    );
    if count >= CONNECTIONS {
        assert_eq!(
            seen.profiles.len(),
            Profile::ALL.len(),
            "every profile is driven"
        );
        for operation in OPERATIONS {
            assert!(
                seen.performed.contains_key(operation),
                "{operation} was never performed"
            );
        }
    }
}

/// Totals over many connections.
#[derive(Default)]
struct Seen {
    profiles: BTreeMap<&'static str, u64>,
    performed: BTreeMap<&'static str, u64>,
    sums: Sums,
}

#[derive(Default)]
struct Sums {
    complete: u64,
    wounded: u64,
    events: u64,
    delivered: u64,
    sent: u64,
    timeouts: u64,
}

impl Seen {
    fn add(&mut self, plan: &Plan, outcome: &Outcome) {
        for profile in plan.profiles {
            *self.profiles.entry(profile.name()).or_default() += 1;
        }
        for (name, times) in &outcome.performed {
            *self.performed.entry(name).or_default() += times;
        }
        self.sums.complete += u64::from(outcome.completed);
        self.sums.wounded += u64::from(outcome.wounded);
        self.sums.events += outcome.events;
        self.sums.delivered += outcome.delivered;
        self.sums.sent += outcome.sent;
        self.sums.timeouts += outcome.timeouts;
    }
}

impl fmt::Display for Sums {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            complete,
            wounded,
            events,
            delivered,
            sent,
            timeouts,
        } = self;
        write!(
            f,
            "{complete} complete, {wounded} wounded, {events} events, {sent} bytes sent for \
             {delivered}, {timeouts} timeouts"
        )
    }
}
