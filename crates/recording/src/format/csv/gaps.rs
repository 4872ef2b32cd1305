//! Rows that a program left out for lost probes, by the times of the others.

/// Fewer times show no interval.
const FEWEST: usize = 20;
/// Share of the steps that have to be the interval itself.
const USUAL_SHARE: f64 = 0.6;
/// Distance of a step from a multiple of the interval, in intervals.
const NEAR: f64 = 0.1;
/// Share of the steps that may lie farther off.
const MAX_OFF: f64 = 0.01;
/// A longer pause is one of the program, not of the link.
const MAX_GAP: f64 = 10_000.0;

/// The number of each probe, if they were sent at even times with some missing: steps are multiples
/// of one interval, most of them of one. `None` if no row is missing or the times are not even.
pub(super) fn numbered(times: &[f64]) -> Option<Vec<u64>> {
    if times.len() < FEWEST {
        return None;
    }
    let steps: Vec<f64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let mut sorted = steps.clone();
    sorted.sort_unstable_by(f64::total_cmp);
    let interval = sorted[sorted.len() / 2];
    if interval <= 0.0 || sorted[0] < 0.0 {
        return None;
    }
    let multiples: Vec<f64> = steps.iter().map(|step| step / interval).collect();
    let count = |is_it: fn(f64) -> bool| multiples.iter().filter(|one| is_it(**one)).count() as f64;
    let usual = count(|one| (one - 1.0).abs() < NEAR);
    let off = count(|one| (one - one.round()).abs() >= NEAR || one.round() < 1.0 || one > MAX_GAP);
    let whole = steps.len() as f64;
    if usual < USUAL_SHARE * whole || off > MAX_OFF * whole || usual == whole {
        return None;
    }
    let mut numbers = Vec::with_capacity(times.len());
    let mut number = 0_u64;
    numbers.push(number);
    for one in multiples {
        number += one.round().clamp(1.0, MAX_GAP) as u64;
        numbers.push(number);
    }
    Some(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_rows_are_numbered_where_times_are_even() {
        let even: Vec<f64> = (0..100)
            .filter(|number| number % 10 != 7)
            .map(|n| f64::from(n) * 0.2)
            .collect();
        let numbers = numbered(&even).unwrap();
        assert_eq!((numbers.len(), numbers[6], numbers[7]), (90, 6, 8));
        assert_eq!(numbers[89], 99);
        // Nothing is missing, or times are uneven, go back, or repeat.
        let whole: Vec<f64> = (0..100).map(f64::from).collect();
        let uneven: Vec<f64> = (0..100).map(|number| f64::from(number * number)).collect();
        let mut back = even.clone();
        back.reverse();
        for times in [whole, uneven, back, vec![1.0; 100], even[..10].to_vec()] {
            assert_eq!(numbered(&times), None);
        }
    }
}
