//! The live line on the terminal, and the summary at the end.

use std::io::{IsTerminal, Write, stderr};

use airtcp_host::lateness::{TOLERATED, TOLERATED_SHARE};
use airtcp_units::{Duration, Instant};

use crate::link::Link;

/// Interval between updates of the line.
const EVERY: Duration = Duration::from_secs(1);

/// The display while packets pass.
#[derive(Debug)]
pub struct Live {
    /// Whether there is no line: the output is not a terminal, or no line is wanted.
    silent: bool,
    quiet: bool,
    /// The names of the command's end and the other.
    ends: [&'static str; 2],
    /// Times of the next update and of the last.
    next: Instant,
    written: Instant,
    last: LastUpdate,
    shown: bool,
}

/// Traffic at the last update.
#[derive(Clone, Copy, Debug, Default)]
struct LastUpdate {
    bytes: [u64; 2],
    taken: u64,
    lost: u64,
}

impl Live {
    /// Creates a display; it shows nothing if `quiet`, and no line if standard error is not a
    /// terminal.
    pub fn new(quiet: bool, ends: [&'static str; 2]) -> Self {
        Self {
            ends,
            silent: quiet || !stderr().is_terminal(),
            quiet,
            next: Instant::ZERO + EVERY,
            written: Instant::ZERO,
            last: LastUpdate::default(),
            shown: false,
        }
    }

    /// Updates the line when it is due: the traffic since the last update, and the lateness since
    /// the start. Always continues.
    pub fn show(&mut self, link: &mut Link) -> bool {
        let now = link.now();
        if self.silent || now < self.next {
            return true;
        }
        let passed = link.passed();
        let seen = LastUpdate {
            bytes: passed.delivered_bytes,
            taken: passed.taken.iter().sum(),
            lost: passed.lost + passed.dropped,
        };
        // If the terminal is gone, so is the line; the link continues.
        let _ = write!(
            stderr(),
            "\r\x1b[K{}, {} queued, {}",
            line(self.ends, self.last, seen, now - self.written),
            link.queued(),
            link.lateness(),
        );
        self.last = seen;
        self.written = now;
        self.next = now + EVERY;
        self.shown = true;
        true
    }

    /// Clears the line.
    pub fn end(&mut self) {
        if self.shown {
            let _ = write!(stderr(), "\r\x1b[K");
            self.shown = false;
        }
    }

    /// Prints the traffic, its lateness, and whether that can be trusted.
    pub fn summary(&self, link: &Link) {
        if self.quiet {
            return;
        }
        let (passed, lateness) = (link.passed(), link.lateness());
        let mut out = stderr();
        let _ = writeln!(
            out,
            "airtcp: up ({} to {}) {} of {} packets, down {} of {}; {} lost, {} dropped by queues; {} \
             connections; {lateness}",
            self.ends[0],
            self.ends[1],
            passed.delivered[0],
            passed.taken[0],
            passed.delivered[1],
            passed.taken[1],
            passed.lost,
            passed.dropped,
            link.connections(),
        );
        if passed.outlived > 0 {
            let _ = writeln!(
                out,
                "airtcp: {} packets were lost because more were under way than the emulator keeps",
                passed.outlived
            );
        }
        if !lateness.is_tolerable() {
            let _ = writeln!(
                out,
                "airtcp: this machine did not keep up: {:.2} % of the packets were more than {:.0} \
                 ms late ({:.1} % is tolerable, and always one packet). What was measured does not \
                 count; run fewer other programs, or a slower link.",
                lateness.late_share() * 100.0,
                TOLERATED.as_secs_f64() * 1e3,
                TOLERATED_SHARE * 100.0
            );
        }
    }
}

/// Rates, and the share of packets lost or dropped, between two updates.
fn line(ends: [&str; 2], before: LastUpdate, now: LastUpdate, between: Duration) -> String {
    let [command, other] = ends;
    let seconds = between.as_secs_f64().max(1e-9);
    let rate = |way: usize| (now.bytes[way] - before.bytes[way]) as f64 * 8e-6 / seconds;
    let (taken, lost) = (now.taken - before.taken, now.lost - before.lost);
    let share = if taken == 0 {
        0.0
    } else {
        100.0 * lost as f64 / taken as f64
    };
    format!(
        "{command} to {other} {:.2} Mbit/s, {other} to {command} {:.2} Mbit/s, {share:.1} % lost",
        rate(0),
        rate(1)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_tells_what_passed_since_the_last_one() {
        let before = LastUpdate {
            bytes: [1_000, 0],
            taken: 10,
            lost: 0,
        };
        let now = LastUpdate {
            bytes: [251_000, 125_000],
            taken: 210,
            lost: 5,
        };
        assert_eq!(
            line(["mobile", "server"], before, now, Duration::from_secs(2)),
            "mobile to server 1.00 Mbit/s, server to mobile 0.50 Mbit/s, 2.5 % lost"
        );
        assert_eq!(
            line(["sender", "receiver"], now, now, Duration::from_secs(1)),
            "sender to receiver 0.00 Mbit/s, receiver to sender 0.00 Mbit/s, 0.0 % lost"
        );
    }
}
