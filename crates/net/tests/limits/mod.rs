//! The remaining privileges of a process, as the kernel reports them (proc_pid_status(5)).

use std::fs;

/// CAP_* of include/uapi/linux/capability.h, and their numbers.
const NUMBERS: [(&str, u32); 5] = [
    ("DAC_OVERRIDE", 1),
    ("DAC_READ_SEARCH", 2),
    ("NET_BIND_SERVICE", 10),
    ("NET_ADMIN", 12),
    ("NET_RAW", 13),
];

/// Checks that every thread of a process has at most these capabilities, cannot gain others, not
/// even by executing a program, and that its system calls are filtered.
pub fn assert_limited(process: u32, capabilities: &[&str]) {
    let bits = NUMBERS
        .iter()
        .filter(|(name, _)| capabilities.contains(name));
    let allowed: u64 = bits.map(|(_, number)| 1 << number).sum();
    let folder = format!("/proc/{process}/task");
    let mut threads = 0;
    for thread in fs::read_dir(folder).unwrap() {
        let status = fs::read_to_string(thread.unwrap().path().join("status")).unwrap();
        let value = |name: &str| {
            let line = status.lines().find(|line| line.starts_with(name)).unwrap();
            line.split(':').nth(1).unwrap().trim().to_owned()
        };
        for name in ["CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"] {
            let has = u64::from_str_radix(&value(name), 16).unwrap();
            assert_eq!(has & !allowed, 0, "{name}: {status}");
        }
        assert_eq!(value("NoNewPrivs"), "1", "{status}");
        // SECCOMP_MODE_FILTER
        assert_eq!(value("Seccomp"), "2", "{status}");
        threads += 1;
    }
    assert!(threads > 0);
}
