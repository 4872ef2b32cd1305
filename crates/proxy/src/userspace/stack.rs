//! Selects one of airtcp's stacks by name: a profile, a scenario's sender, or remedies, joined by
//! `+`.

use std::path::Path;

use airtcp_host::error::{Error, Result};
use airtcp_remedies::Place;
use airtcp_scenario::Scenario;
use airtcp_tcp::{Config, Profile};

/// The suffix of the name of a scenario's sender.
const SCENARIO: &str = ".toml";

/// The stack with that name: `newreno`, `linux+f-rto`, `rto-factor:factor=10+sack`,
/// `papers/rto-factor/trace-1.toml+go-back-n`. Remedies without a profile change the default one.
///
/// # Errors
///
/// No such profile, scenario or remedy, a remedy that does not belong to an endpoint, or Fast Open,
/// which a proxy does not support.
pub fn stack(name: &str) -> Result<Config> {
    let tcp = configuration(name)?;
    if tcp.fast_open {
        return Err(Error::new(format!(
            "--mobile-stack {name}: a proxy takes no data from a SYN; leave out fast-open, or \
             tcp.fast_open"
        )));
    }
    Ok(tcp)
}

fn configuration(name: &str) -> Result<Config> {
    let (first, more) = name.split_once('+').unwrap_or((name, ""));
    let profile = Profile::ALL.into_iter().find(|one| one.name() == first);
    let (mut tcp, remedies) = match profile {
        Some(profile) => (profile.config(), more),
        None if first.ends_with(SCENARIO) => {
            let scenario = Scenario::load(Path::new(first), &[])
                .map_err(|error| Error::new(error.to_string()))?;
            (scenario.tcp, more)
        }
        None => (Config::default(), name),
    };
    if remedies.is_empty() {
        return Ok(tcp);
    }
    let chosen = airtcp_remedies::parse(remedies).map_err(|error| {
        Error::new(format!("--mobile-stack {name}: {error}")).remedied_by(format!(
            "linux-NAME is the kernel with a congestion control; profiles are {}",
            Profile::ALL.map(Profile::name).join(", ")
        ))
    })?;
    for one in chosen.as_slice() {
        if !matches!(one.remedy.place, Place::Sender | Place::Receiver) {
            return Err(Error::new(format!(
                "--mobile-stack {name}: {} is none of a sender's or a receiver's",
                one.remedy.name
            )));
        }
    }
    chosen.apply(&mut tcp);
    Ok(tcp)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_a_profile_with_remedies() {
        assert_eq!(stack("newreno").unwrap(), Profile::NewReno.config());
        assert_eq!(stack("linux").unwrap(), Profile::Linux.config());
        let factor = stack("newreno+rto-factor:factor=10").unwrap();
        assert_eq!(factor.timeout.factor, 10.0);
        assert_eq!(factor, stack("rto-factor:factor=10").unwrap());
    }

    #[test]
    fn a_name_is_the_sender_of_a_scenario() {
        let papers = concat!(env!("CARGO_MANIFEST_DIR"), "/../../papers");
        let file = format!("{papers}/rto-factor/trace-1.toml");
        let scenario = Scenario::load(Path::new(&file), &[]).unwrap();
        assert_eq!(stack(&file).unwrap(), scenario.tcp);
        let ten = stack(&format!("{file}+rto-factor:factor=10")).unwrap();
        assert_eq!(ten.timeout.factor, 10.0);
        assert_eq!(ten.max_window, scenario.tcp.max_window);
    }

    #[test]
    fn a_stack_is_an_endpoints_alone() {
        let error = |name: &str| stack(name).unwrap_err().to_string();
        assert!(error("nonsense").contains("profiles are"));
        assert!(error("snoop").contains("none of a sender's"));
        assert!(error("linux+fast-open").contains("no data from a SYN"));
        assert!(error("nowhere.toml").contains("nowhere.toml"));
    }
}
