//! The effect of side B on goodput over paired seeds, as a sentence.

use airtcp_statistics::{Outcome, PairedDifference, SMALLEST_PERCENT, State};

/// The effect of side B by the goodputs of both sides in bit/s, seed by seed, and whether it is
/// decided; `None` unless both have as many seeds, at least one.
#[must_use]
pub fn verdict(a_bps: &[f64], b_bps: &[f64]) -> Option<String> {
    let difference = PairedDifference::of(a_bps, b_bps)?;
    let sentence = sentence(&difference);
    let head = sentence.trim_end_matches('.');
    Some(match difference.state() {
        State::Excluded if difference.mean != 0.0 => {
            format!("{head}: less than {SMALLEST_PERCENT} %, not worth having.")
        }
        State::Undecided => match difference.seeds_needed() {
            Some(seeds) => format!("{head}: about {seeds} seeds would decide."),
            None => sentence,
        },
        _ => sentence,
    })
}

fn sentence(difference: &PairedDifference) -> String {
    let n = difference.n;
    let direction = if difference.mean > 0.0 {
        "raises"
    } else {
        "lowers"
    };
    match difference.outcome {
        Outcome::Identical => "B leaves goodput as it is: the same in every run.".to_owned(),
        Outcome::NoDifferenceShown => {
            let size = amount(difference, true);
            format!("B: undecided in goodput ({size}; 95 %, n={n}).")
        }
        Outcome::NoInterval => {
            let basis = if n == 1 {
                "one seed".to_owned()
            } else {
                format!("the same on all {n} seeds")
            };
            format!(
                "B {direction} goodput by {} ({basis}).",
                amount(difference, false)
            )
        }
        Outcome::Higher | Outcome::Lower => {
            let size = amount(difference, false);
            format!("B {direction} goodput by {size} (95 %, n={n}).")
        }
    }
}

/// The size of a difference, "13.1 % ± 1.9 %", in bit/s if the baseline carries nothing.
fn amount(difference: &PairedDifference, with_sign: bool) -> String {
    let signed = |value: f64| if with_sign { value } else { value.abs() };
    let (size, half) = match difference.mean_percent() {
        Some(percent) => {
            let half = difference.half_width_percent();
            // Without an interval, three digits.
            let decimals = decimals_for(half.unwrap_or(percent.abs() / 10.0));
            let size = percent_text(signed(percent), with_sign, decimals);
            (size, half.map(|half| percent_text(half, false, decimals)))
        }
        None => (
            bit_rate(signed(difference.mean), with_sign),
            difference.half_width.map(|half| bit_rate(half, false)),
        ),
    };
    half.map_or(size.clone(), |half| format!("{size} ± {half}"))
}

/// Number of decimals of a number known to within `uncertainty`: "13.1 ± 1.9".
fn decimals_for(uncertainty: f64) -> usize {
    let steps = [9.95, 0.095, 0.0095];
    let found = steps.iter().position(|least| uncertainty >= *least);
    found.unwrap_or(steps.len())
}

fn percent_text(percent: f64, with_sign: bool, decimals: usize) -> String {
    format!("{} %", number(percent, with_sign, decimals))
}

/// Three significant digits with the unit in which they read best.
fn bit_rate(bps: f64, with_sign: bool) -> String {
    let units = [(1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s")];
    let (size, unit) = units
        .into_iter()
        .find(|(size, _)| bps.abs() >= 0.9995 * size)
        .unwrap_or((1.0, "bit/s"));
    let value = bps / size;
    let decimals = match value.abs() {
        magnitude if magnitude >= 99.95 || magnitude == 0.0 => 0,
        magnitude if magnitude >= 9.995 => 1,
        _ => 2,
    };
    format!("{} {unit}", number(value, with_sign, decimals))
}

/// A number with a minus sign as wide as the plus; never "-0".
fn number(value: f64, with_sign: bool, decimals: usize) -> String {
    let text = format!("{:.decimals$}", value.abs());
    let is_zero = text.chars().all(|one| matches!(one, '0' | '.'));
    let sign = match value {
        value if value < 0.0 && !is_zero => "\u{2212}",
        _ if with_sign => "+",
        _ => "",
    };
    format!("{sign}{text}")
}
