//! From text to a [`Script`].

mod packet;
mod time;

use std::cell::Cell;

use crate::ScriptError;
use crate::syntax::{Action, Call, Event, Script, Time};

/// The text and the read position.
struct Reader<'a> {
    name: &'a str,
    text: &'a str,
    at: usize,
    /// The last position looked up and its line; the next lookup counts from there.
    counted: Cell<(usize, usize)>,
}

/// Reads a script. `name` is for messages.
///
/// # Errors
/// The first invalid line, with the expected syntax.
pub fn parse(name: &str, text: &str) -> Result<Script, ScriptError> {
    let mut reader = Reader {
        name,
        text,
        at: 0,
        counted: Cell::new((0, 1)),
    };
    let mut script = Script {
        name: name.to_owned(),
        options: Vec::new(),
        events: Vec::new(),
    };
    loop {
        reader.skip_space();
        let line = reader.line();
        let rest = reader.rest();
        if rest.is_empty() && script.events.is_empty() {
            return Err(reader.error("the script has no event; expected at least one"));
        }
        if rest.is_empty() {
            return Ok(script);
        }
        if rest.starts_with("--") {
            let text = reader.take_line();
            let text = text.split("//").next().unwrap_or(text);
            let (key, value) = text[2..].split_once('=').unwrap_or((&text[2..], ""));
            script
                .options
                .push((key.trim().to_owned(), value.trim().to_owned(), line));
            continue;
        }
        // A command may have no time, before the first event.
        let (time, ends) = if rest.starts_with('`') {
            (Time::Relative(airtcp_units::Duration::ZERO), None)
        } else {
            reader.time()?
        };
        reader.skip_space();
        let action = reader.action()?;
        script.events.push(Event {
            line,
            time,
            ends,
            action,
        });
    }
}

impl<'a> Reader<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn line(&self) -> usize {
        let (from, line) = self.counted.get();
        let line = line + self.text[from..self.at].matches('\n').count();
        self.counted.set((self.at, line));
        line
    }

    fn error(&self, message: impl Into<String>) -> ScriptError {
        ScriptError {
            name: self.name.to_owned(),
            line: self.line(),
            message: message.into(),
        }
    }

    /// Skips blanks, line ends and comments of all three kinds.
    fn skip_space(&mut self) {
        loop {
            let rest = self.rest();
            let trimmed = rest.trim_start();
            self.at += rest.len() - trimmed.len();
            if trimmed.starts_with("//") || trimmed.starts_with('#') {
                self.take_line();
            } else if trimmed.starts_with("/*") {
                let end = trimmed.find("*/").map_or(trimmed.len(), |end| end + 2);
                self.at += end;
            } else {
                return;
            }
        }
    }

    /// The rest of the line.
    fn take_line(&mut self) -> &'a str {
        let rest = self.rest();
        let end = rest.find('\n').unwrap_or(rest.len());
        self.at += end;
        rest[..end].trim_end()
    }

    /// The text before `close`, which is consumed too.
    fn until(&mut self, open: usize, close: &str) -> Result<&'a str, ScriptError> {
        let rest = &self.rest()[open..];
        let Some(end) = rest.find(close) else {
            return Err(self.error(format!("expected {close:?} before the end of the script")));
        };
        self.at += open + end + close.len();
        Ok(&rest[..end])
    }

    fn action(&mut self) -> Result<Action, ScriptError> {
        let rest = self.rest();
        if rest.starts_with('`') {
            return Ok(Action::Command(self.until(1, "`")?.to_owned()));
        }
        if rest.starts_with("%{") {
            return Ok(Action::Code(self.until(2, "}%")?.to_owned()));
        }
        if rest.starts_with(['<', '>']) {
            return self.packet();
        }
        self.call().map(Action::Call)
    }

    fn call(&mut self) -> Result<Call, ScriptError> {
        let rest = self.rest();
        let length = rest
            .find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
            .unwrap_or(rest.len());
        let (name, behind) = rest.split_at(length);
        if name.is_empty() || !behind.trim_start().starts_with('(') {
            let found: String = rest.chars().take(30).take_while(|&c| c != '\n').collect();
            return Err(self.error(format!(
                "{found:?}: expected a packet (\"<\" or \">\"), a call, a `command` or %{{ code }}%"
            )));
        }
        self.at += length;
        self.skip_space();
        let arguments = self.arguments()?;
        self.skip_space();
        let mut call = Call {
            name: name.to_owned(),
            arguments,
            returns: None,
            error: None,
        };
        if !self.rest().starts_with('=') {
            return Ok(call);
        }
        self.at += 1;
        let result = self.take_line().trim();
        // Its text may follow the error's name without a space.
        let is_end = |c: char| c.is_whitespace() || c == '(';
        let mut words = result.split(is_end).filter(|word| !word.is_empty());
        call.returns = words.next().and_then(number);
        call.error = words
            .next()
            .filter(|word| word.starts_with('E') && call.returns == Some(-1))
            .map(str::to_owned);
        Ok(call)
    }

    /// Arguments in parentheses, split at commas outside brackets.
    fn arguments(&mut self) -> Result<Vec<String>, ScriptError> {
        let rest = self.rest();
        let (mut depth, mut quoted, mut start) = (0_u32, false, 1);
        let mut arguments = Vec::new();
        for (at, character) in rest.char_indices() {
            match character {
                '"' => quoted = !quoted,
                _ if quoted => {}
                '(' | '[' | '{' => depth += 1,
                ')' | ']' | '}' => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        let last = rest[start..at].trim();
                        if !last.is_empty() || !arguments.is_empty() {
                            arguments.push(last.to_owned());
                        }
                        self.at += at + 1;
                        return Ok(arguments);
                    }
                }
                ',' if depth == 1 => {
                    arguments.push(rest[start..at].trim().to_owned());
                    start = at + 1;
                }
                _ => {}
            }
        }
        Err(self.error("expected \")\" before the end of the script"))
    }
}

/// A whole number, decimal or hexadecimal.
pub fn number(text: &str) -> Option<i64> {
    match text.strip_prefix("0x") {
        Some(digits) => i64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

#[cfg(test)]
mod tests;
