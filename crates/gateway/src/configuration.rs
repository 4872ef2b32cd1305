//! The settings of a gateway: a TOML file, overridden by the command line.

use std::fs;
use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use airtcp_host::error::{Error, Result, Tried};
use airtcp_units::{Duration, Probability};
use serde::Deserialize;

use crate::agents::Chain;
use crate::agents::hold_limit::HoldLimits;
use crate::options::{Serve, ShareBy};

/// Default limit on tracked connections: a few hundred bytes each.
const FLOWS: NonZeroUsize = NonZeroUsize::new(16_384).unwrap();
/// Linux's floor of the variance term of the retransmission timer (TCP_RTO_MIN).
const TIMER_FLOOR: Duration = Duration::from_millis(200);
/// Maximum length of a device's name (linux/if.h, IFNAMSIZ less the terminating zero).
const MAX_NAME: usize = 15;

/// A gateway's settings.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// The agents.
    pub chain: Chain,
    /// The device towards the mobiles.
    pub mobile: String,
    /// The device towards the wired network.
    pub wired: String,
    /// The share of connections that are treated; `None` if packets are only observed.
    pub share: Option<Probability>,
    /// The unit that is treated or not.
    pub share_by: ShareBy,
    /// Whether to end when the treated are slower than the control group.
    pub stop_if_worse: bool,
    /// Whether the gateway carries packets itself.
    pub inline: bool,
    /// Limit on tracked connections.
    pub flows: NonZeroUsize,
    /// The floor of the senders' retransmission timers.
    pub timer_floor: Duration,
    /// Seed for the choice of connections and for random delays.
    pub seed: u64,
    /// Bounds of injected delay.
    pub hold: HoldLimits,
    /// The number of the first queue; the first free one if `None`.
    pub queue: Option<u16>,
    /// The writer of the rules.
    pub rules: RulesBy,
    /// Maximum lateness of a packet before the gateway ends.
    pub late: Duration,
    /// The address for Prometheus.
    pub listen: Option<SocketAddr>,
    /// The file with the same text.
    pub file: Option<PathBuf>,
}

/// The writer of the rules that steer packets into the queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RulesBy {
    /// The gateway itself, in nf_tables by netlink.
    #[default]
    #[serde(alias = "auto")]
    Netlink,
    /// No rules: the operator has written them.
    None,
}

/// The file's keys.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct File {
    agents: Vec<String>,
    mobile: Option<String>,
    wired: Option<String>,
    mode: Option<Mode>,
    share: Option<Probability>,
    share_by: Option<ShareBy>,
    stop_if_worse: bool,
    inline: bool,
    flows: Option<NonZeroUsize>,
    timer_floor: Option<Duration>,
    seed: Option<u64>,
    queue: Option<u16>,
    rules: RulesBy,
    hold: Hold,
    watchdog: Watchdog,
    metrics: Metrics,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Mode {
    Observe,
    Apply,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Hold {
    longest: Option<Duration>,
    of_round_trip: Option<f64>,
    of_timeout: Option<f64>,
    budget: Option<Duration>,
    span: Option<Duration>,
    longest_data: Option<Duration>,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Watchdog {
    late: Option<Duration>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Metrics {
    listen: Option<SocketAddr>,
    file: Option<PathBuf>,
}

impl Settings {
    /// Reads the settings from the command line and its file.
    ///
    /// # Errors
    ///
    /// A key or value is wrong: no setting applies then.
    pub fn new(options: &Serve) -> Result<Self> {
        let text = match &options.config {
            Some(path) => {
                fs::read_to_string(path).tried(|| format!("cannot read {}", path.display()))?
            }
            None => String::new(),
        };
        Self::parse(&text, options).map_err(|error| match &options.config {
            Some(path) => Error::new(format!("{}: {error}", path.display())),
            None => error,
        })
    }

    /// Parses the settings from a file's text and the command line.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn parse(text: &str, options: &Serve) -> Result<Self> {
        let file: File =
            toml::from_str(text).map_err(|error| Error::new(one_line(&error.to_string())))?;
        let agents = if options.agents.is_empty() {
            &file.agents
        } else {
            &options.agents
        };
        let share = if options.observe {
            None
        } else if options.apply {
            Some(options.share.unwrap_or(Probability::ALWAYS))
        } else {
            match file.mode.unwrap_or(Mode::Observe) {
                Mode::Apply => Some(file.share.unwrap_or(Probability::ALWAYS)),
                Mode::Observe if file.share.is_some() => {
                    return Err(Error::new(
                        "share: expected mode = \"apply\" with it; without, nothing is treated",
                    ));
                }
                Mode::Observe => None,
            }
        };
        let settings = Self {
            chain: Chain::new(agents)?,
            mobile: device("mobile", options.mobile.as_ref().or(file.mobile.as_ref()))?,
            wired: device("wired", options.wired.as_ref().or(file.wired.as_ref()))?,
            share,
            share_by: options.share_by.or(file.share_by).unwrap_or_default(),
            stop_if_worse: options.stop_if_worse || file.stop_if_worse,
            inline: options.inline || file.inline,
            flows: file.flows.unwrap_or(FLOWS),
            timer_floor: file.timer_floor.unwrap_or(TIMER_FLOOR),
            seed: file.seed.unwrap_or(1),
            hold: hold(&file.hold)?,
            queue: file.queue,
            rules: file.rules,
            late: file.watchdog.late.unwrap_or(Duration::from_millis(500)),
            listen: file.metrics.listen,
            file: file.metrics.file,
        };
        settings.check()?;
        Ok(settings)
    }

    /// Whether packets are only observed.
    pub const fn only_looks(&self) -> bool {
        self.share.is_none()
    }

    /// Whether the new settings keep the same rules, queues and devices.
    pub fn keeps_packets_where_they_are(&self, other: &Self) -> bool {
        use airtcp_link::agent::Toward;
        let same_sight = [Toward::Mobile, Toward::Wired]
            .into_iter()
            .all(|toward| self.chain.sees(toward) == other.chain.sees(toward));
        same_sight
            && self.only_looks() == other.only_looks()
            && (
                &self.mobile,
                &self.wired,
                self.inline,
                self.queue,
                self.rules,
            ) == (
                &other.mobile,
                &other.wired,
                other.inline,
                other.queue,
                other.rules,
            )
            && (self.listen, self.flows, self.timer_floor)
                == (other.listen, other.flows, other.timer_floor)
    }

    fn check(&self) -> Result<()> {
        if self.mobile == self.wired {
            return Err(Error::new(format!(
                "mobile = wired = {:?}: expected two devices",
                self.mobile
            )));
        }
        if self.inline && self.only_looks() {
            return Err(Error::new(
                "inline = true: expected mode = \"apply\" with it; a look needs no carrier",
            ));
        }
        let has_both = self
            .share
            .is_some_and(|share| (f64::MIN_POSITIVE..1.0).contains(&share.as_f64()));
        if self.stop_if_worse && !has_both {
            return Err(Error::new(
                "stop_if_worse = true: expected mode = \"apply\" and a share between 0 and 1 with \
                 it, such as share = \"50 %\"; without a control group nothing is worse",
            ));
        }
        if self.chain.listens_to_link() && !self.only_looks() {
            return Err(Error::new(
                "agent \"ebsn\" with mode = \"apply\": expected mode = \"observe\" with it, which \
                 counts what it would tell by the failed attempts of the driver's statistics; no \
                 sender understands its message, but those of `airtcp emulate --remedy ebsn`",
            ));
        }
        if self.inline && self.chain.repeats() {
            return Err(Error::new(format!(
                "inline = true with {}: expected agents that delay or prefer packets; those that \
                 change or repeat them need the kernel's packet queue",
                self.chain.names().join("+")
            )));
        }
        if let Some(listen) = self.listen
            && !listen.ip().is_loopback()
        {
            return Err(Error::new(format!(
                "metrics.listen = {listen}: expected an address of this machine alone, such as \
                 127.0.0.1:9721; let a proxy with a password serve others"
            )));
        }
        let late = self.late;
        if !(Duration::from_millis(50)..=Duration::from_secs(60)).contains(&late) {
            return Err(Error::new(format!(
                "watchdog.late = {late}: expected a duration from 50 ms to 60 s"
            )));
        }
        if self.timer_floor > Duration::from_secs(60) {
            return Err(Error::new(format!(
                "timer_floor = {}: expected a duration of at most 60 s; Linux has 200 ms",
                self.timer_floor
            )));
        }
        if self.flows.get() > 1 << 20 {
            return Err(Error::new(format!(
                "flows = {}: expected at most 1048576, some 700 bytes each",
                self.flows
            )));
        }
        // Validates its parameters once.
        self.chain.agents::<()>(self.flows, self.seed).map(drop)
    }
}

fn hold(file: &Hold) -> Result<HoldLimits> {
    let usual = HoldLimits::default();
    let time = |key: &str, value: Option<Duration>, usual: Duration, most: Duration| {
        let value = value.unwrap_or(usual);
        if value > most {
            return Err(Error::new(format!(
                "hold.{key} = {value}: expected a duration of at most {most}"
            )));
        }
        Ok(value)
    };
    let part = |key: &str, value: Option<f64>, usual: f64| {
        let value = value.unwrap_or(usual);
        if !(0.0..=1000.0).contains(&value) {
            return Err(Error::new(format!(
                "hold.{key} = {value}: expected a number between 0 and 1000, such as {usual}"
            )));
        }
        Ok(value)
    };
    let long = Duration::from_secs(60);
    let limits = HoldLimits {
        longest: time("longest", file.longest, usual.longest, long)?,
        of_round_trip: part("of_round_trip", file.of_round_trip, usual.of_round_trip)?,
        of_timeout: part("of_timeout", file.of_timeout, usual.of_timeout)?,
        budget: time(
            "budget",
            file.budget,
            usual.budget,
            Duration::from_secs(3600),
        )?,
        span: time("span", file.span, usual.span, Duration::from_secs(3600))?,
        longest_data: time("longest_data", file.longest_data, usual.longest_data, long)?,
    };
    if limits.span == Duration::ZERO {
        return Err(Error::new(
            "hold.span = 0 s: expected a duration above 0, such as 10 s",
        ));
    }
    Ok(limits)
}

/// Checks the name of a device, which also becomes part of names of rules and files.
fn device(key: &str, name: Option<&String>) -> Result<String> {
    let Some(name) = name else {
        return Err(Error::new(format!(
            "{key}: expected the name of a device, by --{key} or in the file; `ip link` lists them"
        )));
    };
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-@:".contains(&byte);
    let fits = (1..=MAX_NAME).contains(&name.len()) && name.bytes().all(is_plain);
    if !fits || name.starts_with(['.', '-']) {
        return Err(Error::new(format!(
            "{key} = {name:?}: expected the name of a device: at most {MAX_NAME} letters, \
             digits, dots, dashes and underscores"
        )));
    }
    Ok(name.clone())
}

/// A multi-line message from toml, on one line.
fn one_line(text: &str) -> String {
    let lines: Vec<_> = text
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect();
    lines.join(" ")
}

/// Path of the file that SIGHUP reloads.
pub fn file(options: &Serve) -> Option<&Path> {
    options.config.as_deref()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Settings> {
        Settings::parse(text, &Serve::default())
    }

    const MIN: &str = "agents = [\"delay-injection\"]\nmobile = \"wlan0\"\nwired = \"eth0\"\n";

    #[test]
    fn three_keys_are_enough_and_only_look() {
        let settings = parse(MIN).unwrap();
        assert!(settings.only_looks());
        assert_eq!(settings.hold, HoldLimits::default());
        assert_eq!(settings.chain.names().len(), 1);
    }

    #[test]
    fn every_key_is_read() {
        let text = format!(
            "{MIN}mode = \"apply\"\nshare = \"20 %\"\nshare_by = \"station\"\n\
             stop_if_worse = true\nflows = 100\nseed = 7\n\
             timer_floor = \"1 s\"\nqueue = 12\n\
             rules = \"none\"\n\
             [hold]\nlongest = \"20 ms\"\nof_round_trip = 0.25\nof_timeout = 0.1\n\
             budget = \"2 s\"\nspan = \"20 s\"\nlongest_data = \"300 ms\"\n\
             [watchdog]\nlate = \"200 ms\"\n\
             [metrics]\nlisten = \"127.0.0.1:9721\"\nfile = \"/run/airtcp/metrics.prom\"\n"
        );
        let settings = parse(&text).unwrap();
        assert_eq!(settings.share.map(Probability::as_f64), Some(0.2));
        assert_eq!(settings.share_by, ShareBy::Station);
        assert!(settings.stop_if_worse);
        assert_eq!(settings.hold.longest, Duration::from_millis(20));
        assert_eq!((settings.seed, settings.queue), (7, Some(12)));
        assert_eq!(settings.timer_floor, Duration::from_secs(1));
        assert_eq!(settings.rules, RulesBy::None);
        assert_eq!(settings.late, Duration::from_millis(200));
    }

    #[test]
    fn the_command_line_goes_before_the_file() {
        let options = Serve {
            agents: vec!["snoop".to_owned()],
            wired: Some("eth1".to_owned()),
            apply: true,
            ..Serve::default()
        };
        let settings = Settings::parse(MIN, &options).unwrap();
        assert!(settings.chain.repeats());
        assert_eq!(settings.wired, "eth1");
        assert_eq!(settings.share, Some(Probability::ALWAYS));
    }

    #[test]
    fn a_wrong_key_or_value_is_named() {
        let refused = |more: &str| parse(&format!("{MIN}{more}")).unwrap_err().to_string();
        assert!(refused("flow = 3").contains("unknown field `flow`"));
        assert!(refused("share = 0.5").contains("mode = \"apply\""));
        assert!(refused("stop_if_worse = true").contains("control group"));
        let all = refused("stop_if_worse = true\nmode = \"apply\"");
        assert!(all.contains("control group"), "{all}");
        assert!(refused("[hold]\nlongest = \"2 min\"").contains("longest"));
        assert!(refused("[hold]\nof_timeout = -1.0").contains("hold.of_timeout = -1"));
        assert!(refused("[metrics]\nlisten = \"0.0.0.0:1\"").contains("this machine alone"));
        assert!(refused("inline = true").contains("inline"));
        let ebsn = MIN.replace("delay-injection", "ebsn") + "mode = \"apply\"";
        let error = parse(&ebsn).unwrap_err().to_string();
        assert!(error.contains("no sender understands"), "{error}");
        let snoop =
            "agents = [\"snoop\"]\nmobile = \"wlan0\"\nwired = \"eth0\"\nmode = \"apply\"\n";
        let error = parse(&format!("{snoop}inline = true")).unwrap_err();
        assert!(
            error.to_string().contains("inline = true with snoop"),
            "{error}"
        );
        let options = |agent: &str, mobile: &str| Serve {
            agents: vec![agent.to_owned()],
            mobile: Some(mobile.to_owned()),
            wired: Some("eth0".to_owned()),
            ..Serve::default()
        };
        let refused = |agent, mobile| {
            Settings::parse("", &options(agent, mobile))
                .unwrap_err()
                .to_string()
        };
        assert!(refused("sack", "wlan0").contains("access point"));
        assert!(refused("deliberate-drop", "wlan0").contains("a gateway drops no data"));
        assert!(parse("agents = [\"ebsn\"]\nmobile = \"wlan0\"\nwired = \"eth0\"\n").is_ok());
        assert!(refused("snoop", "wlan0; reboot").contains("mobile ="));
        assert!(refused("snoop", "eth0").contains("two devices"));
    }

    /// The shipped file is valid; damaged anywhere, it gives either settings or a one-line error.
    #[test]
    fn a_damaged_file_is_one_line_of_error() {
        let shipped = include_str!("../../../packaging/gateway.toml");
        assert!(parse(shipped).unwrap().only_looks());
        for seed in 0..2_000 {
            let draws = airtcp_link::Stream::new(seed, "configuration.test");
            let mut text = shipped.as_bytes().to_vec();
            for damage in 0..1 + draws.draw(0) % 3 {
                let at = draws.draw(2 * damage + 1) as usize % text.len();
                text[at] = draws.draw(2 * damage + 2) as u8 & 0x7f;
            }
            let text = String::from_utf8(text).unwrap();
            if let Err(error) = parse(&text) {
                assert!(!error.to_string().contains('\n'), "seed {seed}: {error}");
            }
        }
    }
}
