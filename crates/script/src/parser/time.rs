//! Times: `0.1`, `+.1`, `+.1~+.2`, `*`, and `+0...0.2` for calls that block.

use airtcp_units::Duration;

use super::Reader;
use crate::ScriptError;
use crate::syntax::Time;

impl Reader<'_> {
    /// The time of an event, and the return time of a blocking call.
    pub(super) fn time(&mut self) -> Result<(Time, Option<Duration>), ScriptError> {
        if self.rest().starts_with('*') {
            self.at += 1;
            return Ok((Time::Any, None));
        }
        let (start, relative) = self.instant()?;
        let mark = self.at;
        self.skip_blanks();
        if self.rest().starts_with("...") {
            self.at += 3;
            self.skip_blanks();
            let (end, _) = self.instant()?;
            return Ok((single(start, relative), Some(end)));
        }
        if self.rest().starts_with('~') {
            self.at += 1;
            self.skip_blanks();
            let (end, _) = self.instant()?;
            let range = if relative {
                Time::RelativeRange(start, end)
            } else {
                Time::AbsoluteRange(start, end)
            };
            return Ok((range, None));
        }
        self.at = mark;
        Ok((single(start, relative), None))
    }

    fn skip_blanks(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start_matches([' ', '\t']).len();
    }

    fn instant(&mut self) -> Result<(Duration, bool), ScriptError> {
        let rest = self.rest();
        let relative = rest.starts_with('+');
        let digits = &rest[usize::from(relative)..];
        let mut length = digits
            .find(|c: char| !(c.is_ascii_digit() || c == '.'))
            .unwrap_or(digits.len());
        // `0...0.1`: the number ends before the dots.
        if let Some(dots) = digits[..length].find("...") {
            length = dots;
        }
        let seconds: Option<f64> = digits[..length].parse().ok();
        let Some(time) = seconds.and_then(Duration::from_secs_f64) else {
            let found: String = rest
                .chars()
                .take_while(|c| !c.is_whitespace())
                .take(20)
                .collect();
            return Err(self.error(format!(
                "{found:?}: expected a time in seconds: 0.1, +.1, +.1~+.2 or *"
            )));
        };
        self.at += usize::from(relative) + length;
        Ok((time, relative))
    }
}

const fn single(time: Duration, relative: bool) -> Time {
    if relative {
        Time::Relative(time)
    } else {
        Time::Absolute(time)
    }
}
