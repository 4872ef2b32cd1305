//! A congestion control that this process has registered, as a remedy: `python:MyControl`.

use std::sync::{Mutex, PoisonError};

use airtcp_tcp::Config;
use airtcp_tcp::config::CongestionControl;
use airtcp_tcp::external::{ExternalControl, Source};

use crate::choices::WINDOW;
use crate::{Deployment, Place, Remedy};

/// The word before the class's name.
pub const PREFIX: &str = "python:";

/// A control and its remedy.
#[derive(Debug)]
pub(crate) struct RegisteredControl {
    remedy: Remedy,
    control: ExternalControl,
}

/// Every control registered so far: remedies and configurations are plain values that refer to
/// them.
static CONTROLS: Mutex<Vec<&'static RegisteredControl>> = Mutex::new(Vec::new());

/// Registers a control for the rest of the process, and returns the name of its remedy. A second
/// control of the same name gets a number: a remedy's name always means the same control.
pub fn register(source: Box<dyn Source>) -> &'static str {
    let mut controls = CONTROLS.lock().unwrap_or_else(PoisonError::into_inner);
    let first = format!("{PREFIX}{}", source.name());
    let numbered = (2..).map(|number| format!("{first}-{number}"));
    let name = std::iter::once(first.clone())
        .chain(numbered)
        .find(|name| controls.iter().all(|known| known.remedy.name != name))
        .unwrap_or(first);
    let effect = format!("the congestion control {} in Python", source.name());
    let registered: &'static RegisteredControl = Box::leak(Box::new(RegisteredControl {
        remedy: Remedy {
            name: String::leak(name),
            place: Place::Sender,
            effect: String::leak(effect),
            source: "a class of this process",
            parameters: &[],
            deployment: Deployment::none(
                "a class in Python cannot be deployed: write the same control as a .bpf.c, which \
                 --bpf simulates and the kernel loads (docs/guides/own-control.md)",
            ),
            decides: WINDOW,
            apply: |_, _| {},
        },
        control: ExternalControl::keep(source),
    }));
    controls.push(registered);
    registered.remedy.name
}

/// Whether a remedy is such a control.
#[must_use]
pub fn is_registered(remedy: &Remedy) -> bool {
    remedy.name.starts_with(PREFIX)
}

impl RegisteredControl {
    /// The control with this name, without the prefix.
    pub(crate) fn named(name: &str) -> Result<&'static Self, String> {
        Self::find(|remedy| remedy.name.strip_prefix(PREFIX) == Some(name)).ok_or_else(|| {
            format!(
                "{PREFIX}{name}: no such class in this process; give the class itself, as in \
                 airtcp.run(…, control={name})"
            )
        })
    }

    /// The control that a remedy is, if it is one.
    pub(crate) fn of(remedy: &Remedy) -> Option<&'static Self> {
        is_registered(remedy)
            .then(|| Self::find(|known| std::ptr::eq(known, remedy)))
            .flatten()
    }

    fn find(is_it: impl Fn(&Remedy) -> bool) -> Option<&'static Self> {
        let controls = CONTROLS.lock().unwrap_or_else(PoisonError::into_inner);
        controls.iter().find(|known| is_it(&known.remedy)).copied()
    }

    /// The remedy.
    pub(crate) const fn remedy(&'static self) -> &'static Remedy {
        &self.remedy
    }

    /// Sets the control.
    pub(crate) fn apply(&self, tcp: &mut Config) {
        tcp.congestion = CongestionControl::External(self.control);
    }
}

#[cfg(test)]
mod tests {
    use airtcp_tcp::external::Operations;

    use super::*;

    #[derive(Debug)]
    struct Named(&'static str);

    impl Source for Named {
        fn name(&self) -> &str {
            self.0
        }

        fn operations(&self) -> Box<dyn Operations> {
            unreachable!("no connection is made")
        }
    }

    #[test]
    fn a_name_always_means_the_same_control() {
        let first = register(Box::new(Named("Mine")));
        let second = register(Box::new(Named("Mine")));
        assert_eq!((first, second), ("python:Mine", "python:Mine-2"));
        let applied = |name: &str| {
            let mut tcp = Config::default();
            assert!(crate::parse(name).unwrap().apply(&mut tcp).is_empty());
            tcp.congestion
        };
        assert_eq!(applied(first), applied(first));
        assert_ne!(applied(first), applied(second));
    }

    #[test]
    fn a_name_that_is_not_registered_is_refused() {
        let error = crate::parse("python:Other").unwrap_err().to_string();
        assert!(error.contains("no such class in this process"), "{error}");
        register(Box::new(Named("Alone")));
        let error = crate::parse("python:Alone+cubic").unwrap_err().to_string();
        assert!(
            error.contains("how large the congestion window is"),
            "{error}"
        );
        let error = crate::parse("python:Alone:a=1").unwrap_err().to_string();
        assert!(
            error.contains("unknown parameter") || error.contains("no parameters"),
            "{error}"
        );
    }
}
