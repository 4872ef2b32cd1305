//! What is known of the contents of a register or a stack slot.

use crate::mirror::Member;

/// The memory that a pointer leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum To {
    /// The socket.
    Socket,
    /// The arguments.
    Context,
    /// The sample.
    Sample,
    /// What an argument of `cong_control` of this index is, the sample or a number, depends on its
    /// use.
    Argument(u8),
    /// A frame of the stack.
    Stack(u8),
    /// A section of data, by its region.
    Data(u32),
    /// A map itself, not a value in it.
    Map,
    /// Other memory of the program.
    Elsewhere,
}

/// What is known of a value on one path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Value {
    /// Nothing.
    Any,
    /// It is a number, and which.
    Number {
        value: Option<u64>,
        /// The member that it is the offset of, by a CO-RE record.
        member: Option<Member>,
    },
    /// It is an address.
    Pointer {
        to: To,
        /// Bytes from the start of that memory, where known.
        offset: Option<i64>,
        /// The member of the socket that it was made from, by a CO-RE record.
        member: Option<Member>,
        maybe_null: bool,
    },
}

impl Value {
    /// A number that is not known.
    pub const UNKNOWN: Self = Self::number(None);

    pub const fn number(value: Option<u64>) -> Self {
        Self::Number {
            value,
            member: None,
        }
    }

    /// The start of a memory.
    pub const fn start(to: To) -> Self {
        Self::Pointer {
            to,
            offset: Some(0),
            member: None,
            maybe_null: false,
        }
    }

    /// The same, or null.
    pub const fn start_or_null(to: To) -> Self {
        Self::Pointer {
            to,
            offset: Some(0),
            member: None,
            maybe_null: true,
        }
    }

    /// The number, if it is known to be one.
    pub const fn known(self) -> Option<u64> {
        match self {
            Self::Number { value, .. } => value,
            _ => None,
        }
    }

    /// The sum of two values: of an address and a number in either order, or of two numbers.
    pub fn plus(self, other: Self, sum: impl Fn(u64, u64) -> u64) -> Self {
        match (self, other) {
            (Self::Pointer { .. }, Self::Number { value, member }) => self.moved(value, member),
            (Self::Number { value, member }, Self::Pointer { .. }) => other.moved(value, member),
            (
                Self::Number { value: a, member },
                Self::Number {
                    value: b,
                    member: more,
                },
            ) => Self::Number {
                value: a.zip(b).map(|(a, b)| sum(a, b)),
                member: more.or(member),
            },
            _ => Self::Any,
        }
    }

    /// An address moved by a number of bytes.
    pub fn moved(self, by: Option<u64>, made_from: Option<Member>) -> Self {
        match self {
            Self::Pointer {
                to,
                offset,
                member,
                maybe_null,
            } => Self::Pointer {
                to,
                offset: offset
                    .zip(by)
                    .and_then(|(offset, by)| offset.checked_add(by.cast_signed())),
                member: made_from.or(member),
                maybe_null,
            },
            other => other,
        }
    }
}
