//! A bounded number of connections, the idlest forgotten first.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;

use crate::agent::FlowKey;

/// States by connection, and the order of their last use.
#[derive(Debug)]
pub struct FlowTable<S> {
    limit: NonZeroUsize,
    flows: BTreeMap<FlowKey, (u64, S)>,
    by_use: BTreeMap<u64, FlowKey>,
    uses: u64,
}

impl<S> FlowTable<S> {
    /// An empty table for `limit` connections. Memory is taken as they come.
    pub fn new(limit: NonZeroUsize) -> Self {
        Self {
            limit,
            flows: BTreeMap::new(),
            by_use: BTreeMap::new(),
            uses: 0,
        }
    }

    /// Forgets the idlest connection if `flow` is new and there is no room for it. To be called
    /// before [`entry`](Self::entry).
    pub fn make_room(&mut self, flow: FlowKey) -> Option<(FlowKey, S)> {
        if self.flows.len() < self.limit.get() || self.flows.contains_key(&flow) {
            return None;
        }
        let (_, idlest) = self.by_use.pop_first()?;
        let (_, state) = self.flows.remove(&idlest)?;
        Some((idlest, state))
    }

    /// The state of `flow`, made by `new` if there is none; counts as use.
    pub fn entry(&mut self, flow: FlowKey, new: impl FnOnce() -> S) -> &mut S {
        self.uses += 1;
        let uses = self.uses;
        let (used, state) = self.flows.entry(flow).or_insert_with(|| (uses, new()));
        self.by_use.remove(used);
        *used = uses;
        self.by_use.insert(uses, flow);
        state
    }

    /// The state of `flow`, to change it; does not count as use.
    pub fn get_mut(&mut self, flow: FlowKey) -> Option<&mut S> {
        self.flows.get_mut(&flow).map(|(_, state)| state)
    }

    /// Forgets `flow`.
    pub fn remove(&mut self, flow: FlowKey) -> Option<S> {
        let (used, state) = self.flows.remove(&flow)?;
        self.by_use.remove(&used);
        Some(state)
    }

    /// How many connections it knows.
    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.flows.len()
    }
}
