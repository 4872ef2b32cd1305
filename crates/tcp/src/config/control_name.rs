//! The congestion control in a configuration file: a name, or an object file with its constants.

use alloc::borrow::Cow;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use core::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::{MapAccessDeserializer, StrDeserializer};
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use super::CongestionControl;
use super::schema::Written;

/// A program for the kernel's BPF.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BpfControl {
    /// The object file, looked for in the scenario's folder.
    pub bpf: String,
    /// Values of its `const volatile` integers.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub constants: BTreeMap<String, Constant>,
}

/// The value of a constant as it is written: its program limits the numbers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Constant {
    /// A whole number.
    Whole(i64),
    /// Anything else.
    Other(String),
}

impl<'de> Deserialize<'de> for Constant {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Read;

        impl Visitor<'_> for Read {
            type Value = Constant;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a whole number")
            }

            fn visit_i64<E: Error>(self, value: i64) -> Result<Constant, E> {
                Ok(Constant::Whole(value))
            }

            fn visit_u64<E: Error>(self, value: u64) -> Result<Constant, E> {
                let whole = i64::try_from(value).map(Constant::Whole);
                Ok(whole.unwrap_or_else(|_| Constant::Other(value.to_string())))
            }

            fn visit_f64<E: Error>(self, value: f64) -> Result<Constant, E> {
                Ok(Constant::Other(format!("{value:?}")))
            }

            fn visit_bool<E: Error>(self, value: bool) -> Result<Constant, E> {
                Ok(Constant::Other(value.to_string()))
            }

            fn visit_str<E: Error>(self, value: &str) -> Result<Constant, E> {
                Ok(Constant::Other(format!("{value:?}")))
            }
        }

        deserializer.deserialize_any(Read)
    }
}

/// The value of `congestion_control`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum ControlName {
    /// One of ours.
    Known(CongestionControl),
    /// An object file.
    Bpf(BpfControl),
}

impl Written<CongestionControl> for ControlName {
    fn of(setting: &CongestionControl) -> Self {
        Self::Known(*setting)
    }

    /// An object file is read by whoever knows where it is: until then the usual control is.
    fn setting(&self, usual: &CongestionControl) -> CongestionControl {
        match self {
            Self::Known(control) => *control,
            Self::Bpf(_) => *usual,
        }
    }
}

impl<'de> Deserialize<'de> for ControlName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Read;

        impl<'de> Visitor<'de> for Read {
            type Value = ControlName;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a name such as \"cubic\", or { bpf = \"my.bpf.o\" }")
            }

            fn visit_str<E: Error>(self, name: &str) -> Result<ControlName, E> {
                CongestionControl::deserialize(StrDeserializer::new(name)).map(ControlName::Known)
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<ControlName, A::Error> {
                BpfControl::deserialize(MapAccessDeserializer::new(map)).map(ControlName::Bpf)
            }
        }

        deserializer.deserialize_any(Read)
    }
}

impl JsonSchema for ControlName {
    fn schema_name() -> Cow<'static, str> {
        "ControlName".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = CongestionControl::json_schema(generator);
        let object = json_schema!({
            "type": "object",
            "required": ["bpf"],
            "description": "A program for the kernel's BPF: its object file, and its constants.",
        });
        let names = schema
            .get_mut("oneOf")
            .and_then(|names| names.as_array_mut());
        if let Some(names) = names {
            names.push(object.into());
        }
        schema
    }
}
