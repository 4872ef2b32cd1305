//! What the instructions had before they were linked.

use alloc::collections::{BTreeMap, BTreeSet};

use crate::mirror::Member;

/// What the instructions had before they were linked.
#[derive(Clone, Debug, Default)]
pub struct Origins {
    /// Instructions with a CO-RE record towards the socket; the member of each whose value is its
    /// offset.
    pub relocated: BTreeMap<usize, Option<Member>>,
    /// Instructions with the address of data or of a map.
    pub addresses: BTreeSet<usize>,
}
