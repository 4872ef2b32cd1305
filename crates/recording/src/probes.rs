//! Probes of a link, with the times at which they were sent.

use airtcp_units::Duration;

/// A probe that was answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reply {
    /// Its place among all probes of the log, answered or not, from 0. A log of several runs
    /// numbers on.
    pub number: u64,
    /// When it was sent, since [`ProbeLog::began_unix_ns`] or the log's first reply; `None` if the
    /// log does not record it.
    pub sent: Option<Duration>,
    /// From sending to the answer.
    pub round_trip: Duration,
}

/// Source of a log's sending times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// Each reply has a stamp.
    Stamps,
    /// Numbers and an interval that the log itself states.
    Statistics,
    /// Only numbers: the interval has to be asked for.
    Unknown,
}

/// Probes in the order of sending. At least one was answered.
///
/// Numbers without a reply are probes without an answer: a run of them is a gap in time. Probes
/// that the log counts as lost at no known place are `unplaced`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProbeLog {
    replies: Vec<Reply>,
    sent: u64,
    unplaced: u64,
    clock: Clock,
    interval: Option<Duration>,
    began_unix_ns: Option<u64>,
}

impl ProbeLog {
    /// Answered probes, in the order of sending: numbers increase, times do not decrease.
    #[must_use]
    pub fn replies(&self) -> &[Reply] {
        &self.replies
    }

    /// All probes that have a number; those without a reply were not answered.
    #[must_use]
    pub const fn numbered(&self) -> u64 {
        self.sent
    }

    /// Further unanswered probes, at unknown times.
    #[must_use]
    pub const fn unplaced(&self) -> u64 {
        self.unplaced
    }

    /// All probes without an answer.
    #[must_use]
    pub fn lost(&self) -> u64 {
        (self.sent - self.replies.len() as u64).saturating_add(self.unplaced)
    }

    /// Source of the log's sending times.
    #[must_use]
    pub const fn clock(&self) -> Clock {
        self.clock
    }

    /// The interval between probes, if known.
    #[must_use]
    pub const fn interval(&self) -> Option<Duration> {
        self.interval
    }

    /// When the first reply's probe was sent, in nanoseconds since 1970 (UTC); `None` if the log
    /// has no date.
    #[must_use]
    pub const fn began_unix_ns(&self) -> Option<u64> {
        self.began_unix_ns
    }
}

/// A stamp of a line: when a reply came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// Nanoseconds since 1970, or since midnight where the stamp has no date.
    pub nanos: u64,
    /// Whether the stamp has a date.
    pub is_dated: bool,
    /// Whether it has parts of a second.
    pub is_fine: bool,
}

/// Makes a [`ProbeLog`] from replies that come in any order, run by run.
#[derive(Debug, Default)]
pub struct ProbeLogBuilder {
    replies: Vec<(u64, Option<Stamp>, Duration)>,
    sent: u64,
    unplaced: u64,
    interval: Option<Duration>,
}

impl ProbeLogBuilder {
    /// A run of `sent` probes, numbered from 0, with its replies: number, stamp of the reply's
    /// arrival, round trip. `unplaced` further ones were lost.
    ///
    /// A number at or above `sent`, or a second reply to one number, is left out.
    pub fn run(
        &mut self,
        replies: impl IntoIterator<Item = (u64, Option<Stamp>, Duration)>,
        sent: u64,
        unplaced: u64,
    ) {
        let begin = self.sent;
        let last = self.replies.last().map(|(number, ..)| *number);
        let mut added: Vec<_> = replies
            .into_iter()
            .filter(|(number, ..)| *number < sent)
            .filter_map(|(number, stamp, rtt)| Some((begin.checked_add(number)?, stamp, rtt)))
            // Only where the numbers of the runs before have reached the end of all numbers.
            .filter(|(number, ..)| last.is_none_or(|last| *number > last))
            .collect();
        added.sort_by_key(|(number, ..)| *number);
        added.dedup_by_key(|(number, ..)| *number);
        self.replies.append(&mut added);
        self.sent = begin.saturating_add(sent);
        self.unplaced = self.unplaced.saturating_add(unplaced);
    }

    /// The interval that the log states; that of the first run holds.
    pub fn interval(&mut self, interval: Duration) {
        self.interval.get_or_insert(interval);
    }

    /// The log; None where no probe was answered.
    #[must_use]
    pub fn finish(self) -> Option<ProbeLog> {
        if self.replies.is_empty() {
            return None;
        }
        let sending = Sending::of(&self.replies);
        let stated = sending.as_ref().and_then(Sending::interval);
        let interval = stated.or(self.interval);
        let fine = sending.as_ref().filter(|sending| sending.is_fine);
        let clock = match (&sending, interval) {
            (Some(sending), _) if sending.is_fine => Clock::Stamps,
            (_, Some(_)) => Clock::Statistics,
            _ => Clock::Unknown,
        };
        let first = sending.as_ref().map_or(0, |sending| sending.sent[0].1);
        let replies = self
            .replies
            .iter()
            .enumerate()
            .map(|(index, &(number, _, round_trip))| Reply {
                number,
                sent: fine.map(|sending| Duration::from_nanos(sending.sent[index].1 - first)),
                round_trip,
            })
            .collect();
        Some(ProbeLog {
            replies,
            sent: self.sent,
            unplaced: self.unplaced,
            clock,
            interval,
            began_unix_ns: sending
                .filter(|sending| sending.is_dated)
                .map(|sending| sending.sent[0].1),
        })
    }
}

/// When probes were sent, by the stamps of all replies.
struct Sending {
    /// Number and time in nanoseconds, both in order.
    sent: Vec<(u64, u64)>,
    is_fine: bool,
    is_dated: bool,
}

/// Stamps of a clock without a date that go back by more have passed midnight.
const HALF_A_DAY_NS: u64 = 43_200_000_000_000;
/// Two stamps that go back by more were made by a clock that was set.
const SETBACK_NS: u64 = 2_000_000_000;

impl Sending {
    /// Stamps of `ping -D` are times of arrival; others print when the probe was sent. Probes are
    /// sent at regular intervals, so the more regular interpretation is chosen. `None` if a reply
    /// has no stamp, or the clock was set back in between.
    fn of(replies: &[(u64, Option<Stamp>, Duration)]) -> Option<Self> {
        let arrivals = Self::stamped(replies, |rtt| rtt.as_nanos());
        let sendings = Self::stamped(replies, |_| 0);
        match (arrivals, sendings) {
            (Some(arrivals), Some(sendings)) => {
                let is_later = sendings.irregularity() < arrivals.irregularity();
                Some(if is_later { sendings } else { arrivals })
            }
            (arrivals, sendings) => arrivals.or(sendings),
        }
    }

    /// Mean distance of the times between probes from their median, in nanoseconds.
    fn irregularity(&self) -> u128 {
        let usual = self.interval().map_or(0, Duration::as_nanos);
        let off = |pair: &[(u64, u64)]| {
            let expected = usual.saturating_mul(pair[1].0 - pair[0].0);
            u128::from((pair[1].1 - pair[0].1).abs_diff(expected))
        };
        let count = self.sent.len().max(2) as u128 - 1;
        self.sent.windows(2).map(off).sum::<u128>() / count
    }

    /// With stamps of the time at which a probe was sent and `after` of its round trip.
    fn stamped(
        replies: &[(u64, Option<Stamp>, Duration)],
        after: impl Fn(Duration) -> u64,
    ) -> Option<Self> {
        let mut sent = Vec::with_capacity(replies.len());
        let (mut is_fine, mut is_dated, mut days) = (false, true, 0);
        let mut before = 0;
        for &(number, stamp, rtt) in replies {
            let stamp = stamp?;
            is_fine |= stamp.is_fine;
            is_dated &= stamp.is_dated;
            let at = |days: u64| {
                let midnight = days.checked_mul(2 * HALF_A_DAY_NS)?;
                let nanos = stamp.nanos.checked_add(midnight)?;
                Some(nanos.saturating_sub(after(rtt)))
            };
            let mut nanos = at(days)?;
            if !stamp.is_dated && nanos.saturating_add(HALF_A_DAY_NS) < before {
                days += 1;
                nanos = at(days)?;
            }
            if nanos.saturating_add(SETBACK_NS) < before {
                return None;
            }
            before = nanos.max(before);
            sent.push((number, before));
        }
        Some(Self {
            sent,
            is_fine,
            is_dated,
        })
    }

    /// The median time from one probe to the next where stamps are fine, else the mean over all.
    fn interval(&self) -> Option<Duration> {
        let (first, last) = (*self.sent.first()?, *self.sent.last()?);
        if !self.is_fine {
            let mean = (last.1 - first.1).checked_div(last.0 - first.0)?;
            return (mean > 0).then(|| Duration::from_nanos(mean));
        }
        let mut steps: Vec<u64> = self
            .sent
            .windows(2)
            .map(|pair| (pair[1].1 - pair[0].1) / (pair[1].0 - pair[0].0))
            .collect();
        steps.sort_unstable();
        let median = *steps.get(steps.len() / 2)?;
        (median > 0).then(|| Duration::from_nanos(median))
    }
}
