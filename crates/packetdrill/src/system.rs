//! The stack as configured by this namespace's sysctls: scripts set them before they create a
//! socket.

use std::fs;

use airtcp_endpoint::Options;
use airtcp_script::settings::{self, SettingOutcome};
use airtcp_tcp::Profile;

/// Settings that concern an endpoint, under `/proc/sys/net/ipv4`.
const NAMES: [&str; 20] = [
    "tcp_sack",
    "tcp_dsack",
    "tcp_timestamps",
    "tcp_frto",
    "tcp_slow_start_after_idle",
    "tcp_congestion_control",
    "tcp_reordering",
    "tcp_early_retrans",
    "tcp_rmem",
    "tcp_rto_min_us",
    "tcp_syn_retries",
    "tcp_synack_retries",
    "tcp_retries2",
    "tcp_fin_timeout",
    "tcp_invalid_ratelimit",
    "tcp_ecn",
    "tcp_window_scaling",
    "tcp_recovery",
    "tcp_fastopen",
    "tcp_wmem",
];

/// The MTU of packetdrill's device, and the overhead of IPv4 and TCP; for IPv6 the endpoint uses
/// less.
const MTU: u32 = 1500;
const HEADERS: u32 = 40;

/// Linux's profile, modified by the settings.
pub fn options() -> Options {
    let mut config = Profile::Linux.config();
    settings::defaults(&mut config);
    for name in NAMES {
        let value = fs::read_to_string(format!("/proc/sys/net/ipv4/{name}"));
        let Ok(value) = value else { continue };
        // The machine's default, which no script of the suite expects: theirs is CUBIC, which a
        // kernel may forbid to a namespace.
        if value.trim() == "bbr" {
            continue;
        }
        if let SettingOutcome::Unsupported(what) = settings::sysctl(name, value.trim(), &mut config)
        {
            eprintln!("airtcp: not had: {what}");
        }
    }
    let stamps = if config.timestamps { 12 } else { 0 };
    config.mss = MTU - HEADERS - stamps;
    Options::new(config)
}
