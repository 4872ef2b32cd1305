//! The command lines of `airtcp deploy`, `deployed` and `undeploy`.

use std::net::IpAddr;
use std::path::PathBuf;

use airtcp_host::changes::Places;
use airtcp_host::device::discipline::Discipline;
use airtcp_units::Duration;
use clap::Args;

use crate::target::Target;

/// Deploy a verified remedy to this machine's TCP
///
/// Changes kernel settings, routes and BPF programs of this network namespace as described by
/// `airtcp list remedies REMEDY`, after recording the previous state. `airtcp deploy --undo`
/// restores it, even after a crash; connections opened in between keep their congestion control.
/// `airtcp deploy --list` shows deployed remedies. Requires root, except with --dry-run and --list.
///
/// Examples: airtcp deploy newzag --cgroup /sys/fs/cgroup/web --share 50% --for 10min;
/// airtcp deploy cake --device eth0 --rate 20Mbit
#[derive(Args, Clone, Debug)]
pub struct Deploy {
    /// A remedy with its parameters, as in `airtcp compare`; a+b deploys two together
    pub remedy: String,
    /// The treated connections.
    #[command(flatten)]
    pub target: Targets,
    /// Treat this share of new connections, chosen by hash; the rest is the control group
    #[arg(long, value_name = "PERCENT", value_parser = share)]
    pub share: Option<u32>,
    /// Rate for a shaping discipline (cake), such as 20Mbit: slightly below that of the modem
    /// attached to the device
    #[arg(long, value_name = "RATE", value_parser = rate, requires = "device")]
    pub rate: Option<String>,
    /// Undeploy automatically after this time, such as 10min
    #[arg(long = "for", value_name = "TIME", value_parser = time)]
    pub period: Option<Duration>,
    /// The mean deviation of the link's round trips in milliseconds, for remedies that are a factor
    /// of it; `airtcp verify` prints it
    #[arg(long, value_name = "MS")]
    pub deviation: Option<f64>,
    /// Only print the steps, and the values that undeploy would restore
    #[arg(long, conflicts_with = "script")]
    pub dry_run: bool,
    /// Print a shell script that performs the steps, and reverts them with the argument "undo"
    #[arg(long)]
    pub script: bool,
    /// Directory of devices and radios
    #[arg(long, value_name = "DIR", default_value = "/sys", hide = true)]
    pub(super) sys: PathBuf,
    #[command(flatten)]
    pub(super) places: Places,
}

/// The connections for which a remedy is deployed.
#[derive(Args, Clone, Debug)]
#[group(required = true, multiple = false)]
pub struct Targets {
    /// The new connections of a cgroup of version 2
    #[arg(long, value_name = "PATH")]
    cgroup: Option<PathBuf>,
    /// The connections to a network, such as 10.1.0.0/16
    #[arg(long, value_name = "DST", value_parser = network)]
    route: Option<(IpAddr, u8)>,
    /// Every new connection of this network namespace
    #[arg(long)]
    all: bool,
    /// Traffic leaving by a network device, for remedies that change its queueing discipline or its
    /// radio's settings
    #[arg(long, value_name = "DEVICE")]
    device: Option<String>,
}

impl Targets {
    /// The target that was given.
    pub fn target(&self) -> Target {
        match (&self.cgroup, self.route) {
            (Some(path), _) => Target::Cgroup(path.clone()),
            (None, Some((address, prefix))) => Target::Route(address, prefix),
            (None, None) => match &self.device {
                Some(name) => Target::Device(name.clone()),
                None => Target::All,
            },
        }
    }
}

/// Show deployed remedies, since when, and whether they are still in place
#[derive(Args, Clone, Debug)]
pub struct Deployed {
    /// Query the kernel for treated connections, and compare them with the rest
    #[arg(long)]
    pub check: bool,
    /// As one JSON object
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub(super) places: Places,
}

/// Restore everything that `airtcp deploy` has changed, even after a crash
#[derive(Args, Clone, Debug)]
pub struct Undeploy {
    /// Discard records that cannot be restored, such as a route of a removed device
    #[arg(long)]
    pub forget: bool,
    #[command(flatten)]
    pub(super) places: Places,
}

fn share(text: &str) -> Result<u32, String> {
    let expected = || "expected a part of the connections such as 50%, above 0 and below 100%";
    let percent: f64 = text
        .strip_suffix('%')
        .and_then(|number| number.trim().parse().ok())
        .ok_or_else(expected)?;
    // The resolution of a share is one ten-thousandth.
    let share = (percent * 100.0).round();
    if (1.0..=9999.0).contains(&share) {
        Ok(share as u32)
    } else {
        Err(expected().to_owned())
    }
}

fn rate(text: &str) -> Result<String, String> {
    let words: String = text.split_whitespace().collect();
    let words = words.trim_end_matches("/s").to_owned();
    match Discipline::parse(&format!("cake bandwidth {words}")) {
        Ok(_) => Ok(words),
        Err(_) => Err("expected a rate with its unit, such as 20Mbit".to_owned()),
    }
}

fn time(text: &str) -> Result<Duration, String> {
    let time: Duration = text
        .parse()
        .map_err(|error| format!("{error}; expected a time such as 10min"))?;
    if time < Duration::from_secs(1) {
        return Err("expected at least 1 s".to_owned());
    }
    Ok(time)
}

fn network(text: &str) -> Result<(IpAddr, u8), String> {
    let expected = || "expected a network such as 10.1.0.0/16 or an address".to_owned();
    let (address, prefix) = match text.split_once('/') {
        Some((address, prefix)) => (address, Some(prefix)),
        None => (text, None),
    };
    let address: IpAddr = match address {
        "default" => std::net::Ipv4Addr::UNSPECIFIED.into(),
        other => other.parse().map_err(|_| expected())?,
    };
    let bits = if address.is_ipv4() { 32 } else { 128 };
    let prefix = match prefix {
        Some(prefix) => prefix.parse().map_err(|_| expected())?,
        None if text == "default" => 0,
        None => bits,
    };
    if prefix > bits {
        return Err(expected());
    }
    Ok((address, prefix))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_a_part_with_its_sign() {
        assert_eq!(share("50%"), Ok(5000));
        assert_eq!(share("0.01 %"), Ok(1));
        for wrong in ["50", "0%", "100%", "101%", "-3%", "x%", "nan%"] {
            assert!(share(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_network_is_an_address_with_a_prefix() {
        assert_eq!(
            network("10.1.0.0/16"),
            Ok(("10.1.0.0".parse().unwrap(), 16))
        );
        assert_eq!(network("::1"), Ok(("::1".parse().unwrap(), 128)));
        assert_eq!(network("default"), Ok(("0.0.0.0".parse().unwrap(), 0)));
        for wrong in ["10.1.0.0/33", "10.1", "x", "::/129", "10.0.0.0/"] {
            assert!(network(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_rate_has_its_unit() {
        assert_eq!(rate("20Mbit"), Ok("20Mbit".to_owned()));
        assert_eq!(rate("20 Mbit/s"), Ok("20Mbit".to_owned()));
        for wrong in ["20", "Mbit", "-1Mbit", "20MB", "7bit"] {
            assert!(rate(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_period_is_a_second_or_more() {
        assert_eq!(time("10min"), Ok(Duration::from_secs(600)));
        assert!(time("10 ms").is_err());
        assert!(time("soon").is_err());
    }
}
