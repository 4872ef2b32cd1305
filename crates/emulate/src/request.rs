//! The requested link: a scenario, its settings and remedies, and the seed of its channel.

use std::path::PathBuf;

use airtcp_host::error::{Error, Result};
use airtcp_scenario::Scenario;
use clap::Args;

/// A link as given to every command that carries real packets.
#[derive(Args, Clone, Debug)]
#[group(skip)]
pub struct Request {
    /// The scenario, a TOML file
    pub scenario: PathBuf,
    /// Remedies for the link and its access point, as in `airtcp compare`; repeatable
    #[arg(long, value_name = "REMEDY")]
    pub remedy: Vec<String>,
    /// Change a key of the scenario, as in `airtcp run`; repeatable
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// The channel: the same seed loses the same packets as in a simulation
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64))]
    pub seed: u64,
    /// The longest IP packet over the link, in bytes
    #[arg(
        long,
        default_value_t = 1500,
        value_parser = clap::value_parser!(u16).range(1280..=65_535)
    )]
    pub mtu: u16,
}

impl Request {
    /// The scenario with its settings and remedies.
    ///
    /// # Errors
    ///
    /// It is refused; the error gives key, value and expectation.
    pub fn scenario(&self) -> Result<Scenario> {
        self.scenario_without_remedies()?
            .with_remedies(&self.remedy.join("+"))
            .map_err(|error| Error::new(error.to_string()))
    }

    /// The scenario with its settings, and with only those remedies that are in its file.
    ///
    /// # Errors
    ///
    /// As [`Self::scenario`].
    pub fn scenario_without_remedies(&self) -> Result<Scenario> {
        let settings: Vec<(String, String)> = self
            .set
            .iter()
            .map(|text| {
                text.split_once('=')
                    .map(|(key, value)| (key.trim().to_owned(), value.trim().to_owned()))
                    .ok_or_else(|| {
                        Error::new(format!(
                            "--set {text:?}: expected KEY=VALUE, such as link.rate=\"10 Mbit/s\""
                        ))
                    })
            })
            .collect::<Result<_>>()?;
        Scenario::load(&self.scenario, &settings).map_err(|error| Error::new(error.to_string()))
    }
}
