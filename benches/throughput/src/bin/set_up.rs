//! The cost of a run before its first packet: the network built, the run ended at once, and its
//! summary written as JSON, as for each cell of a study. Prints one line of JSON.

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use airtcp_scenario::Scenario;
use airtcp_sim::{Observe, run};
use clap::Parser;

/// The handshake's first segment is still in flight when such a run ends.
const DURATION: &str = "1 ms";

#[derive(Parser)]
#[command(about = "Counts what a run's set-up costs")]
struct Settings {
    /// The scenario's file.
    #[arg(long, default_value = "scenarios/lossy-pipe.toml")]
    scenario: PathBuf,
    /// Runs in a round.
    #[arg(long, default_value_t = 1000)]
    runs: u64,
    /// Rounds; the fastest counts.
    #[arg(long, default_value_t = 20)]
    rounds: usize,
}

fn main() -> ExitCode {
    let settings = Settings::parse();
    let short = [("duration".to_owned(), DURATION.to_owned())];
    let scenario = match Scenario::load(&settings.scenario, &short) {
        Ok(scenario) => scenario,
        Err(error) => {
            eprintln!("set-up: {error}");
            return ExitCode::from(2);
        }
    };
    if settings.runs == 0 {
        eprintln!("set-up: --runs 0: expected at least 1");
        return ExitCode::from(2);
    }
    // Work done once per process is done here.
    set_up(&scenario, 0, 1);
    let mut fastest: Option<u64> = None;
    let mut bytes = 0;
    for _ in 0..settings.rounds {
        let began = processor_ns();
        bytes = set_up(&scenario, 1, settings.runs);
        let spent = processor_ns().zip(began).map(|(now, began)| now - began);
        fastest = fastest.into_iter().chain(spent).min();
    }
    let line = serde_json::json!({
        "scenario": settings.scenario,
        "runs": settings.runs,
        "rounds": settings.rounds,
        "processor_us_a_run": fastest.map(|ns| ns as f64 / 1e3 / settings.runs as f64),
        "summary_bytes": bytes as f64 / settings.runs as f64,
    });
    println!("{line}");
    ExitCode::SUCCESS
}

/// The measured part: by processor time, and by callgrind inside the function of this name.
/// The bytes of all summaries.
#[inline(never)]
fn set_up(scenario: &Scenario, first_seed: u64, runs: u64) -> usize {
    (first_seed..first_seed + runs)
        .map(|seed| {
            run(scenario, seed, &Observe::default(), &|_| true)
                .ok()
                .and_then(|result| serde_json::to_string(&result.summary).ok())
                .map_or(0, |summary| summary.len())
        })
        .sum()
}

/// Processor time so far, in ns; `None` if the kernel does not report it.
fn processor_ns() -> Option<u64> {
    fs::read_to_string("/proc/self/schedstat")
        .ok()?
        .split(' ')
        .next()?
        .parse()
        .ok()
}
