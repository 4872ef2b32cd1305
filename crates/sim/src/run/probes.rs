//! Sampling variables of a running simulation.

use airtcp_units::{Duration, Instant};
use arrow_array::RecordBatch;

use super::{Observe, RunError};
use crate::engine::{Flow, Simulation};
use crate::result::{Probe, Reading, Samples};

/// Samples a run has when no interval is given.
const DEFAULT_SAMPLES: u64 = 1000;
/// The shortest interval between samples.
const SHORTEST_INTERVAL: Duration = Duration::from_micros(1);

/// Samples every flow at regular instants.
pub(super) struct Sampler {
    samples: Samples,
    interval: Duration,
    due: Instant,
    /// Bytes each flow had delivered at the sample before.
    delivered: Vec<u64>,
}

impl Sampler {
    pub(super) fn new(observe: &Observe, duration: Duration) -> Self {
        let interval = observe
            .probe_interval
            .unwrap_or(duration / DEFAULT_SAMPLES)
            .max(SHORTEST_INTERVAL);
        let due = if observe.probes.is_empty() {
            Instant::FAR_FUTURE
        } else {
            Instant::ZERO + interval
        };
        Self {
            samples: Samples::new(&observe.probes),
            interval,
            due,
            delivered: Vec::new(),
        }
    }

    /// When the next sample is due.
    pub(super) const fn due(&self) -> Instant {
        self.due
    }

    /// Samples every flow of `simulation` now.
    pub(super) fn take(&mut self, simulation: &mut Simulation) {
        let now = simulation.now();
        self.delivered.resize(simulation.flows().len(), 0);
        for (before, index) in self.delivered.iter_mut().zip(0..) {
            let air = simulation.air(index);
            let flow = &simulation.flows()[index as usize];
            let delivered = flow.delivered();
            let fresh = delivered - *before;
            *before = delivered;
            let interval = self.interval.as_secs_f64();
            self.samples.push(now, index, |probe| match probe {
                Probe::Queue => Reading::Count(air.queued),
                Probe::RetryQueue1 => Reading::Count(air.retries[0]),
                Probe::RetryQueue2 => Reading::Count(air.retries[1]),
                Probe::RetryQueue3 => Reading::Count(air.retries[2]),
                Probe::Snr => air.snr_db.map_or(Reading::Missing, Reading::Real),
                Probe::Goodput => Reading::Real(fresh as f64 * 8.0 / interval),
                Probe::DeliveredBytes => Reading::Count(delivered),
                _ => of_sender(probe, flow),
            });
        }
        self.due = now + self.interval;
    }

    pub(super) fn finish(&mut self) -> Result<RecordBatch, RunError> {
        Ok(self.samples.finish()?)
    }
}

fn of_sender(probe: Probe, flow: &Flow) -> Reading {
    let sender = flow.client().sender();
    let count = |value: Option<u64>| value.map_or(Reading::Missing, Reading::Count);
    let time = |value: Option<Duration>| {
        value.map_or(Reading::Missing, |time| Reading::Real(time.as_millis_f64()))
    };
    match probe {
        Probe::Cwnd => count(Some(sender.cwnd())),
        Probe::Ssthresh => count(sender.ssthresh()),
        Probe::InFlight => count(Some(sender.in_flight())),
        Probe::Srtt => time(sender.rtt().srtt()),
        Probe::Rtt => time(sender.rtt().latest()),
        Probe::Rto => time(Some(sender.rto())),
        Probe::Queue
        | Probe::RetryQueue1
        | Probe::RetryQueue2
        | Probe::RetryQueue3
        | Probe::Snr
        | Probe::Goodput
        | Probe::DeliveredBytes => Reading::Missing,
    }
}
