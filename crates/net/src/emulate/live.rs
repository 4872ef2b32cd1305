//! The live line on the terminal, and the summary at the end.

use std::io::{IsTerminal, Write, stderr};

use airtcp_units::{Duration, Instant};

use super::drive::{Link, Passed};
use super::lateness::{Lateness, TOLERATED, TOLERATED_SHARE};

/// The line is written this often.
const EVERY: Duration = Duration::from_secs(1);

/// What is shown while packets pass.
#[derive(Debug)]
pub struct Live {
    /// No line: the output is no terminal, or none is wanted.
    silent: bool,
    quiet: bool,
    next: Instant,
    last_bytes: [u64; 2],
    shown: bool,
}

impl Live {
    /// Shows nothing if `quiet`, and no line where standard error is no terminal.
    pub fn new(quiet: bool) -> Self {
        Self {
            silent: quiet || !stderr().is_terminal(),
            quiet,
            next: Instant::ZERO + EVERY,
            last_bytes: [0; 2],
            shown: false,
        }
    }

    /// Writes the line when its time has come. Always goes on.
    pub fn show(&mut self, now: Instant, passed: &Passed, lateness: &Lateness) -> bool {
        if self.silent || now < self.next {
            return true;
        }
        let bytes = passed.delivered_bytes;
        let rate = |way: usize| (bytes[way] - self.last_bytes[way]) as f64 * 8e-6;
        // A terminal that is gone has no line; the link goes on.
        let _ = write!(
            stderr(),
            "\r\x1b[Kup {:.2} Mbit/s, down {:.2} Mbit/s, {lateness}",
            rate(0),
            rate(1),
        );
        self.last_bytes = bytes;
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

    /// Says what passed, how late, and whether that can be trusted.
    pub fn summary(&self, link: &Link) {
        if self.quiet {
            return;
        }
        let (passed, lateness) = link.passed();
        let mut out = stderr();
        let _ = writeln!(
            out,
            "airtcp: up {} of {} packets, down {} of {}; {} connections; {lateness}",
            passed.delivered[0],
            passed.taken[0],
            passed.delivered[1],
            passed.taken[1],
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
                 ms late ({:.1} % is tolerable). What was measured does not count; run less beside \
                 it, or a slower link.",
                lateness.late_share() * 100.0,
                TOLERATED.as_secs_f64() * 1e3,
                TOLERATED_SHARE * 100.0
            );
        }
    }
}
