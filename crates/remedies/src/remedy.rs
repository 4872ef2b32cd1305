//! Entries of the catalogue.

use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

use crate::changes::Changes;
use crate::{Deployment, Parameter, Quantity, Values};

/// Where a remedy acts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Place {
    /// The TCP endpoint that sends the data.
    Sender,
    /// The TCP endpoint that receives the data.
    Receiver,
    /// The wireless link itself: its queue, its retransmissions.
    Link,
    /// The access point or base station, on packets that pass.
    AccessPoint,
    /// A proxy that ends one TCP connection and begins another.
    Proxy,
}

impl Place {
    /// The name as users read and write it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sender => "sender",
            Self::Receiver => "receiver",
            Self::Link => "link",
            Self::AccessPoint => "access-point",
            Self::Proxy => "proxy",
        }
    }
}

/// A named change to TCP or to the link.
#[derive(Clone, Copy, Debug)]
pub struct Remedy {
    /// The name, in kebab-case.
    pub name: &'static str,
    /// Where it acts.
    pub place: Place,
    /// Its effect, in a line.
    pub effect: &'static str,
    /// The paper or standard it comes from, with its section.
    pub source: &'static str,
    /// Its parameters.
    pub parameters: &'static [Parameter],
    /// Its deployment on a real system.
    pub deployment: Deployment,
    /// The choice it makes. Two remedies that make the same choice cannot be combined.
    pub decides: &'static str,
    /// Makes the changes besides the keys that its parameters set.
    pub(crate) apply: fn(&Values<'_>, &mut Changes<'_>),
}

impl Remedy {
    /// One that changes nothing yet, for a row of a table.
    pub(crate) const fn new(name: &'static str, place: Place) -> Self {
        Self {
            name,
            place,
            effect: "",
            source: "",
            parameters: &[],
            deployment: Deployment::none(""),
            decides: "",
            apply: |_, _| {},
        }
    }

    pub(crate) const fn effect(self, effect: &'static str) -> Self {
        Self { effect, ..self }
    }

    pub(crate) const fn from(self, source: &'static str) -> Self {
        Self { source, ..self }
    }

    pub(crate) const fn decides(self, decides: &'static str) -> Self {
        Self { decides, ..self }
    }

    pub(crate) const fn takes(self, parameters: &'static [Parameter]) -> Self {
        Self { parameters, ..self }
    }

    /// Other keys that it sets, besides its parameters.
    pub(crate) const fn sets(self, apply: fn(&Values<'_>, &mut Changes<'_>)) -> Self {
        Self { apply, ..self }
    }

    pub(crate) const fn by(self, deployment: Deployment) -> Self {
        Self { deployment, ..self }
    }

    /// It cannot be deployed, for this reason.
    pub(crate) const fn no_way(self, reason: &'static str) -> Self {
        self.by(Deployment::none(reason))
    }

    /// The parameters' defaults, in their order.
    pub fn defaults(&self) -> Vec<Quantity> {
        self.parameters.iter().map(|one| one.default).collect()
    }

    /// The deployment in sentences, with the parameters at their defaults.
    pub fn deployment_text(&self) -> String {
        self.deployment.text(&Values {
            parameters: self.parameters,
            quantities: &self.defaults(),
        })
    }
}

impl Serialize for Remedy {
    /// Serializes the entry for programs. The deployment appears twice: as data in `ways`, and as
    /// sentences, with the parameters at their defaults, in `deployment`. `agent` is the program
    /// that implements it between the endpoints.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut entry = serializer.serialize_struct("Remedy", 9)?;
        entry.serialize_field("name", self.name)?;
        entry.serialize_field("place", &self.place)?;
        entry.serialize_field("effect", self.effect)?;
        entry.serialize_field("source", self.source)?;
        entry.serialize_field("parameters", self.parameters)?;
        entry.serialize_field("deployment", &self.deployment_text())?;
        entry.serialize_field("ways", self.deployment.ways)?;
        entry.serialize_field("agent", &self.deployment.agent)?;
        entry.serialize_field("decides", self.decides)?;
        entry.end()
    }
}
