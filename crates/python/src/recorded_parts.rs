//! The parts of a recording other than probes, as dictionaries: times in nanoseconds, rates in bits
//! a second.

use airtcp_recording::{
    Bound as RateBound, Direction, Figures, Layer, Losses, Rates, Recording, Shaping, Spread,
};
use airtcp_units::Duration;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

/// Adds `rates`, `opportunities`, `delays`, `trains`, `figures`, `shaping` and `table`.
pub(crate) fn add(fields: &Bound<'_, PyDict>, recording: &Recording) -> PyResult<()> {
    let py = fields.py();
    let rates = PyList::empty(py);
    for one in &recording.rates {
        rates.append(of_rates(py, one)?)?;
    }
    fields.set_item("rates", rates)?;
    let hops = recording.hops.iter().map(|hop| {
        let round_trips = [hop.least_rtt, hop.mean_rtt, hop.worst_rtt].map(nanos);
        (&hop.host, hop.sent, hop.loss, round_trips)
    });
    fields.set_item("hops", hops.collect::<Vec<_>>())?;
    fields.set_item("duplicates", recording.duplicates)?;
    let opportunities = PyList::empty(py);
    for one in &recording.opportunities {
        let entry = PyDict::new(py);
        entry.set_item("direction", of_direction(one.direction))?;
        entry.set_item("bytes", one.bytes)?;
        entry.set_item("times_ms", &one.times_ms)?;
        opportunities.append(entry)?;
    }
    fields.set_item("opportunities", opportunities)?;
    let delays = PyList::empty(py);
    for one in &recording.delays {
        let entry = PyDict::new(py);
        let steps = one.steps.iter();
        let steps: Vec<_> = steps
            .map(|(at, delay)| (at.as_nanos(), delay.as_nanos()))
            .collect();
        entry.set_item("direction", of_direction(one.direction))?;
        entry.set_item("is_relative", one.is_relative)?;
        entry.set_item("steps_ns", steps)?;
        delays.append(entry)?;
    }
    fields.set_item("delays", delays)?;
    let trains = recording.trains.iter().flat_map(|trains| &trains.trains);
    let trains: Vec<_> = trains
        .map(|train| {
            let offsets = train.offsets.iter().map(|offset| offset.as_nanos());
            (
                train.sent.as_nanos(),
                train.base.as_nanos(),
                offsets.collect::<Vec<_>>(),
            )
        })
        .collect();
    fields.set_item("trains", trains)?;
    fields.set_item("figures", of_figures(py, &recording.figures)?)?;
    let shaping = PyList::empty(py);
    for one in &recording.shaping {
        shaping.append(of_shaping(py, one)?)?;
    }
    fields.set_item("shaping", shaping)?;
    fields.set_item("table", &recording.table)
}

const fn of_direction(direction: Direction) -> &'static str {
    match direction {
        Direction::Up => "up",
        Direction::Down => "down",
        Direction::Unknown => "unknown",
    }
}

const fn of_bound(bound: RateBound) -> &'static str {
    match bound {
        RateBound::Link => "link",
        RateBound::Target => "target",
        RateBound::Window => "window",
        RateBound::Shaper => "shaper",
        RateBound::Setting => "setting",
        _ => "transfer",
    }
}

fn of_rates<'py>(py: Python<'py>, rates: &Rates) -> PyResult<Bound<'py, PyDict>> {
    let entry = PyDict::new(py);
    entry.set_item("direction", of_direction(rates.direction))?;
    entry.set_item("mean_bps", rates.mean)?;
    entry.set_item("bound", of_bound(rates.bound))?;
    let layer = match rates.layer {
        Layer::Packets => "packets",
        Layer::Tcp => "tcp",
        Layer::Udp => "udp",
    };
    entry.set_item("layer", layer)?;
    let steps = rates.steps.iter().map(|step| {
        let (from, length) = (step.from.as_nanos(), step.length.as_nanos());
        (
            from,
            length,
            step.bits_per_second,
            step.bound.is_the_links(),
        )
    });
    entry.set_item("steps", steps.collect::<Vec<_>>())?;
    Ok(entry)
}

fn nanos(time: Option<Duration>) -> Option<u64> {
    time.map(Duration::as_nanos)
}

fn of_figures<'py>(py: Python<'py>, figures: &Figures) -> PyResult<Bound<'py, PyDict>> {
    let entry = PyDict::new(py);
    for (name, time) in [
        ("idle_rtt_ns", figures.idle_rtt),
        ("idle_jitter_ns", figures.idle_jitter),
        ("least_loaded_rtt_ns", figures.least_loaded_rtt),
        ("loaded_down_rtt_ns", figures.loaded_down_rtt),
        ("loaded_up_rtt_ns", figures.loaded_up_rtt),
        ("loaded_rtt_ns", figures.loaded_rtt),
        ("least_rtt_ns", figures.least_rtt),
        ("mean_rtt_ns", figures.mean_rtt),
        ("rtt_deviation_ns", figures.rtt_deviation),
    ] {
        entry.set_item(name, nanos(time))?;
    }
    let losses = figures.losses.iter();
    let losses: Vec<_> = losses
        .map(|(way, share)| (of_direction(*way), *share))
        .collect();
    entry.set_item("losses", losses)?;
    Ok(entry)
}

fn of_shaping<'py>(py: Python<'py>, shaping: &Shaping) -> PyResult<Bound<'py, PyDict>> {
    let entry = PyDict::new(py);
    entry.set_item("device", &shaping.device)?;
    entry.set_item("disciplines", &shaping.disciplines)?;
    entry.set_item("rate_bps", shaping.rate)?;
    entry.set_item("delay_ns", nanos(shaping.delay))?;
    entry.set_item("jitter_ns", nanos(shaping.jitter))?;
    let spread = shaping.spread.as_ref().map(|spread| match spread {
        Spread::Uniform => "uniform",
        Spread::Table(name) => name.as_str(),
    });
    entry.set_item("spread", spread)?;
    let losses = shaping.losses.map(|losses| match losses {
        Losses::Random(share) => vec![share],
        Losses::GilbertElliott(values) => values.to_vec(),
    });
    entry.set_item("losses", losses)?;
    entry.set_item("reorder", shaping.reorder)?;
    entry.set_item("limit_packets", shaping.limit_packets)?;
    entry.set_item("limit_bytes", shaping.limit_bytes)?;
    entry.set_item("limit_delay_ns", nanos(shaping.limit_delay))?;
    Ok(entry)
}
