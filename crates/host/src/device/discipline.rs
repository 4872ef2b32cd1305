//! The kernel's queueing disciplines, in the syntax of tc(8), attached to a device.

use std::fmt;

use super::tcmsg::{ROOT, attach};
use crate::error::{Error, Result};
use crate::namespace::Namespace;
use crate::netlink::frame::append_attribute;
use airtcp_units::BitRate;

/// The form of an option's value.
#[derive(Clone, Copy)]
enum Form {
    /// A whole number.
    Count,
    /// A time with its unit: `5ms`. The kernel takes microseconds.
    Time,
    /// No value: the word itself means this number.
    Word(u32),
    /// A rate with its unit: `20Mbit`. The kernel takes bytes a second, in 64 bits.
    Rate,
    /// The word itself means no rate.
    NoRate,
}

/// An option: its word, its number among the kind's attributes, and its form.
type Choice = (&'static str, u16, Form);

/// A kind with its supported options (include/uapi/linux/pkt_sched.h).
struct Kind {
    name: &'static str,
    options: &'static [Choice],
    /// The attribute for a rate in bytes a second, for a kind that shapes itself.
    rate: Option<u16>,
}

const KINDS: [Kind; 9] = [
    // Their one option is a structure, not an attribute: see `written`.
    Kind {
        name: "pfifo",
        options: &[("limit", 0, Form::Count)],
        rate: None,
    },
    Kind {
        name: "bfifo",
        options: &[("limit", 0, Form::Count)],
        rate: None,
    },
    Kind {
        name: "fq",
        options: &[
            ("limit", 1, Form::Count),
            ("flow_limit", 2, Form::Count),
            ("quantum", 3, Form::Count),
        ],
        rate: None,
    },
    Kind {
        name: "codel",
        options: &[
            ("target", 1, Form::Time),
            ("limit", 2, Form::Count),
            ("interval", 3, Form::Time),
            ("ecn", 4, Form::Word(1)),
            ("noecn", 4, Form::Word(0)),
        ],
        rate: None,
    },
    Kind {
        name: "fq_codel",
        options: &[
            ("target", 1, Form::Time),
            ("limit", 2, Form::Count),
            ("interval", 3, Form::Time),
            ("ecn", 4, Form::Word(1)),
            ("noecn", 4, Form::Word(0)),
            ("flows", 5, Form::Count),
            ("quantum", 6, Form::Count),
        ],
        rate: None,
    },
    Kind {
        name: "pie",
        options: &[
            ("target", 1, Form::Time),
            ("limit", 2, Form::Count),
            ("tupdate", 3, Form::Time),
            ("ecn", 6, Form::Word(1)),
        ],
        rate: None,
    },
    Kind {
        name: "fq_pie",
        options: &[
            ("limit", 1, Form::Count),
            ("flows", 2, Form::Count),
            ("target", 3, Form::Time),
            ("tupdate", 4, Form::Time),
            ("quantum", 7, Form::Count),
            ("ecn", 10, Form::Word(1)),
        ],
        rate: None,
    },
    Kind {
        name: "dualpi2",
        options: &[
            ("limit", 1, Form::Count),
            ("target", 3, Form::Time),
            ("tupdate", 4, Form::Time),
        ],
        rate: None,
    },
    Kind {
        name: "cake",
        options: &[
            // The numbers of `cake`'s modes; no rate is a rate of 0.
            ("bandwidth", 2, Form::Rate),
            ("unlimited", 2, Form::NoRate),
            ("diffserv3", 3, Form::Word(0)),
            ("diffserv4", 3, Form::Word(1)),
            ("besteffort", 3, Form::Word(3)),
            ("rtt", 7, Form::Time),
            ("ack-filter", 16, Form::Word(1)),
        ],
        rate: Some(2),
    },
];

/// TCA_TBF_PARMS and TCA_TBF_BURST.
const TBF_PARAMETERS: u16 = 1;
const TBF_BURST: u16 = 6;
/// TC_LINKLAYER_ETHERNET: the rate is counted in bytes as they are.
const ETHERNET: u8 = 1;
/// Handles of qdiscs before the discipline: a router, and a token bucket. Each has one class.
const ROUTER: u32 = 1 << 16;
const BUCKET: u32 = 2 << 16;
/// The number of that class below its qdisc's handle.
const CLASS: u32 = 1;
/// No handle: the kernel chooses one.
const UNSPECIFIED: u32 = 0;
/// Maximum number of packets that the router holds for its microsecond.
const ROUTER_PACKETS: u32 = 1 << 20;
/// A microsecond in the kernel's ticks of 64 ns (PSCHED_SHIFT).
const MICROSECOND_TICKS: u32 = 16;

/// A discipline with its options.
#[derive(Clone, PartialEq, Eq)]
pub struct Discipline {
    words: String,
    kind: &'static str,
    rate: Option<u16>,
    /// Attribute and value, in the order given.
    options: Vec<(u16, u64)>,
}

impl fmt::Debug for Discipline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Discipline").field(&self.words).finish()
    }
}

impl fmt::Display for Discipline {
    /// The discipline in the syntax of tc(8).
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.words)
    }
}

impl Discipline {
    /// Parses a discipline in the syntax of tc-qdisc(8) after `root`: `fq_codel limit 1000 target
    /// 5ms`.
    ///
    /// # Errors
    ///
    /// An unsupported kind or option, or a wrong value; lists the supported ones.
    pub fn parse(text: &str) -> Result<Self> {
        let mut words = text.split_whitespace();
        let name = words.next().unwrap_or_default();
        let kind = KINDS.iter().find(|kind| kind.name == name).ok_or_else(|| {
            let known: Vec<_> = KINDS.iter().map(|kind| kind.name).collect();
            Error::new(format!(
                "queueing discipline {name:?}: expected one of {}, with options as tc(8) \
                     writes them",
                known.join(", ")
            ))
        })?;
        let mut options = Vec::new();
        while let Some(word) = words.next() {
            let &(_, attribute, form) = kind
                .options
                .iter()
                .find(|(known, ..)| *known == word)
                .ok_or_else(|| {
                    let known: Vec<_> = kind.options.iter().map(|(known, ..)| *known).collect();
                    Error::new(format!(
                        "queueing discipline {name}: option {word:?}: expected one of {}",
                        known.join(", ")
                    ))
                })?;
            let value = match form {
                Form::Word(number) => number.into(),
                Form::NoRate => 0,
                Form::Rate => parsed(name, word, words.next(), bytes_a_second)?,
                Form::Count => parsed(name, word, words.next(), |text| {
                    text.parse::<u32>().ok().map(u64::from)
                })?,
                Form::Time => parsed(name, word, words.next(), microseconds)?,
            };
            options.push((attribute, value));
        }
        Ok(Self {
            words: text.split_whitespace().collect::<Vec<_>>().join(" "),
            kind: kind.name,
            rate: kind.rate,
            options,
        })
    }

    /// Attaches the discipline to a device of the calling thread's namespace.
    ///
    /// # Errors
    ///
    /// This kernel lacks it, or refuses an option.
    pub fn put(&self, device: &str) -> Result<()> {
        let options = self.written(None);
        attach(device, ROOT, UNSPECIFIED, self.kind, &options)
    }

    /// Attaches the discipline to a device of the calling thread's namespace as on a router before
    /// a link of `rate`, counted on whole IP packets of up to `mtu` bytes.
    ///
    /// A host holds back packets that would wait in its qdisc (TCP small queues); a router's
    /// packets have no owning socket. So netem comes first, which delays packets by a microsecond
    /// and orphans them. A kind that does not shape is attached below a token bucket (tbf) of one
    /// packet.
    ///
    /// # Errors
    ///
    /// This kernel lacks one of the three, or refuses an option.
    pub fn put_with_rate(&self, device: &str, rate: BitRate, mtu: u16) -> Result<()> {
        let bytes_a_second = rate.as_bps() / 8;
        attach(device, ROOT, ROUTER, "netem", &router())?;
        let (parent, options) = if self.rate.is_some() {
            (ROUTER | CLASS, self.written(Some(bytes_a_second)))
        } else {
            let bucket = token_bucket(bytes_a_second, mtu);
            attach(device, ROUTER | CLASS, BUCKET, "tbf", &bucket)?;
            (BUCKET | CLASS, self.written(None))
        };
        attach(device, parent, UNSPECIFIED, self.kind, &options)
    }

    /// Its kind, as tc(8) names it.
    pub const fn kind(&self) -> &'static str {
        self.kind
    }

    /// Checks that this kernel supports it with these options: it is tried in a separate namespace,
    /// since no file of the kernel lists built-in disciplines.
    ///
    /// # Errors
    ///
    /// It does not, or a namespace cannot be created.
    pub fn check_available(&self) -> Result<()> {
        Namespace::new()?.enter(|| self.put("lo"))
    }

    /// The content of TCA_OPTIONS without a rate from elsewhere.
    pub(super) fn in_netlink(&self) -> Vec<u8> {
        self.written(None)
    }

    /// The content of TCA_OPTIONS.
    fn written(&self, bytes_a_second: Option<u64>) -> Vec<u8> {
        if matches!(self.kind, "pfifo" | "bfifo") {
            // struct tc_fifo_qopt
            let limit = self.options.last().map(|&(_, limit)| limit as u32);
            return limit.map_or_else(Vec::new, |limit| limit.to_ne_bytes().to_vec());
        }
        let mut written = Vec::new();
        for &(attribute, value) in &self.options {
            if Some(attribute) == self.rate {
                append_attribute(&mut written, attribute, &value.to_ne_bytes());
            } else {
                append_attribute(&mut written, attribute, &(value as u32).to_ne_bytes());
            }
        }
        if let (Some(attribute), Some(rate)) = (self.rate, bytes_a_second) {
            append_attribute(&mut written, attribute, &rate.to_ne_bytes());
        }
        written
    }
}

/// The options of a netem that delays by a microsecond: struct tc_netem_qopt with latency, limit,
/// loss, gap, duplicate and jitter.
fn router() -> Vec<u8> {
    let fields = [MICROSECOND_TICKS, ROUTER_PACKETS, 0, 0, 0, 0];
    fields
        .iter()
        .flat_map(|field| field.to_ne_bytes())
        .collect()
}

/// The options of a token bucket that releases packets of up to `mtu` bytes one by one.
fn token_bucket(bytes_a_second: u64, mtu: u16) -> Vec<u8> {
    // struct tc_ratespec: cell_log, linklayer, overhead, cell_align, mpu, rate.
    let rate = u32::try_from(bytes_a_second).unwrap_or(u32::MAX);
    let mut parameters = vec![0, ETHERNET, 0, 0, 0, 0, 0, 0];
    parameters.extend(rate.to_ne_bytes());
    // No peak rate; struct tc_tbf_qopt's limit, buffer and mtu: the inner qdisc queues.
    parameters.extend([0; 12 + 3 * 4]);
    let mut written = Vec::new();
    append_attribute(&mut written, TBF_PARAMETERS, &parameters);
    append_attribute(&mut written, TBF_BURST, &u32::from(mtu).to_ne_bytes());
    written
}

fn parsed(
    kind: &str,
    word: &str,
    text: Option<&str>,
    number: impl Fn(&str) -> Option<u64>,
) -> Result<u64> {
    let text = text.unwrap_or_default();
    number(text).ok_or_else(|| {
        Error::new(format!(
            "queueing discipline {kind}: {word} {text:?}: expected a whole number, with its unit \
             for a time or a rate, such as 5ms and 20Mbit"
        ))
    })
}

/// A time in the syntax of tc(8), in microseconds.
fn microseconds(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(|character: char| !character.is_ascii_digit());
    let scale = match &text[digits.len()..] {
        "us" => 1,
        "ms" => 1000,
        "s" => 1_000_000,
        _ => return None,
    };
    let number = digits.parse::<u32>().ok()?.checked_mul(scale)?;
    Some(number.into())
}

/// A rate in the syntax of tc(8), in bytes a second: `20Mbit`. Units are case-insensitive.
fn bytes_a_second(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(|character: char| !character.is_ascii_digit());
    let scale = match text[digits.len()..].to_ascii_lowercase().as_str() {
        "bit" => 1,
        "kbit" => 1000,
        "mbit" => 1_000_000,
        "gbit" => 1_000_000_000,
        _ => return None,
    };
    let bits = digits.parse::<u64>().ok()?.checked_mul(scale)?;
    (bits >= 8).then_some(bits / 8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_in_the_kernels_form() {
        let fair = Discipline::parse("fq_codel  limit 100 target 5ms noecn").unwrap();
        assert_eq!(fair.to_string(), "fq_codel limit 100 target 5ms noecn");
        assert_eq!(fair.options, [(2, 100), (1, 5000), (4, 0)]);
        let written = fair.written(None);
        assert_eq!(written.len(), 3 * 8);
        assert_eq!(written[..4], [8, 0, 2, 0]);
        let short = Discipline::parse("pfifo limit 30").unwrap();
        assert_eq!(short.written(None), 30_u32.to_ne_bytes());
        let cake = Discipline::parse("cake rtt 50ms").unwrap();
        assert_eq!(cake.written(Some(125_000)).len(), 8 + 12);
        let shaped = Discipline::parse("cake bandwidth 20Mbit").unwrap();
        assert_eq!(shaped.written(None)[4..], 2_500_000_u64.to_ne_bytes());
        // Six attributes: two of eight bytes, the structure's 36 with their header.
        assert_eq!(token_bucket(125_000, 1500).len(), 40 + 8);
    }

    #[test]
    fn what_is_not_known_is_said_with_what_is() {
        for (text, expected) in [
            ("htb rate 1mbit", "fq_codel"),
            ("codel bandwidth 1mbit", "interval"),
            ("cake bandwidth 20", "20Mbit"),
            ("codel target 5", "5ms"),
            ("pfifo limit", "whole number"),
            ("", "cake"),
        ] {
            let error = Discipline::parse(text).unwrap_err().to_string();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }
}
