//! An amount of data.

use core::fmt;
use core::str::FromStr;

use crate::text::{self, Expected, ParseError, Quantity, Unit};

/// A number of bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ByteCount(u64);

impl ByteCount {
    /// `bytes` bytes.
    #[inline]
    #[must_use]
    pub const fn from_bytes(bytes: u64) -> Self {
        Self(bytes)
    }

    /// The number of bytes.
    #[inline]
    #[must_use]
    pub const fn as_bytes(self) -> u64 {
        self.0
    }
}

impl Quantity for ByteCount {
    const EXPECTED: Expected = Expected {
        what: "a number of bytes such as \"64 kB\" or 1448",
        units: &[
            Unit {
                names: &["B"],
                size: 1,
            },
            Unit {
                names: &["kB"],
                size: 1_000,
            },
            Unit {
                names: &["MB"],
                size: 1_000_000,
            },
            Unit {
                names: &["GB"],
                size: 1_000_000_000,
            },
            Unit {
                names: &["KiB"],
                size: 1 << 10,
            },
            Unit {
                names: &["MiB"],
                size: 1 << 20,
            },
            Unit {
                names: &["GiB"],
                size: 1 << 30,
            },
        ],
        zero: "0 B",
        word: None,
        bare_integer: true,
    };

    fn from_base(base: u64) -> Self {
        Self(base)
    }

    fn to_base(self) -> u64 {
        self.0
    }
}

text::read_and_write_as_text!(ByteCount);
