//! The paths of one operation, and what is found of its arguments along them.

use crate::mirror::Member;
use crate::program::{Operation, Program};

/// How an operation uses its arguments, by bit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Used {
    /// Arguments that it reads.
    pub read: u8,
    /// Arguments that it takes for an address.
    pub as_sample: u8,
}

/// The paths of one operation.
pub struct Path<'a> {
    pub program: &'a Program,
    pub operation: Operation,
    /// Its use of the arguments so far.
    pub used: Used,
}

impl Path<'_> {
    /// The member whose offset an instruction holds, by a CO-RE record.
    pub fn member(&self, at: usize) -> Option<Member> {
        self.program.origins.relocated.get(&at).copied().flatten()
    }
}
