//! `[tcp]`: a profile, and what differs from it.

use airtcp_tcp::Config;
use airtcp_tcp::config::{TcpTable, TimeoutConfig};

use crate::scenario::error::Problem;

/// Bytes that the timestamps option takes of each segment (RFC 7323 §3.2, appendix A).
const TIMESTAMPS_BYTES: u32 = 12;
/// Largest IPv4 packet less the IPv4 and TCP headers without options.
const LARGEST_PAYLOAD: u32 = 65_495;

/// The endpoint's configuration; fills in what the profile gives.
pub(super) fn resolve(table: &mut TcpTable) -> Result<Config, Problem> {
    let given = *table;
    let mut usual = table.profile.get_or_insert_default().config();
    if let Some(max) = given.max {
        // A ceiling that is set below the usual first timeout lowers it.
        usual.timeout.initial = usual.timeout.initial.min(max.get());
    }
    if let (Some(mss), Some(bytes)) = (given.mss, usual.initial_ssthresh) {
        // A profile's threshold is a number of its segments: ns-2's 20, whatever their size.
        let segments = bytes / u64::from(usual.mss.max(1));
        usual.initial_ssthresh = Some(segments * u64::from(mss.get_u32()));
    }
    let config = table.fill(&usual);
    if !config.sack {
        if given.dsack == Some(true) {
            return Err(Problem::at(
                "tcp.dsack",
                "needs selective acknowledgments, which carry it; set tcp.sack = true as well",
            ));
        }
        // Without SACK it says nothing yet; a remedy may still bring SACK.
        table.dsack = given.dsack;
    }
    check(&config, "")?;
    Ok(config)
}

/// What no endpoint can do, whoever asks for it: the keys of `[tcp]`, or `asked_by` if not empty.
pub(super) fn check(config: &Config, asked_by: &str) -> Result<(), Problem> {
    let problem = |key: &str, message: String| {
        if asked_by.is_empty() {
            Problem::at(format!("tcp.{key}"), message)
        } else {
            Problem::at(asked_by, format!("tcp.{key}: {message}"))
        }
    };
    let TimeoutConfig {
        min, max, initial, ..
    } = config.timeout;
    if max < min {
        return Err(problem(
            "max_rto",
            format!("expected at least tcp.min_rto, which is {min}; change one of them"),
        ));
    }
    if initial > max {
        return Err(problem(
            "initial_rto",
            format!("expected at most tcp.max_rto, which is {max}; change one of them"),
        ));
    }
    let options = if config.timestamps {
        TIMESTAMPS_BYTES
    } else {
        0
    };
    if config.mss > LARGEST_PAYLOAD - options {
        return Err(problem(
            "mss",
            format!(
                "expected at most {} with timestamps, which take {options} bytes of a segment",
                LARGEST_PAYLOAD - options
            ),
        ));
    }
    Ok(())
}
