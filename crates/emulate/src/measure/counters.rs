//! The kernel's counters in a namespace: the SNMP counters of its TCP.

use std::collections::HashMap;
use std::fs;

use airtcp_host::error::{Result, Tried};

/// Counters by name, as nstat(8) prints them: `TcpRetransSegs`, `TcpExtTCPTimeouts`.
#[derive(Clone, Debug, Default)]
pub struct Counters(HashMap<String, u64>);

impl Counters {
    /// Reads the counters of the calling thread's namespace.
    ///
    /// # Errors
    ///
    /// `/proc` is not mounted.
    pub fn read() -> Result<Self> {
        let mut counters = Self::default();
        for file in ["snmp", "netstat"] {
            let path = format!("/proc/thread-self/net/{file}");
            let text = fs::read_to_string(&path).tried(|| format!("cannot read {path}"))?;
            counters.add(&text);
        }
        Ok(counters)
    }

    /// A counter; zero if the kernel lacks it.
    pub fn get(&self, name: &str) -> u64 {
        self.0.get(name).copied().unwrap_or(0)
    }

    /// Lines come in pairs: the names, and the values in the same order.
    fn add(&mut self, text: &str) {
        let lines: Vec<_> = text.lines().collect();
        for pair in lines.chunks_exact(2) {
            let (Some((group, names)), Some((_, values))) =
                (pair[0].split_once(": "), pair[1].split_once(": "))
            else {
                continue;
            };
            for (name, value) in names.split(' ').zip(values.split(' ')) {
                // Some are negative: "no limit".
                self.0
                    .insert(format!("{group}{name}"), value.parse().unwrap_or(0));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_values_stand_in_pairs_of_lines() {
        let mut counters = Counters::default();
        counters.add(
            "Tcp: RtoMin MaxConn RetransSegs\nTcp: 200 -1 17\nTcpExt: TCPTimeouts\nTcpExt: 3\n",
        );
        assert_eq!(counters.get("TcpRetransSegs"), 17);
        assert_eq!(counters.get("TcpMaxConn"), 0);
        assert_eq!(counters.get("TcpExtTCPTimeouts"), 3);
        assert_eq!(counters.get("TcpExtUnknown"), 0);
    }

    #[test]
    fn this_kernel_has_the_counters_that_are_reported() {
        let counters = Counters::read().unwrap();
        for name in crate::measure::hosts::COUNTED {
            assert!(counters.0.contains_key(name), "{name}");
        }
    }
}
