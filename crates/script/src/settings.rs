//! System settings of a script: `sysctl`s, routes, options of packetdrill.

use airtcp_tcp::Config;
use airtcp_tcp::config::{CongestionControl, EcnUse, SlowStart};
use airtcp_units::Duration;

/// Outcome of a setting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SettingOutcome {
    /// Applied, or irrelevant to an endpoint.
    Yes,
    /// The endpoint has no equivalent.
    Unsupported(String),
}

/// Settings of the public suites (`common/defaults.sh`) that belong to the profile.
pub fn defaults(config: &mut Config) {
    // tcp_rmem: a window scale of 8 (15 MiB).
    config.receive_buffer = 15 << 20;
    config.restart_after_idle = false;
    config.ecn = EcnUse::Off;
    config.timeout.min = Duration::from_millis(200);
}

/// Applies the part of a backquoted shell command that concerns an endpoint.
pub fn command(text: &str, config: &mut Config) -> SettingOutcome {
    let text = text.replace("\\\n", " ");
    for line in text.lines().flat_map(|line| line.split(';')) {
        let applied = one_command(line.trim(), config);
        if applied != SettingOutcome::Yes {
            return applied;
        }
    }
    SettingOutcome::Yes
}

fn one_command(line: &str, config: &mut Config) -> SettingOutcome {
    // Continued lines, and comments after a setting.
    let line = line
        .trim_end_matches('\\')
        .split('#')
        .next()
        .unwrap_or(line)
        .trim();
    if let Some((path, value)) = line.split_once('=')
        && path.starts_with("/proc/sys/")
    {
        let name = path.rsplit('/').next().unwrap_or(path);
        return sysctl(name, value, config);
    }
    if line.contains("defaults.sh") {
        defaults(config);
        // More may follow on the same line.
        let rest = line.split_once("defaults.sh").map_or("", |(_, rest)| rest);
        return one_command(rest.trim(), config);
    }
    if line.contains("set_sysctls.py") {
        for word in line.split_whitespace() {
            if let Some((path, value)) = word.split_once('=') {
                let name = path.rsplit('/').next().unwrap_or(path);
                let applied = sysctl(name, value, config);
                if applied != SettingOutcome::Yes {
                    return applied;
                }
            }
        }
        return SettingOutcome::Yes;
    }
    let mut words = line.split_whitespace();
    match words.next() {
        None
        | Some("echo" | "sleep" | "true" | "rm" | "cat" | "ethtool" | "dmesg" | "ip6tables") => {
            SettingOutcome::Yes
        }
        Some("sysctl") if is_of_bsd(line) => of_bsd(line, config),
        Some("kldload") => SettingOutcome::Yes,
        Some("sysctl") => {
            let text = line
                .trim_start_matches("sysctl")
                .replace("-q", "")
                .replace("-w", "");
            for setting in text.split("net.").filter(|one| one.contains('=')) {
                let (name, value) = setting.split_once('=').unwrap_or((setting, ""));
                let name = name.trim().rsplit('.').next().unwrap_or(name);
                let value = value.trim().trim_matches('"');
                let applied = sysctl(name, value, config);
                if applied != SettingOutcome::Yes {
                    return applied;
                }
            }
            SettingOutcome::Yes
        }
        Some("ip") if line.contains("route") => route(line, config),
        Some("ip") if line.contains("tcp_metrics") => SettingOutcome::Yes,
        Some("tc") if !line.contains("fq") => SettingOutcome::Yes,
        Some("/bin/rm" | "dd") => SettingOutcome::Yes,
        Some(word)
            if word.starts_with("../") || word.starts_with("/tmp") || word.starts_with('#') =>
        {
            SettingOutcome::Yes
        }
        Some(_) => SettingOutcome::Unsupported(format!("the command {line:?}")),
    }
}

/// Whether a command uses BSD's names of settings.
fn is_of_bsd(line: &str) -> bool {
    line.split_whitespace().any(|word| {
        ["net.inet.", "net.inet6.", "kern.", "hw."]
            .iter()
            .any(|tree| word.starts_with(tree))
    })
}

/// `sysctl net.inet.tcp.sack.enable=1`: applies settings with an equivalent; the others tune a
/// stack that is not under test, and are skipped ([`skipped`]).
fn of_bsd(line: &str, config: &mut Config) -> SettingOutcome {
    for (name, value) in bsd_settings(line) {
        let applied = match name {
            "net.inet.tcp.sack.enable" => sysctl("tcp_sack", value, config),
            // Timestamps and scaled windows in one (RFC 7323, before that RFC 1323).
            "net.inet.tcp.rfc1323" if value == "2" => sysctl("tcp_window_scaling", "1", config),
            "net.inet.tcp.rfc1323" if value == "3" => sysctl("tcp_timestamps", "1", config),
            "net.inet.tcp.rfc1323" => sysctl("tcp_timestamps", value, config),
            "net.inet.tcp.ecn.enable" => sysctl("tcp_ecn", value, config),
            "net.inet.tcp.cc.algorithm" => congestion_control(bsd_control(value), config),
            "net.inet.tcp.initcwnd_segments" => match value.parse() {
                Ok(segments) => {
                    config.initial_window = segments;
                    SettingOutcome::Yes
                }
                Err(_) => SettingOutcome::Unsupported(format!("{name} = {value}")),
            },
            _ => SettingOutcome::Yes,
        };
        if applied != SettingOutcome::Yes {
            return applied;
        }
    }
    SettingOutcome::Yes
}

/// Linux's name of a congestion control.
fn bsd_control(name: &str) -> &str {
    if name == "newreno" { "reno" } else { name }
}

fn bsd_settings(line: &str) -> impl Iterator<Item = (&str, &str)> {
    line.split_whitespace()
        .filter_map(|word| word.split_once('='))
        .map(|(name, value)| (name, value.trim_matches('"')))
}

/// BSD settings in a command without an equivalent here, which a run skips.
pub fn skipped(command: &str) -> Vec<String> {
    const APPLIED: [&str; 5] = [
        "net.inet.tcp.sack.enable",
        "net.inet.tcp.rfc1323",
        "net.inet.tcp.ecn.enable",
        "net.inet.tcp.cc.algorithm",
        "net.inet.tcp.initcwnd_segments",
    ];
    let lines = command.lines().flat_map(|line| line.split(';'));
    lines
        .filter(|line| line.trim().starts_with("sysctl") && is_of_bsd(line))
        .flat_map(bsd_settings)
        .filter(|(name, _)| !APPLIED.contains(name))
        .map(|(name, value)| format!("{name}={value}"))
        .collect()
}

/// `ip route change … initcwnd 10 rto_min 100ms`.
fn route(line: &str, config: &mut Config) -> SettingOutcome {
    let words: Vec<_> = line.split_whitespace().collect();
    for pair in words.windows(2) {
        match pair {
            ["initcwnd", value] => {
                if let Ok(segments) = value.parse() {
                    config.initial_window = segments;
                }
            }
            ["rto_min", value] => {
                let Ok(milliseconds) = value.trim_end_matches("ms").parse() else {
                    return SettingOutcome::Unsupported(format!("rto_min {value}"));
                };
                config.timeout.min = Duration::from_millis(milliseconds);
            }
            [
                "quickack" | "initrwnd" | "features" | "mtu" | "advmss" | "congctl",
                _,
            ] => {
                return SettingOutcome::Unsupported(format!("the route's {}", pair[0]));
            }
            _ => {}
        }
    }
    SettingOutcome::Yes
}

/// A setting below `net.ipv4`, by its last name.
pub fn sysctl(name: &str, value: &str, config: &mut Config) -> SettingOutcome {
    let is_on = value.trim() != "0";
    match name {
        "tcp_sack" => config.sack = is_on,
        "tcp_dsack" => config.dsack = is_on,
        "tcp_timestamps" => config.timestamps = is_on,
        "tcp_frto" => config.spurious_detection.frto = is_on,
        "tcp_slow_start_after_idle" => config.restart_after_idle = is_on,
        "tcp_congestion_control" => return congestion_control(value, config),
        "tcp_reordering" => match value.trim().parse() {
            Ok(segments) => config.duplicate_ack_threshold = segments,
            Err(_) => return SettingOutcome::Unsupported(format!("{name} = {value}")),
        },
        "tcp_early_retrans" => config.tail_loss_probe = matches!(value.trim(), "3" | "4"),
        // RACK is the kernel's only mode since 6.17, too.
        "tcp_recovery" if value.trim() == "1" || value.trim() == "0x1" => {}
        "tcp_rmem" => {
            if let Some(most) = value
                .split_whitespace()
                .nth(2)
                .and_then(|most| most.parse().ok())
            {
                config.receive_buffer = most;
            }
        }
        "tcp_window_scaling" if is_on => {}
        "tcp_min_rto_us" | "tcp_rto_min_us" => match value.trim().parse() {
            Ok(microseconds) => config.timeout.min = Duration::from_micros(microseconds),
            Err(_) => return SettingOutcome::Unsupported(format!("{name} = {value}")),
        },
        "tcp_syn_retries"
        | "tcp_syn_linear_timeouts"
        | "tcp_synack_retries"
        | "tcp_retries2"
        | "tcp_fin_timeout"
        | "tcp_invalid_ratelimit" => return limit(name, value, config),
        "tcp_ecn" => match value.trim() {
            "0" => config.ecn = EcnUse::Off,
            "1" => config.ecn = EcnUse::Request,
            "2" => config.ecn = EcnUse::Accept,
            _ => return SettingOutcome::Unsupported(format!("{name} = {value}")),
        },
        // Settings that no script of an endpoint can see.
        "tcp_wmem"
        | "tcp_fack"
        | "tcp_ecn_option"
        | "tcp_tso_win_divisor"
        | "tcp_pacing_ss_ratio"
        | "tcp_pacing_ca_ratio"
        | "tcp_notsent_lowat"
        | "tcp_syncookies"
        | "tcp_fastopen"
        | "tcp_fastopen_key"
        // A pause longer than any script.
        | "tcp_fastopen_blackhole_timeout_sec"
        | "tcp_moderate_rcvbuf"
        | "tcp_no_metrics_save"
        | "tcp_autocorking"
        | "tcp_min_tso_segs"
        | "tcp_comp_sack_nr"
        | "tcp_retries1"
        | "tcp_app_win"
        | "tcp_adv_win_scale"
        | "optmem_max"
        | "wmem_max"
        | "rmem_max"
        | "tcp_shrink_window"
        | "tcp_limit_output_bytes"
        | "tcp_backlog_ack_defer"
        | "tcp_fwmark_accept"
        | "tcp_base_mss"
        | "tcp_mtu_probing"
        | "tcp_rfc1337" => {}
        _ => return SettingOutcome::Unsupported(format!("{name} = {value}")),
    }
    SettingOutcome::Yes
}

/// A setting that bounds a connection's patience.
fn limit(name: &str, value: &str, config: &mut Config) -> SettingOutcome {
    let Ok(number) = value.trim().parse::<u32>() else {
        return SettingOutcome::Unsupported(format!("{name} = {value}"));
    };
    let retries = u8::try_from(number).unwrap_or(u8::MAX);
    let limits = &mut config.limits;
    match name {
        "tcp_syn_retries" => limits.syn_retries = retries,
        "tcp_syn_linear_timeouts" => limits.syn_linear_timeouts = retries.min(127),
        "tcp_synack_retries" => limits.synack_retries = retries,
        "tcp_retries2" => limits.data_retries = retries,
        "tcp_fin_timeout" => limits.fin_timeout = Duration::from_secs(number.into()),
        _ => limits.challenge_interval = Duration::from_millis(number.into()),
    }
    SettingOutcome::Yes
}

/// Selects the congestion control with that name.
pub fn congestion_control(name: &str, config: &mut Config) -> SettingOutcome {
    config.slow_start = SlowStart::Standard;
    config.congestion = match name.trim().trim_matches('"') {
        "cubic" => {
            config.slow_start = SlowStart::HyStart;
            CongestionControl::Cubic
        }
        "reno" => CongestionControl::Reno,
        "bbr" => CongestionControl::Bbr,
        "westwood" => CongestionControl::Westwood,
        "veno" => CongestionControl::Veno,
        "vegas" => CongestionControl::Vegas,
        "illinois" => CongestionControl::Illinois,
        "hybla" => CongestionControl::Hybla,
        "htcp" => CongestionControl::HTcp,
        "yeah" => CongestionControl::Yeah,
        "cdg" => CongestionControl::Cdg,
        other => return SettingOutcome::Unsupported(format!("the congestion control {other:?}")),
    };
    SettingOutcome::Yes
}
