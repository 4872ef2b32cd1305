//! A congestion control from an object file of the user's, for the commands of an emulated link.

use airtcp_host::bpf::{self, Program, Registered};
use airtcp_host::error::Result;
use airtcp_host::namespace::Namespace;
use airtcp_host::tcp_settings::{DEFAULT_CONTROL, setting_path, write};
use airtcp_remedies::Place;
use airtcp_remedies::bpf::Object;
use airtcp_scenario::Scenario;
use airtcp_tcp::config::CongestionControl;

/// A control registered with the kernel while this value lives, under a name of this process.
pub struct OwnControl {
    name: String,
    _registered: Registered,
}

impl OwnControl {
    /// The control that the scenario or a remedy names by an object file, if one does.
    ///
    /// # Errors
    ///
    /// The kernel refuses the program, or this user may not load any.
    pub fn of(scenario: &Scenario) -> Result<Option<Self>> {
        let CongestionControl::External(control) = scenario.tcp.congestion else {
            return Ok(None);
        };
        let Some((object, constants)) = Object::behind(control) else {
            return Ok(None);
        };
        bpf::allowed()?;
        let program = Program {
            control: object.control_name(),
            object: Some(object.bytes()),
        };
        let name = program.own_name();
        let registered = Registered::new(program, &name, &constants)?;
        Ok(Some(Self {
            name,
            _registered: registered,
        }))
    }

    /// Makes it the default of a namespace.
    ///
    /// # Errors
    ///
    /// The control is not for all users; the error has the remedy.
    pub fn make_default(&self, namespace: &Namespace) -> Result<()> {
        namespace.enter(|| write(&setting_path(DEFAULT_CONTROL)?, &self.name))
    }
}

/// A warning for each remedy that is a setting of the commands' TCP, which is not touched.
pub fn warnings(scenario: &Scenario) -> Vec<String> {
    let remedies = scenario.remedies.as_slice().iter().map(|one| one.remedy);
    remedies
        .filter(|remedy| matches!(remedy.place, Place::Sender | Place::Receiver))
        .filter(|remedy| !remedy.name.starts_with(airtcp_remedies::bpf::PREFIX))
        .map(|remedy| {
            format!(
                "{}: acts in the {}'s TCP, which is that of your command; the link is emulated \
                 without it (airtcp list remedies {0} has its deployment)",
                remedy.name,
                remedy.place.name()
            )
        })
        .collect()
}
