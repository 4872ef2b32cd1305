//! Segments, in the notation of tcpdump: `> P. 1:1001(1000) ack 1 win 257 <nop,nop,sack 1:2>`.

use airtcp_packet::{Ecn, FastOpen, Flags, SackBlock, SequenceNumber};

use super::{Reader, number};
use crate::ScriptError;
use crate::syntax::{Action, Marking, Options, Packet};

impl Reader<'_> {
    /// A segment that arrives (`<`) or leaves (`>`).
    pub(super) fn packet(&mut self) -> Result<Action, ScriptError> {
        let arrives = self.rest().starts_with('<');
        let line = self.take_line();
        let line = line.split("//").next().unwrap_or(line);
        let (head, options) = match line[1..].find('<') {
            Some(at) => {
                let (head, options) = line[1..].split_at(at);
                let close = options.rfind('>').ok_or_else(|| {
                    self.error("expected \">\" behind the options of the segment")
                })?;
                (head, Some(&options[1..close]))
            }
            None => (&line[1..], None),
        };
        let mut words = head.split_whitespace().peekable();
        for unsupported in ["icmp", "udp", "ipv4", "ipv6", "gre", "mpls"] {
            if head.contains(unsupported) {
                return Ok(Action::Unsupported(format!("{unsupported} packets")));
            }
        }
        let mut marking = None;
        if let Some(word) = words.next_if(|word| word.starts_with('[')) {
            marking = read_marking(word);
            match marking {
                None => return Ok(Action::Unsupported(format!("the field {word}"))),
                Some(Marking::Capable) if arrives => {
                    return Err(self.error(
                        "[ect01]: expected [ect0] or [ect1] on a segment that arrives, since only \
                         what leaves may be either",
                    ));
                }
                Some(_) => {}
            }
        }
        let flags = words.next().unwrap_or_default();
        let Some(flags) = read_flags(flags) else {
            if flags.chars().all(|c| "SFRPEWAU.01234567-".contains(c)) {
                return Ok(Action::Unsupported(format!(
                    "flags {flags:?} (URG or Accurate ECN)"
                )));
            }
            return Err(self.error(format!(
                "{flags:?}: expected flags, as in S, S., P., F., R, SEW, E. or ."
            )));
        };
        let mut packet = Packet {
            flags,
            marking,
            ..Packet::default()
        };
        let range = words.next().unwrap_or_default();
        let numbers = read_range(range).ok_or_else(|| {
            self.error(format!("{range:?}: expected a range, as in 1:1001(1000)"))
        })?;
        (packet.start, packet.payload) = numbers;
        while let Some(word) = words.next() {
            let value = words.next().and_then(number);
            match (word, value) {
                ("ack", Some(value)) => packet.ack = u32::try_from(value).ok(),
                ("win", Some(value)) => packet.window = u16::try_from(value).ok(),
                ("urg", _) => return Ok(Action::Unsupported("urgent data".to_owned())),
                _ => {
                    return Err(self.error(format!(
                        "{word:?}: expected \"ack\" or \"win\" and a number"
                    )));
                }
            }
        }
        if let Some(text) = options {
            match self.options(text)? {
                Ok(options) => packet.options = Some(options),
                Err(unsupported) => return Ok(Action::Unsupported(unsupported)),
            }
        }
        Ok(if arrives {
            Action::Arrives(packet)
        } else {
            Action::Leaves(packet)
        })
    }

    /// The options; as an inner error, one that the endpoint does not have.
    fn options(&self, text: &str) -> Result<Result<Options, String>, ScriptError> {
        let mut options = Options::default();
        for option in text.split(',') {
            let words: Vec<_> = option.split_whitespace().collect();
            match words.as_slice() {
                [] | ["nop" | "eol"] => {}
                ["..."] => options.any = true,
                ["sackOK"] => options.sack_permitted = true,
                ["mss", value] => options.mss = value.parse().ok(),
                ["wscale", value] => options.window_scale = value.parse().ok(),
                ["TS", "val", value, "ecr", echo] => {
                    options.timestamps = value.parse().ok().zip(echo.parse().ok());
                    if options.timestamps.is_none() {
                        return Err(self.error(format!("{option:?}: expected two whole numbers")));
                    }
                }
                ["sack", blocks @ ..] => {
                    for block in blocks {
                        let edges = block.split_once(':').and_then(|(start, end)| {
                            Some((start.parse().ok()?, end.parse().ok()?))
                        });
                        let (start, end) = edges.ok_or_else(|| {
                            self.error(format!("{block:?}: expected a block, as in 1001:2001"))
                        })?;
                        options.sack.push(SackBlock {
                            start: SequenceNumber(start),
                            end: SequenceNumber(end),
                        });
                    }
                }
                [kind @ ("FO" | "FOEXP"), cookie @ ..] => {
                    let option = read_fast_open(cookie).ok_or_else(|| {
                        self.error(format!(
                            "{option:?}: expected a cookie in hexadecimal digits, or none"
                        ))
                    })?;
                    // An option with a length that no cookie can have is ignored.
                    options.fast_open = option.map(|option| match *kind {
                        "FOEXP" => option.experimental(),
                        _ => option,
                    });
                }
                [name, ..] => return Ok(Err(format!("the option {name}"))),
            }
        }
        Ok(Ok(options))
    }
}

/// The cookie with this name in the public suite's `run_all.py`, for its key and addresses.
const SUITES_COOKIE: (&str, &str) = ("TFO_COOKIE", "3021b9d889017eeb");

/// A cookie, a cookie request, or an option with a length that no cookie has; `None` if it is not
/// hexadecimal.
fn read_fast_open(cookie: &[&str]) -> Option<Option<FastOpen>> {
    let digits = match cookie {
        [] => return Some(Some(FastOpen::REQUEST)),
        [name] if *name == SUITES_COOKIE.0 => SUITES_COOKIE.1,
        [digits] if digits.len().is_multiple_of(2) => digits,
        _ => return None,
    };
    let bytes: Option<Vec<u8>> = (0..digits.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(digits.get(at..at + 2)?, 16).ok())
        .collect();
    Some(FastOpen::cookie(&bytes?))
}

fn read_flags(text: &str) -> Option<Flags> {
    if text.is_empty() {
        return None;
    }
    text.chars().try_fold(Flags::default(), |flags, letter| {
        Some(match letter {
            'S' => flags | Flags::SYN,
            'F' => flags | Flags::FIN,
            'R' => flags | Flags::RST,
            'P' => flags | Flags::PSH,
            'E' => flags | Flags::ECE,
            'W' => flags | Flags::CWR,
            '.' => flags | Flags::ACK,
            '-' => flags,
            _ => return None,
        })
    })
}

/// The ECN field in brackets.
fn read_marking(text: &str) -> Option<Marking> {
    Some(match text {
        "[noecn]" => Marking::Is(Ecn::NotCapable),
        "[ect0]" => Marking::Is(Ecn::Capable0),
        "[ect1]" => Marking::Is(Ecn::Capable1),
        "[ce]" => Marking::Is(Ecn::CongestionExperienced),
        "[ect01]" => Marking::Capable,
        _ => return None,
    })
}

/// Start and length of `1:1001(1000)`.
fn read_range(text: &str) -> Option<(u32, u32)> {
    let (start, rest) = text.split_once(':')?;
    let (_, rest) = rest.split_once('(')?;
    Some((start.parse().ok()?, rest.strip_suffix(')')?.parse().ok()?))
}
