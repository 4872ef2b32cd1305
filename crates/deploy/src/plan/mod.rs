//! From remedies and a target to changes of the machine.

mod refusal;

use std::path::{Path, PathBuf};

use airtcp_host::bpf::constants;
use airtcp_host::bpf::{Constants, Treatment};
use airtcp_host::device::discipline::Discipline;
use airtcp_host::device::root::RootDiscipline;
use airtcp_host::error::{Error, Result};
use airtcp_host::release::version;
use airtcp_host::tcp_settings::setting_path;
use airtcp_remedies::deployment::{At, Concrete, ObjectFile, Step, Way};
use airtcp_remedies::{ConfiguredRemedy, Selection};

use crate::change::{Change, is_same, read};
use crate::radio;
use crate::route;
use crate::route::Route;
use crate::target::Target;
use refusal::refusal;

/// A limit above any rate: it enables pacing without limiting anything.
const NO_LIMIT: u64 = u64::MAX - 1;
const CONTROL_KEY: &str = "net.ipv4.tcp_congestion_control";

/// The request.
#[derive(Clone, Debug)]
pub struct Request<'a> {
    /// The treated connections.
    pub target: &'a Target,
    /// The treated share, of 10000.
    pub share: Option<u32>,
    /// The mean deviation of the link's round trips, in milliseconds.
    pub deviation_ms: Option<f64>,
    /// The rate of a shaping discipline, in the syntax of tc(8).
    pub rate: Option<&'a str>,
    /// The directory of BPF pins.
    pub pins: &'a Path,
    /// The directory of the files of devices and radios: `/sys`.
    pub sys: &'a Path,
}

/// The actions of a deployment.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// Changes, in order.
    pub changes: Vec<Change>,
    /// Notes for the user.
    pub notes: Vec<String>,
    /// The congestion control of the connections, if any.
    pub control: Option<String>,
    /// The oldest version of Linux that supports all the ways used.
    pub since: Option<&'static str>,
}

/// The effects of the remedies on this machine, before they become changes.
#[derive(Default)]
struct Effects {
    settings: Vec<(String, String)>,
    modules: Vec<(PathBuf, String)>,
    radio: Vec<(&'static str, String)>,
    attributes: Vec<(&'static str, String)>,
    program: Option<(String, Constants)>,
    object: Option<ObjectFile>,
    discipline: Option<String>,
    control: Option<String>,
    is_paced: bool,
    notes: Vec<String>,
    since: Option<&'static str>,
}

impl Plan {
    /// Plans the changes that deploy the remedies for these connections: for each remedy, the first
    /// way available here.
    ///
    /// # Errors
    ///
    /// A remedy has no way for these connections; gives the reason for each way, and a target that
    /// works.
    pub fn new(remedies: &Selection, asked: &Request<'_>) -> Result<Self> {
        let mut effects = Effects::default();
        for one in remedies.as_slice() {
            effects.take(one, asked)?;
        }
        effects.into_plan(asked)
    }
}

impl Request<'_> {
    /// Whether a program must distinguish the connections.
    const fn needs_program(&self) -> bool {
        self.share.is_some() || matches!(self.target, Target::Cgroup(_))
    }
}

impl Effects {
    fn take(&mut self, one: &ConfiguredRemedy, asked: &Request<'_>) -> Result<()> {
        let deployment = one.remedy.deployment;
        let mut reasons = Vec::new();
        for way in deployment.ways_for(&one.given()) {
            match refusal(one, way, asked) {
                Some(reason) => reasons.push(reason),
                None => return self.add(one, way, asked),
            }
        }
        let name = one.remedy.name;
        if reasons.is_empty() {
            return Err(Error::new(format!(
                "remedy \"{name}\": there is no way to deploy it. {}",
                deployment.note
            )));
        }
        Err(Error::new(format!(
            "remedy \"{name}\": no way to have it for {}: {}",
            asked.words(),
            reasons.join("; or ")
        )))
    }

    fn add(&mut self, one: &ConfiguredRemedy, way: &Way, asked: &Request<'_>) -> Result<()> {
        let name = one.remedy.name;
        let Some(steps) = way.concrete(&one.given(), asked.deviation_ms) else {
            return Err(Error::new(format!(
                "remedy \"{name}\": on a kernel it is a factor of the link's RTT deviation, which \
                 is not known; give --deviation, which `airtcp verify` measures"
            )));
        };
        if steps.is_empty() {
            self.notes.push(format!(
                "{name}: Linux does it by itself, nothing to change"
            ));
        }
        if let Some(what) = way.instead {
            self.notes.push(format!("{name}: this is {what}"));
        }
        match way.at {
            At::Receiver => self.notes.push(format!(
                "{name} acts where data is received: this machine has to be the receiver"
            )),
            At::BothEnds => self.notes.push(format!(
                "{name} acts at both ends: the other end needs it too"
            )),
            At::Sender | At::BeforeLink | At::Mobile => {}
        }
        self.since = [self.since, way.since]
            .into_iter()
            .flatten()
            .max_by_key(|text| version(text));
        for step in &steps {
            self.add_step(step, asked)?;
        }
        Ok(())
    }

    fn add_step(&mut self, step: &Concrete, asked: &Request<'_>) -> Result<()> {
        let value = step.value.clone();
        match step.step {
            Step::Sysctl { key, .. } => {
                self.settings.retain(|(known, _)| known != key);
                self.settings.push((key.to_owned(), value));
            }
            Step::RouteAttribute { name, .. } => {
                self.attributes.retain(|(known, _)| *known != name);
                self.attributes.push((name, value));
            }
            Step::CongestionControl { name } => self.control = Some(name.to_owned()),
            Step::BpfCongestionControl {
                name,
                object,
                constant,
                ..
            } => {
                self.object = object;
                self.program = Some((name.to_owned(), constants(constant, &value)?));
                self.control = Some(name.to_owned());
            }
            Step::SocketOption { .. } if step.step.is_left_to_program() => self
                .notes
                .push(format!("left to the programs, on their sockets: {step}")),
            Step::SocketOption { .. } => self.is_paced = true,
            Step::ModuleParameter { module, name, .. } => {
                self.modules.push((module_file(module, name), value));
            }
            Step::Qdisc { words, .. } => {
                self.discipline = Some(discipline(words, &value, asked.rate)?);
            }
            Step::RadioFile { name, .. } => {
                self.radio.retain(|(known, _)| *known != name);
                self.radio.push((name, value));
            }
            Step::RetryLimit { .. } => {}
        }
        Ok(())
    }

    fn into_plan(self, asked: &Request<'_>) -> Result<Plan> {
        let mut changes = Vec::new();
        if let Some((name, constants)) = &self.program {
            changes.push(Change::Control {
                name: name.clone(),
                constants: constants.clone(),
                file: self.object.map(|object| object.path.into()),
                object: self.object.map(|object| object.bytes),
                pins: asked.pins.to_owned(),
            });
        }
        for (key, value) in &self.settings {
            changes.extend(setting(key, value)?);
        }
        for (file, value) in &self.modules {
            changes.push(Change::Setting {
                old: read(file)?,
                file: file.clone(),
                key: None,
                new: value.clone(),
            });
        }
        if let (Some(new), Target::Device(device)) = (&self.discipline, asked.target) {
            changes.push(Change::Discipline {
                device: device.clone(),
                new: new.clone(),
                old: RootDiscipline::restorable(device)?,
            });
        }
        if let Target::Device(device) = asked.target {
            for (name, value) in &self.radio {
                changes.extend(radio_setting(asked.sys, device, name, value)?);
            }
        }
        if asked.needs_program() || self.is_paced {
            let treatment = self.treatment(asked)?;
            if treatment.has_effect() {
                changes.push(Change::Treatment {
                    treatment,
                    cgroup: asked.target.cgroup()?,
                    pins: asked.pins.to_owned(),
                });
            }
        }
        if !asked.needs_program() {
            changes.extend(self.without_program(asked)?);
        }
        Ok(Plan {
            changes,
            notes: self.notes,
            control: self.control,
            since: self.since,
        })
    }

    /// The treatment of connections by a program.
    fn treatment(&self, asked: &Request<'_>) -> Result<Treatment> {
        let mut treatment = Treatment {
            share: asked.share.unwrap_or(10_000),
            salt: 0,
            peers: asked.target.peers(),
            until_ns: None,
            control: None,
            initial_window: None,
            least_timeout_us: None,
            pacing_rate: self.is_paced.then_some(NO_LIMIT),
        };
        if !asked.needs_program() {
            return Ok(treatment);
        }
        treatment.control.clone_from(&self.control);
        for (name, value) in &self.attributes {
            let number = number_of(name, value)?;
            match *name {
                "initcwnd" => treatment.initial_window = Some(number),
                "rto_min" => treatment.least_timeout_us = Some(number * 1000),
                // Such a way was refused earlier.
                _ => {}
            }
        }
        Ok(treatment)
    }

    /// Changes of routes and settings, which affect all connections, or a route's.
    fn without_program(&self, asked: &Request<'_>) -> Result<Vec<Change>> {
        let mut attributes = self.attributes.clone();
        let mut changes = Vec::new();
        let routes = match asked.target {
            Target::Device(_) => Vec::new(),
            Target::Route(address, prefix) => {
                if let Some(control) = &self.control {
                    attributes.push(("congctl", control.clone()));
                }
                let known = route::exact(*address, *prefix)?;
                if known.is_empty() && !attributes.is_empty() {
                    let mut own = route::own(*address, *prefix)?;
                    let is_v6 = own.is_v6;
                    set_all(&mut own, &attributes);
                    return Ok(vec![Change::Route {
                        is_v6,
                        old: None,
                        new: own.text(),
                    }]);
                }
                known
            }
            Target::All | Target::Cgroup(_) => {
                if let Some(control) = &self.control {
                    changes.extend(setting(CONTROL_KEY, control)?);
                }
                if attributes.is_empty() {
                    Vec::new()
                } else {
                    let mut routes = route::all(false)?;
                    routes.extend(route::all(true)?);
                    routes
                }
            }
        };
        if attributes.is_empty() {
            return Ok(changes);
        }
        if routes.is_empty() {
            return Err(Error::new(
                "this network namespace has no routes that could be changed",
            ));
        }
        changes.extend(routes.into_iter().map(|mut route| {
            let old = route.text();
            set_all(&mut route, &attributes);
            Change::Route {
                is_v6: route.is_v6,
                old: Some(old),
                new: route.text(),
            }
        }));
        Ok(changes)
    }
}

impl Request<'_> {
    fn words(&self) -> String {
        match self.share {
            Some(share) => format!("{} --share {}%", self.target, f64::from(share) / 100.0),
            None => self.target.to_string(),
        }
    }
}

fn set_all(route: &mut Route, attributes: &[(&'static str, String)]) {
    for (name, value) in attributes {
        route.set(name, value);
    }
}

/// A discipline in the syntax of tc(8), with `rate` replacing a parameter's.
fn discipline(words: &str, value: &str, rate: Option<&str>) -> Result<String> {
    let text = match rate {
        None => format!("{words} {value}").trim_end().to_owned(),
        Some(rate) => format!("{words} bandwidth {rate}"),
    };
    Discipline::parse(&text).map_err(|error| match rate {
        None => error,
        Some(rate) => Error::new(format!(
            "--rate {rate}: {} does not shape",
            words.split(' ').next().unwrap_or_default()
        ))
        .remedied_by("airtcp deploy cake --device DEVICE --rate RATE does"),
    })?;
    Ok(text)
}

/// The change of a setting; `None` if it already has the value.
fn setting(key: &str, value: &str) -> Result<Option<Change>> {
    let file = setting_path(key)?;
    let old = read(&file)?;
    Ok((!is_same(&old, value)).then(|| Change::Setting {
        file,
        key: Some(key.to_owned()),
        old,
        new: value.to_owned(),
    }))
}

/// The change of a setting of a device's radio; `None` if it already has the value.
fn radio_setting(sys: &Path, device: &str, name: &str, value: &str) -> Result<Option<Change>> {
    let file = radio::file(sys, device, name)?;
    let old = radio::read(&file)?;
    Ok((old != value).then(|| Change::Radio {
        file,
        old,
        new: value.to_owned(),
    }))
}

fn module_file(module: &str, name: &str) -> PathBuf {
    Path::new("/sys/module")
        .join(module)
        .join("parameters")
        .join(name)
}

fn number_of(name: &str, value: &str) -> Result<u32> {
    value
        .trim_end_matches("ms")
        .parse()
        .map_err(|_| Error::new(format!("{name} {value:?}: expected a whole number")))
}
