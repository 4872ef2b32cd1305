//! Deployment of a remedy on a real system, as data.
//!
//! A deployment is a choice of *ways*; a way is one or more typed *steps* at one end of the path.
//! Code that applies a remedy (a test in a namespace, a change of the machine) and code that prints
//! it reads the same steps, so that what is printed is what was tried.

use serde::Serialize;

use crate::{Quantity, Values};

pub use object_file::ObjectFile;

pub(crate) mod cake;
pub(crate) mod endpoints;
mod object_file;
mod text;

#[cfg(test)]
mod tests;

/// Deployment of a remedy on a real system: one of `ways`, the preferred one first.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Deployment {
    /// The ways to deploy it, the best first. Empty if no steps are known; `note` explains why.
    pub ways: &'static [Way],
    /// Additional notes for a user: why there is no way, what the system does by itself, or which
    /// alternatives exist. A sentence or several, or empty.
    pub note: &'static str,
    /// The airtcp program that implements it between the endpoints, on the access point or a router
    /// before it, with its first arguments: `gateway snoop`. `None` if there is no such command.
    pub agent: Option<&'static str>,
}

/// One way to have a remedy: all its steps are needed.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Way {
    /// Where on the path the steps are taken.
    pub at: At,
    /// The steps, in order. Empty if the system does it by default.
    pub steps: &'static [Step],
    /// The Linux version from which it works, if it is younger than version 5.4.
    pub since: Option<&'static str>,
    /// The nearest thing to the remedy that it is, where it is not the remedy itself.
    pub instead: Option<&'static str>,
    /// The kernels that have it, where no released Linux does.
    pub only_in: Option<&'static str>,
    /// The module with a version that identifies such a kernel.
    pub module: Option<Module>,
    /// The parameter value required for this way to have the remedy; `None` if any will do.
    pub when: Option<When>,
}

/// A value that a parameter must have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct When {
    /// The parameter, a whole number: `segments`.
    pub parameter: &'static str,
    /// Its value.
    pub is: u64,
}

/// A kernel module of a certain version, which it has in `/sys/module/NAME/version` once it is
/// loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Module {
    /// Its name: `tcp_bbr`.
    pub name: &'static str,
    /// Its version, as the kernel reports it: `3`.
    pub version: &'static str,
}

/// Where on the path a step is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum At {
    /// The host that sends the data.
    Sender,
    /// The host that receives the data.
    Receiver,
    /// Both hosts.
    BothEnds,
    /// The machine with the device that leads onto the link.
    BeforeLink,
    /// The mobile's radio.
    Mobile,
}

/// A single change of a system.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Step {
    /// A kernel setting of a network namespace, as sysctl(8) names it.
    Sysctl {
        /// The key, with dots: `net.ipv4.tcp_sack`.
        key: &'static str,
        /// Its value.
        value: Setting,
    },
    /// An attribute of a route, as ip-route(8) names it.
    RouteAttribute {
        /// The attribute: `initcwnd`.
        name: &'static str,
        /// Its value.
        value: Setting,
    },
    /// The congestion control of new connections, built into the kernel or as the module
    /// `tcp_NAME`.
    CongestionControl {
        /// The name under which the kernel knows it.
        name: &'static str,
    },
    /// A congestion control for the kernel's BPF: one that airtcp brings, or the user's own.
    BpfCongestionControl {
        /// The program and the name under which the kernel knows it while it is registered.
        name: &'static str,
        /// The user's object with it; `None` for a program of airtcp's.
        object: Option<ObjectFile>,
        /// The program's constant that takes the value; empty without any, or if the value
        /// names them.
        constant: &'static str,
        /// A whole number, all of the program's constants, or nothing.
        value: Setting,
    },
    /// A queueing discipline on the device that leads onto the link, as tc(8) names it.
    Qdisc {
        /// The kind and its options that do not depend on a parameter: `pfifo limit`.
        words: &'static str,
        /// The value that ends the command.
        value: Setting,
    },
    /// An option that the program sets on its socket.
    SocketOption {
        /// The option: `SO_MAX_PACING_RATE`.
        name: &'static str,
        /// Its value.
        value: Setting,
    },
    /// A parameter of a kernel module.
    ModuleParameter {
        /// The module: `tcp_cubic`.
        module: &'static str,
        /// The parameter: `hystart`.
        name: &'static str,
        /// Its value.
        value: Setting,
    },
    /// A setting of one radio in mac80211's debugging files (Linux, net/mac80211/debugfs.c), below
    /// `/sys/kernel/debug/ieee80211/PHY`.
    RadioFile {
        /// The file: `aql_txq_limit`.
        name: &'static str,
        /// The value written to it.
        value: Setting,
    },
    /// The transmissions of a frame by a radio, as `iw phy PHY set retry` of iw(8) limits them.
    RetryLimit {
        /// The limit, of short and of long frames.
        value: Setting,
    },
}

/// The value of a step: fixed, or one of the remedy's parameters in the words of the system.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "from", content = "value")]
pub enum Setting {
    /// Independent of the parameters.
    Fixed(&'static str),
    /// A parameter that is a number, as it is.
    Parameter(&'static str),
    /// A parameter that is a real number, in thousandths, rounded.
    Thousandths(&'static str),
    /// A parameter that is a time, in milliseconds with their unit: `400ms`.
    Milliseconds(&'static str),
    /// A parameter that is a time, in microseconds without a unit.
    Microseconds(&'static str),
    /// A rate in kbit/s or no limit, and a round trip, in the words of tc-cake(8): `bandwidth
    /// 2000kbit rtt 600ms`.
    Shaped {
        /// The parameter of the rate.
        rate: &'static str,
        /// The parameter of the round trip.
        rtt: &'static str,
    },
    /// A parameter that is a time: mac80211's limits of the airtime that waits in the hardware, for
    /// best effort (category 2 of net/mac80211/ieee80211_i.h), in microseconds: the parameter while
    /// stations wait for more than the threshold of all, and otherwise this or the parameter,
    /// whichever is more: `2 5000 12000`.
    AirtimeLimits {
        /// The parameter.
        parameter: &'static str,
        /// The other limit, at least.
        high_us: u64,
    },
    /// A parameter in bytes of data: sets the largest of the three sizes of `tcp_wmem` or
    /// `tcp_rmem` (tcp(7)). The kernel's sizes count memory, and half of it is for data
    /// (socket(7)): `4096 16384 8388608`.
    BufferSizes {
        /// The size that a buffer begins with by default.
        first: u64,
        /// The parameter.
        parameter: &'static str,
        /// Bytes of data in one unit of it: 1, or the bytes of a segment.
        unit: u64,
    },
    /// A parameter that is a number of attempts or no limit: the former, at most 255, which is as
    /// many as nl80211 takes.
    Attempts(&'static str),
    /// All parameters, whole numbers, by name: `beta=3,gamma=1`.
    Constants,
    /// A parameter that is a factor of the RTT's mean deviation, in milliseconds with their unit.
    /// It has a value only where a link is known.
    Deviations(&'static str),
}

/// The option of a socket that a program in BPF sets for others.
const PACING_OPTION: &str = "SO_MAX_PACING_RATE";

/// A step with its values filled in, for applying and for printing.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Concrete {
    /// The step.
    pub step: Step,
    /// Its value, or empty if it takes no value.
    pub value: String,
}

impl Deployment {
    /// The ways to have the remedy with these values, the best first.
    pub fn ways_for(&self, values: &Values<'_>) -> impl Iterator<Item = &'static Way> {
        self.ways.iter().filter(|way| way.is_for(values))
    }

    /// A deployment of one way.
    pub(crate) const fn by(ways: &'static [Way]) -> Self {
        Self {
            ways,
            note: "",
            agent: None,
        }
    }

    /// The same, with a note.
    pub(crate) const fn noting(self, note: &'static str) -> Self {
        Self { note, ..self }
    }

    /// No way, because of `reason`.
    pub(crate) const fn none(reason: &'static str) -> Self {
        Self {
            ways: &[],
            note: reason,
            agent: None,
        }
    }

    /// By a program of airtcp between the ends, with `note` for the user.
    pub(crate) const fn between_the_ends(agent: &'static str, note: &'static str) -> Self {
        Self {
            ways: &[],
            note,
            agent: Some(agent),
        }
    }
}

impl Way {
    /// Steps at one end that are the remedy itself, on any current kernel.
    pub(crate) const fn new(at: At, steps: &'static [Step]) -> Self {
        Self {
            at,
            steps,
            since: None,
            instead: None,
            only_in: None,
            module: None,
            when: None,
        }
    }

    /// Built into Linux at the sender.
    pub(crate) const BY_ITSELF: Self = Self::new(At::Sender, &[]);

    /// Whether it changes something at an end of connections, and nothing before the link.
    pub fn is_on_a_host(&self) -> bool {
        let ends = matches!(self.at, At::Sender | At::Receiver | At::BothEnds);
        ends && !self.steps.is_empty() && !self.steps.iter().any(Step::is_before_link)
    }

    /// Whether it is a way to have the remedy with these values.
    fn is_for(&self, values: &Values<'_>) -> bool {
        self.when
            .is_none_or(|when| values.get(when.parameter) == Quantity::Count(when.is))
    }

    /// The same way, where that parameter has that value.
    pub(crate) const fn when(self, parameter: &'static str, is: u64) -> Self {
        Self {
            when: Some(When { parameter, is }),
            ..self
        }
    }

    /// The same way, which works from that version of Linux.
    pub(crate) const fn since(self, version: &'static str) -> Self {
        Self {
            since: Some(version),
            ..self
        }
    }

    /// The same way, which only these kernels have: no released Linux.
    pub(crate) const fn only_in(self, kernels: &'static str) -> Self {
        Self {
            only_in: Some(kernels),
            ..self
        }
    }

    /// The same way, for kernels with that version of the module.
    pub(crate) const fn with_module(self, name: &'static str, version: &'static str) -> Self {
        Self {
            module: Some(Module { name, version }),
            ..self
        }
    }

    /// The same way, which is only the nearest thing to the remedy.
    pub(crate) const fn instead(self, what: &'static str) -> Self {
        Self {
            instead: Some(what),
            ..self
        }
    }

    /// The steps with the remedy's values, and with the mean deviation of the link's round trips
    /// in milliseconds where it is known. `None` if a step needs it and it is not known.
    pub fn concrete(
        &self,
        values: &Values<'_>,
        deviation_ms: Option<f64>,
    ) -> Option<Vec<Concrete>> {
        self.steps
            .iter()
            .map(|&step| {
                let value = match step.setting() {
                    Some(setting) => setting.filled_in(values, deviation_ms)?,
                    None => String::new(),
                };
                Some(Concrete { step, value })
            })
            .collect()
    }
}

impl Step {
    /// A kernel setting.
    pub(crate) const fn sysctl(key: &'static str, value: Setting) -> Self {
        Self::Sysctl { key, value }
    }

    /// A kernel setting whose value does not depend on parameters.
    pub(crate) const fn fixed_sysctl(key: &'static str, value: &'static str) -> Self {
        Self::sysctl(key, Setting::Fixed(value))
    }

    /// An attribute of a route.
    pub(crate) const fn route(name: &'static str, value: Setting) -> Self {
        Self::RouteAttribute { name, value }
    }

    /// A debugging file of a radio.
    pub(crate) const fn radio_file(name: &'static str, value: Setting) -> Self {
        Self::RadioFile { name, value }
    }

    /// Whether it changes a device or a radio, and nothing of connections.
    pub const fn is_before_link(&self) -> bool {
        matches!(
            self,
            Self::Qdisc { .. } | Self::RadioFile { .. } | Self::RetryLimit { .. }
        )
    }

    /// Whether the program with the socket has to take it: only pacing is set for it, by BPF.
    pub fn is_left_to_program(&self) -> bool {
        matches!(self, Self::SocketOption { name, .. } if *name != PACING_OPTION)
    }

    /// The value that it takes, if it takes one.
    pub const fn setting(&self) -> Option<Setting> {
        match *self {
            Self::Sysctl { value, .. }
            | Self::RouteAttribute { value, .. }
            | Self::BpfCongestionControl { value, .. }
            | Self::Qdisc { value, .. }
            | Self::SocketOption { value, .. }
            | Self::ModuleParameter { value, .. }
            | Self::RadioFile { value, .. }
            | Self::RetryLimit { value } => Some(value),
            Self::CongestionControl { .. } => None,
        }
    }
}

impl Setting {
    /// The remedy's parameter that it reads, if it reads one.
    pub const fn parameter(self) -> Option<&'static str> {
        match self {
            Self::Fixed(_) | Self::Constants => None,
            Self::Parameter(name)
            | Self::Thousandths(name)
            | Self::Milliseconds(name)
            | Self::Microseconds(name)
            | Self::Shaped { rate: name, .. }
            | Self::AirtimeLimits {
                parameter: name, ..
            }
            | Self::BufferSizes {
                parameter: name, ..
            }
            | Self::Attempts(name)
            | Self::Deviations(name) => Some(name),
        }
    }

    /// Placeholder in a command where the value depends on a link that is not known.
    fn formula(self, values: &Values<'_>) -> String {
        match self {
            Self::Deviations(name) => format!("<{} × RTT deviation>", values.number(name)),
            _ => String::new(),
        }
    }

    fn filled_in(self, values: &Values<'_>, deviation_ms: Option<f64>) -> Option<String> {
        Some(match self {
            Self::Fixed(value) => value.to_owned(),
            Self::Parameter(name) => values.get(name).to_string(),
            Self::Constants => constants(values),
            Self::Thousandths(name) => format!("{:.0}", values.number(name) * 1000.0),
            // Rounded up: a floor below one unit must not become zero.
            Self::Milliseconds(name) => {
                format!("{}ms", values.time(name).as_nanos().div_ceil(1_000_000))
            }
            Self::Shaped { rate, rtt } => cake::words(values.get(rate), values.time(rtt)),
            Self::Microseconds(name) => microseconds(values, name).to_string(),
            Self::AirtimeLimits { parameter, high_us } => {
                let low = microseconds(values, parameter);
                format!("{BEST_EFFORT} {low} {}", low.max(high_us))
            }
            Self::BufferSizes {
                first,
                parameter,
                unit,
            } => {
                let data = unit * u64::from(values.count(parameter));
                let most = (MEMORY_A_BYTE * data).clamp(MIN_BUFFER, LARGEST_BUFFER);
                format!("{MIN_BUFFER} {} {most}", first.min(most))
            }
            Self::Attempts(name) => match values.get(name) {
                Quantity::Count(attempts) => attempts.min(MAX_ATTEMPTS).to_string(),
                _ => MAX_ATTEMPTS.to_string(),
            },
            Self::Deviations(name) => {
                format!("{:.0}ms", (values.number(name) * deviation_ms?).ceil())
            }
        })
    }
}

/// Bytes of memory for each byte of data (socket(7), `SO_SNDBUF`).
const MEMORY_A_BYTE: u64 = 2;
/// The kernel's minimum buffer, a page, and the largest that its settings hold (an `int`).
const MIN_BUFFER: u64 = 4096;
const LARGEST_BUFFER: u64 = i32::MAX as u64;

/// `NL80211_ATTR_WIPHY_RETRY_SHORT` has eight bits.
const MAX_ATTEMPTS: u64 = 255;

/// mac80211's number of the category best effort (`enum ieee80211_ac_numbers`).
const BEST_EFFORT: u8 = 2;

fn constants(values: &Values<'_>) -> String {
    let given = values.parameters.iter().zip(values.quantities);
    let words: Vec<_> = given
        .map(|(parameter, quantity)| format!("{}={quantity}", parameter.name))
        .collect();
    words.join(",")
}

/// Rounded up: a limit below one unit must not become zero.
fn microseconds(values: &Values<'_>, name: &str) -> u64 {
    values.time(name).as_nanos().div_ceil(1000)
}

impl At {
    /// The name as used in a sentence.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sender => "the sender",
            Self::Receiver => "the receiver",
            Self::BothEnds => "both ends",
            Self::BeforeLink => "the machine before the link",
            Self::Mobile => "the mobile",
        }
    }
}
