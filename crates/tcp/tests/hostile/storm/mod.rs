//! Connections in a storm: for ten minutes a network loses, duplicates, holds back and mangles
//! packets, and from then on does nothing of the kind. The test is the progress afterwards: the
//! remaining data takes a small multiple of its time on a clean link, and no more than that and a
//! few of the longest timeouts.
//!
//! `AIRTCP_STORMS` sets their number, `AIRTCP_STORM` repeats one; both together run that many from
//! there.

mod pair;
mod plan;
mod weather;

use std::collections::BTreeMap;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use airtcp_tcp::Profile;

use super::number;
use pair::{Outcome, run};
use plan::StormPlan;

/// Number of storms in an ordinary run.
const STORMS: u64 = 150;

#[test]
fn every_connection_recovers_from_a_storm() {
    let count = number("AIRTCP_STORMS");
    let first = number("AIRTCP_STORM");
    if let (Some(seed), None) = (first, count) {
        let plan = StormPlan::of_seed(seed);
        println!("{}", plan.describe());
        let outcome = run(&plan);
        println!("{outcome:?}");
        assert!(outcome.verdict().is_ok(), "{:?}", outcome.verdict());
        return;
    }
    let count = count.unwrap_or(STORMS);
    let first = first.unwrap_or(0);
    let next = AtomicU64::new(first);
    let seen: Mutex<Seen> = Mutex::default();
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= first + count {
                        break;
                    }
                    let plan = StormPlan::of_seed(seed);
                    let result = panic::catch_unwind(AssertUnwindSafe(|| run(&plan)));
                    seen.lock()
                        .expect("no thread panics with it")
                        .add(seed, &plan, result.ok());
                }
            });
        }
    });
    let seen = seen.into_inner().expect("no thread panics with it");
    println!("{count} storms: {:?}, {:?}", seen.kinds, seen.profiles);
    if count >= STORMS {
        assert_eq!(
            seen.profiles.len(),
            Profile::ALL.len(),
            "every profile meets a storm"
        );
    }
    assert!(
        seen.failures.is_empty(),
        "AIRTCP_STORM of those that fail: {:?}",
        seen.failures
    );
}

/// The outcomes of many connections.
#[derive(Default)]
struct Seen {
    kinds: BTreeMap<&'static str, u64>,
    profiles: BTreeMap<&'static str, u64>,
    failures: Vec<u64>,
}

impl Seen {
    fn add(&mut self, seed: u64, plan: &StormPlan, outcome: Option<Outcome>) {
        *self.profiles.entry(plan.profiles[0].name()).or_default() += 1;
        let (kind, failure) = match &outcome {
            None => ("panicked", Some("panicked".to_owned())),
            Some(outcome) => match outcome.verdict() {
                Ok(kind) => (kind, None),
                Err(why) => ("crawls", Some(why)),
            },
        };
        *self.kinds.entry(kind).or_default() += 1;
        if let Some(why) = failure {
            println!(
                "AIRTCP_STORM={seed}: {why}
{}",
                plan.describe()
            );
            self.failures.push(seed);
        }
    }
}
