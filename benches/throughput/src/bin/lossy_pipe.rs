//! The lossy pipe in airtcp, one core: event loop's wall time and memory. Prints one line of JSON
//! with the same fields as the corresponding programs for ns-2 and ns-3.

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant as Clock;

use airtcp_packet::Segment;
use airtcp_scenario::{Scenario, build};
use airtcp_sim::engine::{Direction, Simulation, Watch};
use airtcp_units::Instant;
use clap::Parser;

#[derive(Parser)]
#[command(about = "Times airtcp's event loop on the lossy pipe")]
struct Settings {
    /// The scenario's file.
    #[arg(long, default_value = "scenarios/lossy-pipe.toml")]
    scenario: PathBuf,
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Further keys, as in `airtcp run --set`.
    #[arg(long, value_name = "KEY=VALUE", value_parser = key_and_value)]
    set: Vec<(String, String)>,
    /// Also count the acknowledgments that arrived, in a second, untimed run.
    #[arg(long)]
    acknowledgments: bool,
}

/// Counts the acknowledgments that reach the senders.
#[derive(Default)]
struct Acknowledgments(u64);

impl Watch for Acknowledgments {
    fn segment(
        &mut self,
        _now: Instant,
        _flow: u32,
        direction: Direction,
        _number: u64,
        _segment: &Segment,
    ) {
        self.0 += u64::from(direction == Direction::Acknowledgments);
    }
}

fn key_and_value(text: &str) -> Result<(String, String), String> {
    let (key, value) = text.split_once('=').ok_or("expected KEY=VALUE")?;
    Ok((key.to_owned(), value.to_owned()))
}

fn main() -> ExitCode {
    let settings = Settings::parse();
    let scenario = match Scenario::load(&settings.scenario, &settings.set) {
        Ok(scenario) => scenario,
        Err(error) => {
            eprintln!("lossy-pipe: {error}");
            return ExitCode::from(2);
        }
    };
    let before = peak_resident_bytes();
    let mut simulation = Simulation::new(build(&scenario, settings.seed), settings.seed);
    let end = Instant::ZERO + scenario.duration;
    let began = Clock::now();
    event_loop(&mut simulation, end);
    let wall_s = began.elapsed().as_secs_f64();
    let grown = peak_resident_bytes()
        .zip(before)
        .map(|(after, before)| after - before);

    let acknowledgments = settings.acknowledgments.then(|| {
        let mut count = Acknowledgments::default();
        Simulation::new(build(&scenario, settings.seed), settings.seed).run_until(end, &mut count);
        count.0
    });

    let seconds = scenario.duration.as_secs_f64();
    let mss = u64::from(scenario.tcp.mss);
    let flows = simulation.flows();
    let bytes: u64 = flows.iter().map(|flow| flow.delivered()).sum();
    let sent: u64 = flows
        .iter()
        .map(|flow| flow.client().sender().counters().segments_sent)
        .sum();
    let line = serde_json::json!({
        "peer": "airtcp",
        "flows": flows.len(),
        "seed": settings.seed,
        "delivered_packets": bytes / mss,
        "segments_sent": sent,
        "acknowledgments": acknowledgments,
        "events": simulation.events(),
        "wall_s": wall_s,
        "simulated_s": seconds,
        "goodput_bps": 8.0 * bytes as f64 / seconds,
        "peak_resident_growth_bytes": grown,
        "digest": format!("{:016x}", simulation.digest().value()),
    });
    println!("{line}");
    ExitCode::SUCCESS
}

/// The measured part: by the clock, and by `benches/instructions.py`, which makes callgrind count
/// inside the function of this name and nowhere else.
#[inline(never)]
fn event_loop(simulation: &mut Simulation, end: Instant) {
    simulation.run_until(end, &mut ());
}

/// The peak resident set (`VmHWM` in `/proc/self/status`), if the system reports one.
fn peak_resident_bytes() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim()
        .strip_suffix("kB")?
        .trim()
        .parse::<u64>()
        .ok()
        .map(|kilobytes| kilobytes * 1024)
}
