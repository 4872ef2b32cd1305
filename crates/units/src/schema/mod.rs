//! Quantities in a configuration file: read and written as text, described by a JSON Schema, and
//! [bounded].

pub mod bounded;
mod probability;
pub mod written;

use alloc::borrow::Cow;
use alloc::format;
use alloc::string::ToString;
use alloc::vec::Vec;
use core::fmt;
use core::marker::PhantomData;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Deserialize, Deserializer, Visitor};
use serde::ser::{Serialize, Serializer};

use crate::text::{self, ParseError, Quantity};
use crate::{BitRate, ByteCount, Duration, Instant};

/// Gives each [`Quantity`] the traits of a configuration file; the texts are examples of it.
macro_rules! in_a_file {
    ($($type:ident: $examples:expr;)+) => {$(
        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                deserialize(from)
            }
        }

        impl JsonSchema for $type {
            fn schema_name() -> Cow<'static, str> {
                stringify!($type).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                schema::<Self>(&$examples)
            }
        }
    )+};
}

in_a_file! {
    BitRate: ["11 Mbit/s", "384 kbit/s", "1 Gbit/s"];
    ByteCount: ["64 kB", "1 MiB", "10 B"];
    Duration: ["15 ms", "1.5 s", "250 us", "2 min"];
    Instant: ["1.5 s", "250 ms", "never"];
}

/// Reads a quantity from a self-describing format: text, or a bare integer where that is allowed.
fn deserialize<'de, Q: Quantity, D: Deserializer<'de>>(deserializer: D) -> Result<Q, D::Error> {
    deserializer.deserialize_any(QuantityVisitor(PhantomData))
}

struct QuantityVisitor<Q>(PhantomData<Q>);

impl<Q: Quantity> Visitor<'_> for QuantityVisitor<Q> {
    type Value = Q;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&Q::EXPECTED, f)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Q, E> {
        text::parse(text).map_err(E::custom)
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<Q, E> {
        if Q::EXPECTED.bare_integer {
            Ok(Q::from_base(number))
        } else {
            Err(E::custom(ParseError::of_number(
                number,
                format_args!("text with a unit: {}", Q::EXPECTED),
            )))
        }
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<Q, E> {
        match u64::try_from(number) {
            Ok(number) => self.visit_u64(number),
            Err(_) => Err(E::custom(ParseError::of_number(number, Q::EXPECTED))),
        }
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<Q, E> {
        Err(E::custom(ParseError::of_number(
            number,
            format_args!("text with a unit: {}", Q::EXPECTED),
        )))
    }
}

/// The JSON schema of a quantity: its text, and the bare integer where that is allowed.
fn schema<Q: Quantity>(examples: &[&str]) -> Schema {
    let expected = Q::EXPECTED;
    let names: Vec<&str> = expected
        .units
        .iter()
        .flat_map(|unit| unit.names.iter().copied())
        .collect();
    let word = expected
        .word
        .map_or(Cow::Borrowed(""), |(word, _)| format!("{word}|").into());
    let pattern = format!(
        r"^\s*({word}[0-9]+(\.[0-9]+)?\s*({names}))\s*$",
        names = names.join("|")
    );
    let text = json_schema!({ "type": "string", "pattern": pattern });
    let mut schema = if expected.bare_integer {
        json_schema!({ "anyOf": [text, { "type": "integer", "minimum": 0 }] })
    } else {
        text
    };
    schema.insert("description".into(), expected.to_string().into());
    schema.insert("examples".into(), examples.into());
    schema
}
