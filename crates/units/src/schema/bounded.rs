//! Values that cannot lie outside their range: the range is in the type, and so in the error, in
//! the JSON Schema and in the documentation, without being written twice.

use alloc::borrow::Cow;
use alloc::format;
use alloc::string::ToString;
use core::fmt;
use core::marker::PhantomData;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Deserialize, Deserializer, IntoDeserializer, Visitor};
use serde::ser::{Serialize, Serializer};

use crate::{BitRate, ByteCount, Duration};

/// A whole number from `MIN` to `MAX`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Whole<const MIN: u64, const MAX: u64>(u64);

impl<const MIN: u64, const MAX: u64> Whole<MIN, MAX> {
    /// The number, or the nearest bound.
    pub fn clamped(number: u64) -> Self {
        Self(number.clamp(MIN, MAX))
    }

    /// The number; `MAX` fits in 32 bits wherever this is called.
    pub const fn get_u32(self) -> u32 {
        const { assert!(MAX <= u32::MAX as u64) };
        self.0 as u32
    }
}

impl<const MIN: u64, const MAX: u64> Serialize for Whole<MIN, MAX> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u64(self.0)
    }
}

impl<'de, const MIN: u64, const MAX: u64> Deserialize<'de> for Whole<MIN, MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Number<const MIN: u64, const MAX: u64>;

        impl<const MIN: u64, const MAX: u64> Visitor<'_> for Number<MIN, MAX> {
            type Value = Whole<MIN, MAX>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "a whole number from {MIN} to {MAX}")
            }

            fn visit_u64<E: de::Error>(self, number: u64) -> Result<Self::Value, E> {
                if (MIN..=MAX).contains(&number) {
                    Ok(Whole(number))
                } else {
                    Err(E::invalid_value(de::Unexpected::Unsigned(number), &self))
                }
            }

            fn visit_i64<E: de::Error>(self, number: i64) -> Result<Self::Value, E> {
                match u64::try_from(number) {
                    Ok(number) => self.visit_u64(number),
                    Err(_) => Err(E::invalid_value(de::Unexpected::Signed(number), &self)),
                }
            }
        }

        deserializer.deserialize_any(Number)
    }
}

impl<const MIN: u64, const MAX: u64> JsonSchema for Whole<MIN, MAX> {
    fn schema_name() -> Cow<'static, str> {
        format!("WholeNumberFrom{MIN}To{MAX}").into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "integer", "minimum": MIN, "maximum": MAX })
    }
}

/// A real number between two bounds, which are given in millionths.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Real<const MIN_MILLIONTHS: i64, const MAX_MILLIONTHS: i64>(f64);

impl<const MIN: i64, const MAX: i64> Real<MIN, MAX> {
    /// The lower bound.
    pub const MINIMUM: f64 = MIN as f64 / 1e6;
    /// The upper bound.
    pub const MAXIMUM: f64 = MAX as f64 / 1e6;

    /// The number, or the nearest bound.
    pub fn clamped(number: f64) -> Self {
        Self(number.clamp(Self::MINIMUM, Self::MAXIMUM))
    }

    /// The number.
    pub const fn get(self) -> f64 {
        self.0
    }
}

impl<const MIN: i64, const MAX: i64> Serialize for Real<MIN, MAX> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.0)
    }
}

impl<'de, const MIN: i64, const MAX: i64> Deserialize<'de> for Real<MIN, MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Number<const MIN: i64, const MAX: i64>;

        impl<const MIN: i64, const MAX: i64> Visitor<'_> for Number<MIN, MAX> {
            type Value = Real<MIN, MAX>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let (low, high) = (Real::<MIN, MAX>::MINIMUM, Real::<MIN, MAX>::MAXIMUM);
                write!(f, "a number from {low} to {high}")
            }

            fn visit_f64<E: de::Error>(self, number: f64) -> Result<Self::Value, E> {
                // Not a number is in no range.
                if (Self::Value::MINIMUM..=Self::Value::MAXIMUM).contains(&number) {
                    Ok(Real(number))
                } else {
                    Err(E::invalid_value(de::Unexpected::Float(number), &self))
                }
            }

            fn visit_i64<E: de::Error>(self, number: i64) -> Result<Self::Value, E> {
                self.visit_f64(number as f64)
            }

            fn visit_u64<E: de::Error>(self, number: u64) -> Result<Self::Value, E> {
                self.visit_f64(number as f64)
            }
        }

        deserializer.deserialize_any(Number)
    }
}

impl<const MIN: i64, const MAX: i64> JsonSchema for Real<MIN, MAX> {
    fn schema_name() -> Cow<'static, str> {
        format!("NumberFrom{MIN}To{MAX}Millionths").into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "number", "minimum": Self::MINIMUM, "maximum": Self::MAXIMUM
        })
    }
}

/// A quantity with a unit and a bounded integer inside.
pub trait Bounded: Sized + fmt::Display + JsonSchema {
    /// The value inside, in its smallest unit.
    fn inside(&self) -> u64;
    /// The value of a number of smallest units.
    fn of(inside: u64) -> Self;
}

impl Bounded for Duration {
    fn inside(&self) -> u64 {
        self.as_nanos()
    }

    fn of(inside: u64) -> Self {
        Self::from_nanos(inside)
    }
}

impl Bounded for BitRate {
    fn inside(&self) -> u64 {
        self.as_bps()
    }

    fn of(inside: u64) -> Self {
        Self::from_bps(inside)
    }
}

impl Bounded for ByteCount {
    fn inside(&self) -> u64 {
        self.as_bytes()
    }

    fn of(inside: u64) -> Self {
        Self::from_bytes(inside)
    }
}

/// A quantity from `MIN` to `MAX` of its smallest unit (nanoseconds, bits per second, bytes).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Within<Q, const MIN: u64, const MAX: u64>(Q);

/// The schema's keyword for a range of quantities with units, which JSON Schema cannot express.
pub const RANGE: &str = "x-range";

/// Nanoseconds of a microsecond, for the bounds of a [`Span`].
pub const MICROSECOND: u64 = 1_000;
/// Nanoseconds of a millisecond.
pub const MILLISECOND: u64 = 1_000 * MICROSECOND;
/// Nanoseconds of a second.
pub const SECOND: u64 = 1_000 * MILLISECOND;
/// Nanoseconds of a minute.
pub const MINUTE: u64 = 60 * SECOND;
/// Nanoseconds of an hour.
pub const HOUR: u64 = 60 * MINUTE;
/// Nanoseconds of a day.
pub const DAY: u64 = 24 * HOUR;

/// A duration between two numbers of nanoseconds.
pub type Span<const MIN: u64, const MAX: u64> = Within<Duration, MIN, MAX>;
/// A number of bytes between two.
pub type Bytes<const MIN: u64, const MAX: u64> = Within<ByteCount, MIN, MAX>;
/// A rate that moves data: 1 bit/s to 1 Tbit/s.
pub type Rate = Within<BitRate, 1, 1_000_000_000_000>;

impl<Q: Bounded + Copy, const MIN: u64, const MAX: u64> Within<Q, MIN, MAX> {
    /// The quantity, or the nearest bound.
    pub fn clamped(quantity: Q) -> Self {
        Self(Q::of(quantity.inside().clamp(MIN, MAX)))
    }

    /// The quantity.
    pub const fn get(self) -> Q {
        self.0
    }
}

impl<Q: Serialize, const MIN: u64, const MAX: u64> Serialize for Within<Q, MIN, MAX> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de, Q: Bounded + Deserialize<'de>, const MIN: u64, const MAX: u64> Deserialize<'de>
    for Within<Q, MIN, MAX>
{
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let quantity = Q::deserialize(deserializer)?;
        if (MIN..=MAX).contains(&quantity.inside()) {
            return Ok(Self(quantity));
        }
        let (low, high) = (Q::of(MIN), Q::of(MAX));
        Err(de::Error::custom(format_args!(
            "{quantity}: expected from {low} to {high}"
        )))
    }
}

impl<Q: Bounded, const MIN: u64, const MAX: u64> JsonSchema for Within<Q, MIN, MAX> {
    fn schema_name() -> Cow<'static, str> {
        format!("{}From{MIN}To{MAX}", Q::schema_name()).into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = Q::json_schema(generator);
        let (low, high) = (Q::of(MIN), Q::of(MAX));
        schema.insert(RANGE.into(), format!("{low} to {high}").into());
        schema
    }
}

/// A value, or the word "unlimited".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit<T> {
    /// No limit.
    Unlimited,
    /// At most this.
    At(T),
}

const UNLIMITED: &str = "unlimited";

impl<const MIN: u64, const MAX: u64> Limit<Whole<MIN, MAX>> {
    /// The limit, if there is one; `MAX` fits in 32 bits wherever this is called.
    pub fn get_u32(self) -> Option<u32> {
        self.at().map(Whole::get_u32)
    }
}

impl<T> Limit<T> {
    /// The limit, if there is one.
    pub fn at(self) -> Option<T> {
        match self {
            Self::Unlimited => None,
            Self::At(value) => Some(value),
        }
    }
}

impl<T> From<Option<T>> for Limit<T> {
    fn from(limit: Option<T>) -> Self {
        limit.map_or(Self::Unlimited, Self::At)
    }
}

impl<T: Serialize> Serialize for Limit<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Unlimited => serializer.serialize_str(UNLIMITED),
            Self::At(value) => value.serialize(serializer),
        }
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Limit<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ValueOrWord<T>(PhantomData<T>);

        impl<T> ValueOrWord<T> {
            fn value<'de, E: de::Error>(value: impl IntoDeserializer<'de, E>) -> Result<Limit<T>, E>
            where
                T: Deserialize<'de>,
            {
                T::deserialize(value.into_deserializer())
                    .map(Limit::At)
                    .map_err(|error: E| {
                        // TOML's errors end their text with a line break.
                        let error = error.to_string();
                        E::custom(format_args!("{}, or {UNLIMITED:?}", error.trim_end()))
                    })
            }
        }

        impl<'de, T: Deserialize<'de>> Visitor<'de> for ValueOrWord<T> {
            type Value = Limit<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "a value with its unit, or {UNLIMITED:?}")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
                if text == UNLIMITED {
                    Ok(Limit::Unlimited)
                } else {
                    Self::value(text)
                }
            }

            fn visit_u64<E: de::Error>(self, number: u64) -> Result<Self::Value, E> {
                Self::value(number)
            }

            fn visit_i64<E: de::Error>(self, number: i64) -> Result<Self::Value, E> {
                Self::value(number)
            }

            fn visit_f64<E: de::Error>(self, number: f64) -> Result<Self::Value, E> {
                Self::value(number)
            }
        }

        deserializer.deserialize_any(ValueOrWord(PhantomData))
    }
}

impl<T: JsonSchema> JsonSchema for Limit<T> {
    fn schema_name() -> Cow<'static, str> {
        format!("{}OrUnlimited", T::schema_name()).into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({ "anyOf": [T::json_schema(generator), { "const": UNLIMITED }] })
    }
}
