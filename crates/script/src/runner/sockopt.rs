//! setsockopt and getsockopt: values between a script's text and memory.

use super::Machine;
use super::made::{Difference, Made, Returned};
use super::stack::Stack;
use super::stop::{Stop, unsupported};
use crate::parser::number;
use crate::posix::constants::value;
use crate::posix::{Errno, number_of};
use crate::settings::{self, SettingOutcome};
use crate::syntax::Call;

/// The longest value in bytes that a length may ask for.
const LONGEST: usize = 4096;

impl Machine<'_> {
    pub(super) fn set_option(&self, call: &Call) -> Result<Made, Stop> {
        let arguments = self.arguments(call);
        let (level, option) = option(call, arguments.text(1), arguments.text(2))?;
        let (one, text) = (arguments.descriptor(0), arguments.text(3));
        if arguments.text(2) == "TCP_CONGESTION" && call.returns != Some(-1) {
            let mut config = airtcp_tcp::Config::default();
            let set = settings::congestion_control(text, &mut config);
            if let SettingOutcome::Unsupported(what) = set {
                return unsupported(what);
            }
        }
        let Some(mut bytes) = bytes(text) else {
            return unsupported(format!("setsockopt({}, {text})", arguments.text(2)));
        };
        // An integer is as long as C has it, whatever is written behind it.
        let length = number(arguments.text(4)).and_then(|length| usize::try_from(length).ok());
        if let Some(length) = length.filter(|&length| length <= LONGEST) {
            bytes.resize(length, 0);
        }
        Ok(Made::at_once(move |sockets| {
            let set = sockets.set_option(one, level, option, &bytes);
            set.map(|()| 0)
        }))
    }

    pub(super) fn get_option(&self, call: &Call) -> Result<Made, Stop> {
        let arguments = self.arguments(call);
        let (level, option) = option(call, arguments.text(1), arguments.text(2))?;
        let (one, name) = (arguments.descriptor(0), arguments.text(2).to_owned());
        let expected = arguments.text(3).trim_matches(['[', ']']).trim().to_owned();
        if !matches!(bytes(&expected), Some(bytes) if bytes.len() == size_of::<i32>())
            && Errno::of_name(&expected).is_none()
        {
            return unsupported(format!("getsockopt({name})"));
        }
        Ok(Made::at_once(move |sockets| {
            let bytes = sockets.option(one, level, option)?;
            let found = bytes.first_chunk().copied().map_or(0, i32::from_ne_bytes);
            let wanted = Errno::of_name(&expected).map(Errno::number);
            let wanted = wanted.map_or_else(|| number(&expected), |number| Some(number.into()));
            let is_error = name == "SO_ERROR";
            Ok(Returned {
                value: 0,
                difference: (wanted != Some(found.into())).then(|| Difference {
                    what: format!("getsockopt({name}) tells something else"),
                    expected: expected.clone(),
                    found: match Errno::of_number(found).filter(|_| is_error) {
                        Some(error) => error.name().to_owned(),
                        None => found.to_string(),
                    },
                }),
            })
        }))
    }
}

/// The numbers of an option and its level.
fn option(call: &Call, level: &str, name: &str) -> Result<(i32, i32), Stop> {
    let level = value(level).and_then(|level| i32::try_from(level).ok());
    let found = level.and_then(|level| Some((level, number_of::<Stack>(level, name)?)));
    match found {
        Some(found) => Ok(found),
        None => unsupported(format!("{}({name})", call.name)),
    }
}

/// A value's bytes: numbers as `int`s, in brackets, braces or bare; text in quotes, with `\x..`.
fn bytes(text: &str) -> Option<Vec<u8>> {
    let text = text.trim();
    if let Some(quoted) = text.strip_prefix('"') {
        return quoted_bytes(quoted.strip_suffix('"')?);
    }
    let inner = text.trim_matches(['[', ']', '{', '}']);
    let mut bytes = Vec::new();
    for field in inner.split(',') {
        // `{onoff=1, linger=0}`.
        let field = field.rsplit('=').next().unwrap_or(field).trim();
        let number = number(field).or_else(|| value(field))?;
        let number = i32::try_from(number).or_else(|_| u32::try_from(number).map(u32::cast_signed));
        bytes.extend(number.ok()?.to_ne_bytes());
    }
    Some(bytes)
}

fn quoted_bytes(text: &str) -> Option<Vec<u8>> {
    let mut parts = text.split("\\x");
    let mut bytes = parts.next()?.as_bytes().to_vec();
    for part in parts {
        bytes.push(u8::from_str_radix(part.get(..2)?, 16).ok()?);
        bytes.extend(part.get(2..)?.bytes());
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_has_bytes() {
        let one = 1_i32.to_ne_bytes();
        assert_eq!(bytes("[1]").as_deref(), Some(&one[..]));
        assert_eq!(bytes("1").as_deref(), Some(&one[..]));
        let both = [one, 0_i32.to_ne_bytes()].concat();
        assert_eq!(bytes("{onoff=1, linger=0}"), Some(both.clone()));
        assert_eq!(bytes("{1, 0}"), Some(both));
        assert_eq!(bytes("\"cubic\"").as_deref(), Some(&b"cubic"[..]));
        assert_eq!(bytes("\"\\xa1\\x0b\"").as_deref(), Some(&[0xa1, 0x0b][..]));
        assert_eq!(bytes("..."), None);
        assert_eq!(bytes("\"\\xag\""), None);
    }
}
