//! What a process may still do, as the kernel says (proc_pid_status(5)).

use std::fs;

/// CAP_* of include/uapi/linux/capability.h.
pub const READ_SEARCH: u64 = 1 << 2;
pub const OVERRIDE: u64 = 1 << 1;
pub const BIND_SERVICE: u64 = 1 << 10;
pub const NET_ADMIN: u64 = 1 << 12;
pub const NET_RAW: u64 = 1 << 13;

/// Checks that every thread of a process has at most these capabilities, can gain none, by a
/// program that it starts neither, and that its system calls are filtered.
pub fn assert_limited(process: u32, capabilities: u64) {
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
            assert_eq!(has & !capabilities, 0, "{name}: {status}");
        }
        assert_eq!(value("NoNewPrivs"), "1", "{status}");
        // SECCOMP_MODE_FILTER
        assert_eq!(value("Seccomp"), "2", "{status}");
        threads += 1;
    }
    assert!(threads > 0);
}
