//! What an endpoint is known to get wrong under attack: such a failure is counted and shown, and
//! fails no test. An entry goes when its error is mended.

use airtcp_tcp::config::CongestionControl;

use super::harness::plan::{Operation, Plan, Treatment};

/// An error: how its failures begin, which plans can meet it, and what it is.
pub struct Known {
    pub begins: &'static str,
    pub meets: fn(&Plan) -> bool,
    pub what: &'static str,
}

pub const KNOWN: [Known; 5] = [
    Known {
        begins: "wasteful:",
        meets: rewrites_windows,
        what: "a window that shuts and opens again has the whole flight sent once more",
    },
    Known {
        begins: "assertion failed: counters.timeouts_judged_spurious <= counters.timeouts",
        meets: rewrites_windows,
        what: "a window that opens again counts as a timeout, which may then be judged spurious",
    },
    Known {
        begins: "no timer:",
        meets: paces,
        what: "no timer runs where the pace holds data back and the window shuts",
    },
    Known {
        begins: "stall",
        meets: |plan| paces(plan) && rewrites_windows(plan),
        what: "BBR stays at a segment in half a second for ever, once a window has shut and opened",
    },
    Known {
        begins: "attempt to add with overflow",
        meets: rewrites_windows,
        what: "a window grows beyond all bounds, after one has shut and opened",
    },
];

fn rewrites_windows(plan: &Plan) -> bool {
    plan.steps.iter().any(|step| match step.operation {
        Operation::Treat { treatment, .. } => matches!(treatment, Treatment::Window { .. }),
        Operation::Freeze { .. } | Operation::Forge { .. } | Operation::Replay { .. } => true,
        _ => false,
    })
}

fn paces(plan: &Plan) -> bool {
    plan.configs.iter().any(|config| {
        let model = matches!(
            config.congestion,
            CongestionControl::Bbr | CongestionControl::BbrV3
        );
        config.pacing || model
    })
}
