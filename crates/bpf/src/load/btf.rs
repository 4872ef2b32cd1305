//! Types of an object file (BTF, Documentation/bpf/btf.rst).

use alloc::string::String;
use alloc::vec::Vec;

use crate::trace::until_zero;

/// Deepest chain of typedefs, qualifiers and arrays that is followed: damaged types may be circles.
const MAX_DEPTH: u32 = 32;

/// A member of a structure or union.
#[derive(Clone, Debug)]
pub struct Member {
    /// Its name; empty for an anonymous structure.
    pub name: String,
    /// Its type.
    pub ty: u32,
    /// Offset in bits.
    pub bit: u32,
    /// Bits of a bit field; 0 for any other.
    pub bits: u32,
}

/// A type, as far as it matters here.
#[derive(Clone, Debug)]
pub enum Type {
    Other,
    Integer {
        size: u32,
        signed: bool,
    },
    Pointer(u32),
    Array {
        of: u32,
        count: u32,
    },
    Record {
        name: String,
        size: u32,
        members: Vec<Member>,
    },
    Alias(u32),
    Volatile(u32),
    Enumeration {
        name: String,
        size: u32,
        values: Vec<(String, i64)>,
    },
    Variable {
        name: String,
        ty: u32,
    },
    Prototype {
        parameters: usize,
    },
    Section {
        name: String,
        variables: Vec<u32>,
    },
}

/// All types of an object.
#[derive(Debug)]
pub struct Types {
    types: Vec<Type>,
    strings: Vec<u8>,
}

/// Four bytes at an offset.
pub fn word(bytes: &[u8], at: usize) -> Option<u32> {
    let chunk = bytes.get(at..)?.first_chunk::<4>()?;
    Some(u32::from_le_bytes(*chunk))
}

/// `length` bytes at an offset.
fn range(bytes: &[u8], start: usize, offset: u32, length: u32) -> Option<&[u8]> {
    let start = start.checked_add(offset as usize)?;
    bytes.get(start..start.checked_add(length as usize)?)
}

impl Types {
    /// Reads section `.BTF`; `None` if it is damaged.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        if bytes.get(..2)? != [0x9f, 0xeb] {
            return None;
        }
        let header = word(bytes, 4)? as usize;
        let types = range(bytes, header, word(bytes, 8)?, word(bytes, 12)?)?;
        let strings = range(bytes, header, word(bytes, 16)?, word(bytes, 20)?)?;
        let mut read = Self {
            types: alloc::vec![Type::Other],
            strings: strings.to_vec(),
        };
        let mut at = 0;
        while at < types.len() {
            let (ty, length) = read.next(types.get(at..)?)?;
            read.types.push(ty);
            at = at.checked_add(length)?;
        }
        Some(read)
    }

    /// Reads the type that `bytes` begin with, and its length.
    fn next(&self, bytes: &[u8]) -> Option<(Type, usize)> {
        let (name, info, third) = (word(bytes, 0)?, word(bytes, 4)?, word(bytes, 8)?);
        let count = (info & 0xffff) as usize;
        let name = || self.string(name);
        let rows = |width: usize| rows(bytes.get(12..)?, count, width);
        Some(match info >> 24 & 0x1f {
            1 => {
                let signed = word(bytes, 12)? >> 24 & 1 == 1;
                (
                    Type::Integer {
                        size: third,
                        signed,
                    },
                    16,
                )
            }
            2 => (Type::Pointer(third), 12),
            3 => {
                let (of, count) = (word(bytes, 12)?, word(bytes, 20)?);
                (Type::Array { of, count }, 24)
            }
            4 | 5 => {
                let packed = info >> 31 == 1;
                let member = |[name, ty, offset]: [u32; 3]| Member {
                    name: self.string(name),
                    ty,
                    bit: if packed { offset & 0xff_ffff } else { offset },
                    bits: if packed { offset >> 24 } else { 0 },
                };
                let members = rows(12)?.map(member).collect();
                let (name, size) = (name(), third);
                (
                    Type::Record {
                        name,
                        size,
                        members,
                    },
                    12 + 12 * count,
                )
            }
            6 => {
                let value = |[name, value, _]: [u32; 3]| {
                    (self.string(name), i64::from(value.cast_signed()))
                };
                let values = rows(8)?.map(value).collect();
                let (name, size) = (name(), third);
                (Type::Enumeration { name, size, values }, 12 + 8 * count)
            }
            9 => (Type::Volatile(third), 12),
            8 | 10 | 11 | 18 => (Type::Alias(third), 12),
            7 | 12 | 16 => (Type::Other, 12),
            13 => (Type::Prototype { parameters: count }, 12 + 8 * count),
            14 => (
                Type::Variable {
                    name: name(),
                    ty: third,
                },
                16,
            ),
            15 => {
                let variables = rows(12)?.map(|[variable, ..]| variable).collect();
                (
                    Type::Section {
                        name: name(),
                        variables,
                    },
                    12 + 12 * count,
                )
            }
            17 => (Type::Other, 16),
            19 => {
                let value = |[name, low, high]: [u32; 3]| {
                    let value = u64::from(high) << 32 | u64::from(low);
                    (self.string(name), value.cast_signed())
                };
                let values = rows(12)?.map(value).collect();
                let (name, size) = (name(), third);
                (Type::Enumeration { name, size, values }, 12 + 12 * count)
            }
            _ => return None,
        })
    }

    /// The string at an offset; empty if the offset is out of range.
    pub fn string(&self, at: u32) -> String {
        until_zero(self.strings.get(at as usize..).unwrap_or(&[]))
    }

    /// All types in order, from number 0.
    pub fn iter(&self) -> impl Iterator<Item = &Type> {
        self.types.iter()
    }

    /// A type without its typedefs and qualifiers, and whether one of them is `volatile`.
    pub fn plain(&self, mut number: u32) -> (&Type, bool) {
        let mut volatile = false;
        for _ in 0..MAX_DEPTH {
            match self.types.get(number as usize) {
                Some(Type::Alias(to)) => number = *to,
                Some(Type::Volatile(to)) => (number, volatile) = (*to, true),
                Some(found) => return (found, volatile),
                None => break,
            }
        }
        (&Type::Other, volatile)
    }

    /// Whether a type is `volatile`; of an array, its elements.
    pub fn is_volatile(&self, mut number: u32) -> bool {
        for _ in 0..MAX_DEPTH {
            match self.plain(number) {
                (_, true) => return true,
                (Type::Array { of, .. }, false) => number = *of,
                _ => return false,
            }
        }
        false
    }

    /// A type without its typedefs and qualifiers.
    pub fn get(&self, number: u32) -> &Type {
        self.plain(number).0
    }

    /// Bytes of a type; 0 if it has no size.
    pub fn size(&self, mut number: u32) -> u32 {
        let mut count = 1_u32;
        for _ in 0..MAX_DEPTH {
            let size = match self.get(number) {
                Type::Integer { size, .. }
                | Type::Enumeration { size, .. }
                | Type::Record { size, .. } => *size,
                Type::Pointer(_) => 8,
                Type::Array { of, count: more } => {
                    count = count.saturating_mul(*more);
                    number = *of;
                    continue;
                }
                _ => 0,
            };
            return size.saturating_mul(count);
        }
        0
    }
}

/// The three words of each of `count` rows of `width` bytes; a row of two words has a zero.
fn rows(bytes: &[u8], count: usize, width: usize) -> Option<impl Iterator<Item = [u32; 3]>> {
    let bytes = bytes.get(..count.checked_mul(width)?)?;
    Some(bytes.chunks_exact(width).map(|row| {
        let at = |index: usize| word(row, 4 * index).unwrap_or(0);
        [at(0), at(1), at(2)]
    }))
}
