//! A ping that printed only its statistics: `ping -q`, `ping -f`, `fping -q`, Windows' last lines.

use super::super::speed_test::of_ms;
use super::FORMAT;
use super::group::groups;
use super::line::{received, transmitted};
use crate::fault::{TraceError, TraceProblem};
use crate::recording::{Direction, Recording};
use crate::source::{Source, lines};

/// Minimum, mean, maximum and deviation in milliseconds.
struct Times {
    least: f64,
    mean: f64,
    most: f64,
    deviation: Option<f64>,
}

impl Times {
    /// `rtt min/avg/max/mdev = 24.0/45.1/65.2/7.0 ms`, in any program's words; Windows' `Minimum =
    /// 1ms, Maximum = 3ms, Average = 2ms`, in any language.
    fn of(text: &str) -> Option<Self> {
        if let Some((names, values)) = text.rsplit_once(" = ")
            && names.ends_with(|c: char| c.is_ascii_alphabetic())
            && names.contains("min/")
        {
            let end = values.find(|c: char| !(c.is_ascii_digit() || "./".contains(c)));
            let values = &values[..end.unwrap_or(values.len())];
            return Self::ordered(values.split('/'), [0, 1, 2]);
        }
        let found = groups(text);
        let [least, most, mean] = &found[..] else {
            return None;
        };
        let all = [least, most, mean];
        let are_times = all.iter().all(|one| one.is_in_ms() && one.is_spaced);
        let numbers = all.into_iter().map(|one| one.number);
        if are_times {
            Self::ordered(numbers, [0, 2, 1])
        } else {
            None
        }
    }

    /// Values at the places of the minimum, the mean and the maximum, as no others can be meant.
    fn ordered<'a>(values: impl Iterator<Item = &'a str>, places: [usize; 3]) -> Option<Self> {
        let values: Vec<f64> = values.map_while(|value| value.parse().ok()).collect();
        let [least, mean, most] = places.map(|place| values.get(place).copied());
        let (least, mean, most) = (least?, mean?, most?);
        (0.0 <= least && least <= mean && mean <= most && most.is_finite()).then_some(Self {
            least,
            mean,
            most,
            deviation: values.get(3).copied().filter(|ms| ms.is_finite()),
        })
    }
}

/// The figures of a ping without a line for each probe; `None` where it has no statistics.
pub(super) fn recording(bytes: &[u8], source: Source<'_>) -> Result<Option<Recording>, TraceError> {
    let (mut sent, mut answered, mut times) = (0_u64, None, None);
    for (_, line) in lines(bytes) {
        let Ok(text) = std::str::from_utf8(line) else {
            continue;
        };
        if let Some(count) = transmitted(text) {
            sent = count;
            answered = received(text);
        }
        times = text
            .split(", ")
            .find_map(Times::of)
            .or_else(|| Times::of(text))
            .or(times);
    }
    let remedy = "check that the host answers, and ping one that does: ping -D -i 0.2 -c 1500 HOST \
                  > link.ping";
    let (Some(answered), 1..) = (answered.filter(|answered| *answered <= sent), sent) else {
        return Ok(None);
    };
    if answered == 0 {
        let what = format!("a ping of which none of {sent} probes was answered");
        let remedy = remedy.to_owned();
        return Err(source.error(None, TraceProblem::OtherKind { what, remedy }));
    }
    let Some(times) = times else {
        return Ok(None);
    };
    let summary = format!(
        "the statistics of a ping ({} of {sent} probes lost; round trips of {} to {} ms, {} ms in \
         the mean)",
        sent - answered,
        times.least,
        times.most,
        times.mean
    );
    let mut found = Recording::new(FORMAT.name, summary);
    found.figures.least_rtt = of_ms(times.least);
    found.figures.mean_rtt = of_ms(times.mean);
    found.figures.rtt_deviation = times.deviation.and_then(of_ms);
    let share = (sent - answered) as f64 / sent as f64;
    found.figures.losses.push((Direction::Unknown, share));
    found.remark(
        "It has no round trip of each probe: neither percentiles nor stops can be had. `ping -D` \
         without -q prints them.",
    );
    Ok(Some(found))
}
