//! packetdrill's language, run over the sans-IO endpoint: no root, no TUN, no real time.
//!
//! A script defines the segments that arrive and the application's calls, with their times, and the
//! segments that must leave. packetdrill (Cardwell et al., USENIX ATC 2013) runs it against a
//! kernel in real time; here it runs against an
//! [`Endpoint`](airtcp_endpoint::Endpoint) in virtual time, through the socket calls of [`posix`].
//!
//! ```
//! let script = airtcp_script::parse("syn.pkt", "
//!      0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
//!     +0 bind(3, ..., ...) = 0
//!     +0 listen(3, 1) = 0
//!     +0 < S 0:0(0) win 65535 <mss 1000>
//!     +0 > S. 0:0(0) ack 1 <...>
//! ").unwrap();
//! let config = airtcp_tcp::Config::default();
//! assert_eq!(airtcp_script::run(&script, &config), airtcp_script::Verdict::Passed);
//! ```

mod expression;
mod parser;
pub mod posix;
mod report;
mod runner;
pub mod settings;
mod syntax;

use std::fmt;

pub use parser::parse;
pub use runner::{run, run_while};
pub use syntax::Script;

/// Settings of BSD that a run of `script` skips, because the endpoint has no equivalent.
#[must_use]
pub fn skipped_settings(script: &Script) -> Vec<String> {
    let commands = script
        .events
        .iter()
        .filter_map(|event| match &event.action {
            syntax::Action::Command(text) => Some(settings::skipped(text)),
            _ => None,
        });
    commands.flatten().collect()
}

/// A script that could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptError {
    /// The script's name.
    pub name: String,
    /// The line, from 1.
    pub line: usize,
    /// The finding, and the expectation.
    pub message: String,
}

impl fmt::Display for ScriptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.name, self.line, self.message)
    }
}

impl std::error::Error for ScriptError {}

/// Result of a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Everything happened as scripted.
    Passed,
    /// Something else happened.
    Failed {
        /// The line, from 1.
        line: usize,
        /// The failure, with the expected and the sent segment side by side.
        report: String,
    },
    /// It requires something that the endpoint does not have.
    Unsupported {
        /// The line, from 1.
        line: usize,
        /// Its kind.
        what: String,
    },
}
