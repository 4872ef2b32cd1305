//! Permissions that a thread retains after dropping the rest, as the kernel reports them.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use super::calls::Calls;
use super::*;
use crate::namespace::leave;

/// The value of a line of the calling thread's status (proc_pid_status(5)).
fn status(name: &str) -> String {
    let text = fs::read_to_string("/proc/thread-self/status").unwrap();
    let line = text.lines().find(|line| line.starts_with(name)).unwrap();
    line.split(':').nth(1).unwrap().trim().to_owned()
}

/// Runs in a separate thread, so that only that thread drops privileges.
fn confined<T: Send>(needs: &Needs<'_>, work: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            keep_only(needs).unwrap();
            work()
        });
        thread.join().unwrap()
    })
}

#[test]
fn the_kernel_says_what_is_left() {
    let had = status("CapPrm");
    let needs = Needs {
        capabilities: CapabilitySet::NET_ADMIN,
        calls: Calls::Traffic,
        writes: &[],
        reads: None,
    };
    let left = confined(&needs, || {
        ["CapPrm", "CapEff", "NoNewPrivs", "Seccomp"].map(status)
    });
    // CAP_NET_ADMIN is number 12 (include/uapi/linux/capability.h).
    let has_it = u64::from_str_radix(&had, 16).unwrap() & (1 << 12);
    let kept = format!("{has_it:016x}");
    assert_eq!(left, [kept.clone(), kept, "1".into(), "2".into()]);
    assert_eq!(status("CapPrm"), had, "of that thread alone");
}

#[test]
fn what_is_not_listed_does_not_exist() {
    let needs = |calls| Needs {
        capabilities: CapabilitySet::empty(),
        calls,
        writes: &[],
        reads: None,
    };
    let unshared = || leave(rustix::thread::UnshareFlags::NEWNET);
    for calls in [Calls::Traffic, Calls::Programs] {
        let answer = confined(&needs(calls), unshared);
        assert_eq!(answer, Err(rustix::io::Errno::NOSYS));
    }
    let runs = || std::process::Command::new("true").status().is_ok();
    assert!(!confined(&needs(Calls::Traffic), runs));
    assert!(confined(&needs(Calls::Programs), runs));
}

/// Calls by which a process could change the machine, look into others or leave its limits: never
/// needed after start-up.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
#[test]
fn nobody_may_change_the_machine() {
    let never = [
        libc::SYS_add_key,
        libc::SYS_bpf,
        libc::SYS_chroot,
        libc::SYS_clock_adjtime,
        libc::SYS_clock_settime,
        libc::SYS_delete_module,
        libc::SYS_finit_module,
        libc::SYS_fsopen,
        libc::SYS_init_module,
        libc::SYS_io_uring_setup,
        libc::SYS_kexec_load,
        libc::SYS_keyctl,
        libc::SYS_mount,
        libc::SYS_move_mount,
        libc::SYS_open_tree,
        libc::SYS_perf_event_open,
        libc::SYS_personality,
        libc::SYS_pidfd_getfd,
        libc::SYS_pivot_root,
        libc::SYS_process_vm_readv,
        libc::SYS_process_vm_writev,
        libc::SYS_ptrace,
        libc::SYS_reboot,
        libc::SYS_request_key,
        libc::SYS_sethostname,
        libc::SYS_setns,
        libc::SYS_settimeofday,
        libc::SYS_setuid,
        libc::SYS_swapon,
        libc::SYS_syslog,
        libc::SYS_umount2,
        libc::SYS_unshare,
        libc::SYS_userfaultfd,
    ];
    let allowed: Vec<_> = Calls::Programs.numbers().collect();
    assert!(never.iter().all(|call| !allowed.contains(call)));
    let starts = [libc::SYS_execve, libc::SYS_clone, libc::SYS_clone3];
    let traffic: Vec<_> = Calls::Traffic.numbers().collect();
    assert!(starts.iter().all(|call| !traffic.contains(call)));
    assert!(traffic.iter().all(|call| allowed.contains(call)));
}

#[test]
fn files_are_written_below_the_named_folders_alone() {
    let folder = std::env::temp_dir().join(format!("airtcp-files-{}", std::process::id()));
    let (inside, outside) = (folder.join("inside"), folder.join("outside"));
    for one in [&inside, &outside] {
        fs::create_dir_all(one).unwrap();
        fs::write(one.join("there"), "old").unwrap();
    }
    let tried = |reads: Option<&[&Path]>| {
        let needs = Needs {
            capabilities: CapabilitySet::empty(),
            calls: Calls::Traffic,
            writes: &[&inside, Path::new("/nowhere")],
            reads,
        };
        confined(&needs, || {
            let kind = |result: std::io::Result<()>| result.err().map(|error| error.kind());
            [
                kind(fs::write(inside.join("new"), "new")),
                kind(fs::remove_file(inside.join("new"))),
                kind(fs::write(outside.join("new"), "new")),
                kind(fs::write(outside.join("there"), "new")),
                kind(fs::read(outside.join("there")).map(drop)),
            ]
        })
    };
    let denied = Some(ErrorKind::PermissionDenied);
    let without = tried(None);
    if without == [None; 5] {
        airtcp_needs::skip("this kernel has no Landlock");
    } else {
        assert_eq!(without, [None, None, denied, denied, None]);
        assert_eq!(
            tried(Some(&[&inside])),
            [None, None, denied, denied, denied]
        );
    }
    fs::remove_dir_all(&folder).unwrap();
}
