//! A deployment in the words of iproute2, sysctl and their like.

use std::fmt;

use super::{Concrete, Deployment, Module, Step, Way};
use crate::Values;

impl fmt::Display for Concrete {
    /// The step as a command, or as an instruction for a program. `ROUTE`, `DEVICE` and `PHY` are
    /// placeholders for a route as `ip route show` prints it, a network device and a radio.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = &self.value;
        match self.step {
            // The shell would take several numbers apart.
            Step::Sysctl { key, .. } if value.contains(' ') => {
                write!(f, "sysctl -w {key}=\"{value}\"")
            }
            Step::Sysctl { key, .. } => write!(f, "sysctl -w {key}={value}"),
            Step::RouteAttribute { name, .. } => write!(f, "ip route change ROUTE {name} {value}"),
            Step::CongestionControl { name } => {
                write!(f, "sysctl -w net.ipv4.tcp_congestion_control={name}")
            }
            Step::BpfCongestionControl {
                name,
                object,
                constant,
                ..
            } => {
                match object {
                    Some(object) => write!(f, "airtcp-net control {}", object.path)?,
                    None => write!(f, "airtcp-net control {name}")?,
                }
                if !constant.is_empty() {
                    return write!(f, " --set {constant}={value}");
                }
                let mut set = value.split(',').filter(|word| !word.is_empty());
                set.try_for_each(|word| write!(f, " --set {word}"))
            }
            Step::Qdisc { words, .. } => {
                let command = format!("tc qdisc replace dev DEVICE root {words} {value}");
                f.write_str(command.trim_end())
            }
            Step::SocketOption { name, .. } => write!(f, "setsockopt {name} {value}"),
            Step::ModuleParameter { module, name, .. } => {
                write!(f, "echo {value} > /sys/module/{module}/parameters/{name}")
            }
            Step::RadioFile { name, .. } => {
                write!(f, "echo {value} > /sys/kernel/debug/ieee80211/PHY/{name}")
            }
            Step::RetryLimit { .. } => {
                write!(f, "iw phy PHY set retry short {value} long {value}")
            }
        }
    }
}

impl Way {
    /// The way in a sentence without its full stop, with the remedy's values filled in.
    fn sentence(&self, values: &Values<'_>) -> String {
        let mut text = if self.steps.is_empty() {
            "Linux does it by itself".to_owned()
        } else {
            format!("on {}", self.at.name())
        };
        for (position, step) in self.steps.iter().enumerate() {
            let value = match step.setting() {
                // A value that depends on the link is unknown here; its formula is printed instead.
                Some(setting) => setting
                    .filled_in(values, None)
                    .unwrap_or_else(|| setting.formula(values)),
                None => String::new(),
            };
            let separator = if position == 0 { ": " } else { " and " };
            let concrete = Concrete { step: *step, value };
            text += &format!("{separator}`{concrete}`");
        }
        if let Some(version) = self.since {
            text += &format!(" (Linux {version} or later)");
        }
        if let Some(kernels) = self.only_in {
            text += &format!(" (only in {kernels}");
            if let Some(Module { name, version }) = self.module {
                text += &format!(", where {name} is of version {version}");
            }
            text += ")";
        }
        if let Some(what) = self.instead {
            text += &format!("; this is {what}");
        }
        text
    }
}

impl Deployment {
    /// The deployment in sentences, with the remedy's values filled in. Commands are in backticks.
    pub fn text(&self, values: &Values<'_>) -> String {
        let mut sentences: Vec<String> = self
            .ways_for(values)
            .enumerate()
            .map(|(position, way)| {
                let sentence = way.sentence(values);
                let text = if position == 0 {
                    sentence
                } else {
                    format!("or {sentence}")
                };
                capitalised(&text) + "."
            })
            .collect();
        if !self.note.is_empty() {
            sentences.push(self.note.to_owned());
        }
        sentences.join(" ")
    }
}

fn capitalised(text: &str) -> String {
    let mut characters = text.chars();
    characters
        .next()
        .map(|first| first.to_uppercase().chain(characters).collect())
        .unwrap_or_default()
}
