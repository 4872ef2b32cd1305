//! A quantity as text: a decimal number and a unit, read exactly and written briefly.

use alloc::format;
use alloc::string::{String, ToString};
use core::fmt;

/// One unit and its size.
pub(crate) struct Unit {
    /// The spellings that are read; the first is the one that is written.
    pub names: &'static [&'static str],
    /// The value in the smallest unit.
    pub size: u64,
}

/// The text form of a kind of quantity.
pub(crate) struct Expected {
    /// The expectation that an error message names.
    pub what: &'static str,
    /// Every unit it may carry.
    pub units: &'static [Unit],
    /// The text of zero.
    pub zero: &'static str,
    /// A word for one particular value.
    pub word: Option<(&'static str, u64)>,
    /// Whether an integer without a unit is a count of the smallest unit.
    pub bare_integer: bool,
}

/// A type that is an integer of its smallest unit inside and text with a unit outside.
pub(crate) trait Quantity: Copy {
    /// Its text form.
    const EXPECTED: Expected;
    /// From a count of the smallest unit.
    fn from_base(base: u64) -> Self;
    /// To a count of the smallest unit.
    fn to_base(self) -> u64;
}

/// Text that does not parse as the expected quantity. The message names the text, the expectation,
/// and the available units.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    message: String,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl core::error::Error for ParseError {}

/// Longest stretch of the user's text that an error quotes, in characters.
const QUOTED_CHARACTERS: usize = 40;

impl ParseError {
    /// `text` is not `expected`.
    pub(crate) fn of_text(text: &str, expected: impl fmt::Display) -> Self {
        let message = match text.char_indices().nth(QUOTED_CHARACTERS) {
            Some((cut, _)) => format!("{:?}...: expected {expected}", &text[..cut]),
            None => format!("{text:?}: expected {expected}"),
        };
        Self { message }
    }

    /// `number` is not `expected`.
    pub(crate) fn of_number(number: impl fmt::Display, expected: impl fmt::Display) -> Self {
        Self {
            message: format!("{number}: expected {expected}"),
        }
    }
}

impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (units ", self.what)?;
        for (index, unit) in self.units.iter().enumerate() {
            let separator = if index == 0 { "" } else { ", " };
            write!(f, "{separator}{}", unit.names[0])?;
        }
        f.write_str(")")
    }
}

/// Reads `text` as a count of the smallest unit, rounded to the nearest, halves up.
pub(crate) fn parse<Q: Quantity>(text: &str) -> Result<Q, ParseError> {
    let expected = Q::EXPECTED;
    let trimmed = text.trim();
    if let Some((word, base)) = expected.word
        && trimmed == word
    {
        return Ok(Q::from_base(base));
    }
    let after_number = trimmed
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(trimmed.len());
    let (number, unit) = trimmed.split_at(after_number);
    let unit = unit.trim_start();
    let Some(decimal) = Decimal::parse(number) else {
        return Err(ParseError::of_text(text, expected));
    };
    let size = match expected
        .units
        .iter()
        .find(|known| known.names.contains(&unit))
    {
        Some(known) => known.size,
        None if unit.is_empty() && expected.bare_integer && decimal.fraction.is_empty() => 1,
        None if unit.is_empty() => {
            return Err(ParseError::of_text(
                text,
                format_args!("a unit: {expected}"),
            ));
        }
        None => return Err(ParseError::of_text(text, expected)),
    };
    match decimal.times(size) {
        Some(base) => Ok(Q::from_base(base)),
        None => Err(ParseError::of_text(
            text,
            format_args!("a smaller value: {expected}"),
        )),
    }
}

/// The digits of an unsigned decimal number.
struct Decimal<'a> {
    whole: &'a str,
    fraction: &'a str,
}

impl<'a> Decimal<'a> {
    /// Splits digits at their point; both sides of a point need a digit.
    fn parse(number: &'a str) -> Option<Self> {
        let is_digits = |part: &str| !part.is_empty() && !part.contains('.');
        let (whole, fraction) = match number.split_once('.') {
            Some((whole, fraction)) if is_digits(fraction) => (whole, fraction),
            Some(_) => return None,
            None => (number, ""),
        };
        is_digits(whole).then_some(Self { whole, fraction })
    }

    /// This number times `size`, rounded to the nearest integer, halves up; `None` on overflow.
    fn times(&self, size: u64) -> Option<u64> {
        // 10^24 times the largest unit (an hour, 3.6e12 ns) still fits in 128 bits, and the digits
        // left out weigh less than 1e-11 of the smallest unit.
        const MAX_FRACTION_DIGITS: usize = 24;
        let fraction = &self.fraction[..self.fraction.len().min(MAX_FRACTION_DIGITS)];
        let scale = 10_u128.pow(fraction.len() as u32);
        let numerator = if fraction.is_empty() {
            0
        } else {
            fraction.parse::<u128>().ok()?
        };
        let rounded_fraction = (numerator * u128::from(size) + scale / 2) / scale;
        let whole = self.whole.parse::<u64>().ok()?.checked_mul(size)?;
        whole.checked_add(u64::try_from(rounded_fraction).ok()?)
    }
}

/// Writes `quantity` in the unit that needs the fewest characters for the exact number, the larger
/// unit when two need as many.
pub(crate) fn write<Q: Quantity>(quantity: Q, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let base = quantity.to_base();
    let expected = Q::EXPECTED;
    if base == 0 {
        return f.pad(expected.zero);
    }
    if let Some((word, value)) = expected.word
        && value == base
    {
        return f.pad(word);
    }
    let shortest = expected
        .units
        .iter()
        .filter_map(|unit| Some((exact_number(base, unit.size)?, unit)))
        .min_by_key(|(number, unit)| (number.len(), core::cmp::Reverse(unit.size)));
    match shortest {
        Some((number, unit)) => f.pad(&format!("{number} {}", unit.names[0])),
        None => f.pad(expected.zero),
    }
}

/// `base / size` as an exact decimal of at least 1; `None` when it is less, or has too many digits
/// to be worth reading.
fn exact_number(base: u64, size: u64) -> Option<String> {
    const MAX_FRACTION_DIGITS: usize = 9;
    let (whole, mut rest) = (base / size, u128::from(base % size));
    if whole == 0 {
        return None;
    }
    let mut number = whole.to_string();
    for index in 0..=MAX_FRACTION_DIGITS {
        if rest == 0 {
            return Some(number);
        }
        if index == 0 {
            number.push('.');
        }
        rest *= 10;
        number.push(char::from(b'0' + (rest / u128::from(size)) as u8));
        rest %= u128::from(size);
    }
    None
}

/// Gives a [`Quantity`] the traits that read and write its text.
macro_rules! read_and_write_as_text {
    ($type:ty) => {
        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                text::write(*self, f)
            }
        }

        impl FromStr for $type {
            type Err = ParseError;

            fn from_str(text: &str) -> Result<Self, ParseError> {
                text::parse(text)
            }
        }
    };
}

pub(crate) use read_and_write_as_text;
