//! Distribution of applications over flows, by shares of clients.

use crate::traffic::Traffic;

/// Shares of clients; the remaining flows send without end.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mix {
    /// A share and its traffic; `None` sends without end.
    pub shares: Vec<(f64, Option<Traffic>)>,
}

impl Mix {
    /// The application of each of `flows` flows. Flows are apportioned by largest remainders
    /// (Hamilton's method), ties in the order of the list, and spread evenly over the flows, so
    /// that a flow's application does not depend on its place.
    #[must_use]
    pub fn assign(&self, flows: u32) -> Vec<Option<Traffic>> {
        let quotas = self.quotas(flows);
        let mut given = vec![0_u32; quotas.len()];
        let mut assigned = Vec::with_capacity(flows as usize);
        for flow in 0..flows {
            // The application furthest behind its even spread; the first of several.
            let behind = |place: usize| {
                let due = f64::from(quotas[place]) * f64::from(flow + 1) / f64::from(flows);
                due - f64::from(given[place])
            };
            let open = (0..quotas.len()).filter(|&place| given[place] < quotas[place]);
            let next = open.reduce(|best, place| {
                if behind(place) > behind(best) {
                    place
                } else {
                    best
                }
            });
            match next {
                Some(place) => {
                    given[place] += 1;
                    assigned.push(self.shares[place].1);
                }
                None => assigned.push(None),
            }
        }
        assigned
    }

    /// Number of flows of each kind.
    fn quotas(&self, flows: u32) -> Vec<u32> {
        let exact: Vec<f64> = self
            .shares
            .iter()
            .map(|(share, _)| share * f64::from(flows))
            .collect();
        // A millionth forgives shares that do not add up in binary.
        let mut quotas: Vec<u32> = exact.iter().map(|quota| (quota + 1e-6) as u32).collect();
        let mut by_remainder: Vec<usize> = (0..quotas.len()).collect();
        let remainder = |place: usize| exact[place] - f64::from(quotas[place]);
        by_remainder.sort_by(|&a, &b| remainder(b).total_cmp(&remainder(a)));
        let left = flows.saturating_sub(quotas.iter().sum());
        for place in by_remainder.into_iter().take(left as usize) {
            quotas[place] += 1;
        }
        quotas
    }
}
