//! The stack as configured by this namespace's sysctls: scripts set them before they create a
//! socket.

use std::fs::{self, File};
use std::os::fd::IntoRawFd;

use airtcp_endpoint::FastOpenKeys;
use airtcp_script::posix::{Descriptor, Errno, System, key_of_words};
use airtcp_script::settings::{self, SettingOutcome};
use airtcp_tcp::{Config, Profile};

/// Settings that concern an endpoint, under `/proc/sys/net/ipv4`.
const NAMES: [&str; 21] = [
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
    "tcp_syn_linear_timeouts",
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
/// Linux's default of `tcp_fastopen`: as a client only.
const FAST_OPEN: u32 = 0x1;

fn sysctl(name: &str) -> Option<String> {
    fs::read_to_string(format!("/proc/sys/net/ipv4/{name}")).ok()
}

/// The network namespace and the descriptors of this process.
#[derive(Debug)]
pub struct Namespace;

impl System for Namespace {
    /// Linux's profile, modified by the settings.
    fn config(&self) -> Config {
        let mut config = Profile::Linux.config();
        settings::defaults(&mut config);
        for name in NAMES {
            let Some(value) = sysctl(name) else { continue };
            // The machine's default, which no script of the suite expects: theirs is CUBIC, which a
            // kernel may forbid to a namespace.
            if value.trim() == "bbr" {
                continue;
            }
            let set = settings::sysctl(name, value.trim(), &mut config);
            if let SettingOutcome::Unsupported(what) = set {
                eprintln!("airtcp: not had: {what}");
            }
        }
        config
    }

    fn fast_open(&self) -> u32 {
        let text = sysctl("tcp_fastopen").unwrap_or_default();
        text.trim().parse().unwrap_or(FAST_OPEN)
    }

    fn fast_open_keys(&self) -> Option<FastOpenKeys> {
        let text = sysctl("tcp_fastopen_key")?;
        let mut keys = text.trim().split(',').map(key_of_words);
        let primary = keys.next()??;
        Some(match keys.next().flatten() {
            Some(backup) => FastOpenKeys::with_backup(primary, backup),
            None => FastOpenKeys::new(primary),
        })
    }

    /// A placeholder of the system's: packetdrill itself closes descriptors left open by a script.
    fn descriptor(&mut self) -> Result<Descriptor, Errno> {
        let file = File::open("/dev/null").map_err(|_| Errno::EMFILE)?;
        Ok(file.into_raw_fd())
    }
}
