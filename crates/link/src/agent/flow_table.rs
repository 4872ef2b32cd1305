//! An agent's state of each connection, for a bounded number of them.
//!
//! When the table is full, the connection that has been idle longest is forgotten. Its state is
//! returned: packets that it holds are to be released, not lost.

use std::num::NonZeroUsize;

use lru::LruCache;

use super::FlowKey;

/// Default bound on the number of connections that an agent tracks.
pub const DEFAULT_FLOW_LIMIT: NonZeroUsize = NonZeroUsize::new(4096).unwrap();

/// States by connection, in the order of their last use.
///
/// Nothing depends on the order of its hash table: only single entries are looked up, and the
/// idlest is found in a list.
#[derive(Debug)]
pub(crate) struct FlowTable<S> {
    limit: NonZeroUsize,
    flows: LruCache<FlowKey, S>,
}

impl<S> FlowTable<S> {
    /// An empty table for `limit` connections. Memory is allocated as they appear.
    pub(crate) fn new(limit: NonZeroUsize) -> Self {
        Self {
            limit,
            flows: LruCache::unbounded(),
        }
    }

    /// Forgets the idlest connection if `flow` is new and there is no room for it. To be called
    /// before [`entry`](Self::entry).
    pub(crate) fn make_room(&mut self, flow: FlowKey) -> Option<(FlowKey, S)> {
        if self.flows.len() < self.limit.get() || self.flows.contains(&flow) {
            return None;
        }
        self.flows.pop_lru()
    }

    /// The state of `flow`, created by `new` if it is missing; counts as use. The bound holds also
    /// if the caller did not make room: then the idlest is dropped.
    pub(crate) fn entry(&mut self, flow: FlowKey, new: impl FnOnce() -> S) -> &mut S {
        self.make_room(flow);
        self.flows.get_or_insert_mut(flow, new)
    }

    /// The state of `flow`; does not count as use.
    pub(crate) fn get(&self, flow: FlowKey) -> Option<&S> {
        self.flows.peek(&flow)
    }

    /// The state of `flow`, to change it; does not count as use.
    pub(crate) fn get_mut(&mut self, flow: FlowKey) -> Option<&mut S> {
        self.flows.peek_mut(&flow)
    }

    /// Forgets `flow`.
    pub(crate) fn remove(&mut self, flow: FlowKey) -> Option<S> {
        self.flows.pop(&flow)
    }

    /// Number of known connections.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.flows.len()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn table(limit: usize) -> FlowTable<u32> {
        FlowTable::new(NonZeroUsize::new(limit).unwrap())
    }

    #[test]
    fn the_idlest_goes_first_and_is_handed_back() {
        let mut flows = table(2);
        assert_eq!(flows.make_room(1), None);
        *flows.entry(1, || 10) += 1;
        flows.entry(2, || 20);
        // 1 is reused, so 2 is the idlest; a lookup does not count as use.
        flows.entry(1, || 0);
        assert_eq!(flows.get(2), Some(&20));
        assert_eq!(flows.get_mut(2), Some(&mut 20));
        assert_eq!(flows.make_room(1), None, "known flows need no room");
        assert_eq!(flows.make_room(3), Some((2, 20)));
        flows.entry(3, || 30);
        assert_eq!((flows.get(1), flows.get(3)), (Some(&11), Some(&30)));
        assert_eq!(flows.remove(1), Some(11));
        assert_eq!((flows.remove(1), flows.len()), (None, 1));
    }

    proptest! {
        /// Against a list in the order of use, scanned from end to end.
        #[test]
        fn follows_a_naive_list(
            limit in 1_usize..6,
            steps in prop::collection::vec((0_u64..10, prop::bool::weighted(0.2)), 0..200),
        ) {
            let mut flows = table(limit);
            let mut list: Vec<u64> = Vec::new();
            for (flow, removed) in steps {
                if removed {
                    let known = list.iter().position(|&other| other == flow);
                    prop_assert_eq!(flows.remove(flow).is_some(), known.is_some());
                    known.map(|place| list.remove(place));
                    continue;
                }
                let expected = if list.contains(&flow) {
                    list.retain(|&other| other != flow);
                    None
                } else if list.len() == limit {
                    Some(list.remove(0))
                } else {
                    None
                };
                list.push(flow);
                prop_assert_eq!(flows.make_room(flow).map(|(flow, _)| flow), expected);
                flows.entry(flow, || 0);
                prop_assert_eq!(flows.len(), list.len());
            }
        }
    }
}
