//! The lists, in groups. 32-bit processors name some calls differently.

use libc::c_long;

use super::Calls;

/// A group of calls.
struct Group {
    /// Their numbers on this processor.
    numbers: &'static [c_long],
    /// Their names on all processors, each after `SYS_`.
    names: &'static [&'static str],
}

macro_rules! calls {
    ($($(#[$condition:meta])* $name:ident),+ $(,)?) => {
        Group {
            numbers: &[$($(#[$condition])* libc::$name),+],
            names: &[$(stringify!($name)),+],
        }
    };
}

/// Reading, writing, waiting.
static STREAMS: Group = calls![
    SYS_close,
    SYS_close_range,
    SYS_copy_file_range,
    SYS_dup,
    SYS_dup3,
    SYS_epoll_create1,
    SYS_epoll_ctl,
    SYS_epoll_pwait,
    SYS_epoll_pwait2,
    SYS_eventfd2,
    SYS_fcntl,
    SYS_ioctl,
    SYS_lseek,
    SYS_pipe2,
    SYS_ppoll,
    SYS_pread64,
    SYS_preadv,
    SYS_pselect6,
    SYS_pwrite64,
    SYS_pwritev,
    SYS_read,
    SYS_readv,
    SYS_sendfile,
    SYS_signalfd4,
    SYS_splice,
    SYS_timerfd_create,
    SYS_timerfd_settime,
    SYS_write,
    SYS_writev,
    #[cfg(target_arch = "x86_64")]
    SYS_dup2,
    #[cfg(target_arch = "x86_64")]
    SYS_epoll_wait,
    #[cfg(target_arch = "x86_64")]
    SYS_pipe,
    #[cfg(target_arch = "x86_64")]
    SYS_poll,
    #[cfg(target_arch = "x86_64")]
    SYS_select,
];

static SOCKETS: Group = calls![
    SYS_accept,
    SYS_accept4,
    SYS_bind,
    SYS_connect,
    SYS_getpeername,
    SYS_getsockname,
    SYS_getsockopt,
    SYS_listen,
    SYS_recvfrom,
    SYS_recvmmsg,
    SYS_recvmsg,
    SYS_sendmmsg,
    SYS_sendmsg,
    SYS_sendto,
    SYS_setsockopt,
    SYS_shutdown,
    SYS_socket,
    SYS_socketpair,
];

static FILES: Group = calls![
    SYS_chdir,
    SYS_faccessat,
    SYS_faccessat2,
    SYS_fadvise64,
    SYS_fallocate,
    SYS_fchmod,
    SYS_fchmodat,
    SYS_fdatasync,
    SYS_flock,
    SYS_fstat,
    SYS_fstatfs,
    SYS_fsync,
    SYS_ftruncate,
    SYS_getcwd,
    SYS_getdents64,
    SYS_mkdirat,
    SYS_newfstatat,
    SYS_openat,
    SYS_openat2,
    SYS_readlinkat,
    SYS_renameat2,
    SYS_statfs,
    SYS_statx,
    SYS_umask,
    SYS_unlinkat,
    // glibc of arm64 only has renameat2.
    #[cfg(any(target_arch = "x86_64", target_env = "musl"))]
    SYS_renameat,
    #[cfg(target_arch = "x86_64")]
    SYS_access,
    #[cfg(target_arch = "x86_64")]
    SYS_chmod,
    #[cfg(target_arch = "x86_64")]
    SYS_getdents,
    #[cfg(target_arch = "x86_64")]
    SYS_lstat,
    #[cfg(target_arch = "x86_64")]
    SYS_mkdir,
    #[cfg(target_arch = "x86_64")]
    SYS_open,
    #[cfg(target_arch = "x86_64")]
    SYS_readlink,
    #[cfg(target_arch = "x86_64")]
    SYS_rename,
    #[cfg(target_arch = "x86_64")]
    SYS_rmdir,
    #[cfg(target_arch = "x86_64")]
    SYS_stat,
    #[cfg(target_arch = "x86_64")]
    SYS_unlink,
];

/// Memory, time, and the process itself.
static PROCESS: Group = calls![
    SYS_brk,
    SYS_capget,
    SYS_clock_getres,
    SYS_clock_gettime,
    SYS_clock_nanosleep,
    SYS_exit,
    SYS_exit_group,
    SYS_futex,
    SYS_getcpu,
    SYS_getegid,
    SYS_geteuid,
    SYS_getgid,
    SYS_getgroups,
    SYS_getpgid,
    SYS_getpid,
    SYS_getppid,
    SYS_getpriority,
    SYS_getrandom,
    SYS_getresgid,
    SYS_getresuid,
    SYS_getrusage,
    SYS_getsid,
    SYS_gettid,
    SYS_gettimeofday,
    SYS_getuid,
    SYS_madvise,
    SYS_membarrier,
    SYS_mmap,
    SYS_mprotect,
    SYS_mremap,
    SYS_munmap,
    SYS_nanosleep,
    SYS_prctl,
    SYS_prlimit64,
    SYS_restart_syscall,
    SYS_rseq,
    SYS_rt_sigaction,
    SYS_rt_sigprocmask,
    SYS_rt_sigreturn,
    SYS_rt_sigsuspend,
    SYS_rt_sigtimedwait,
    SYS_sched_getaffinity,
    SYS_sched_getparam,
    SYS_sched_getscheduler,
    SYS_sched_yield,
    SYS_set_robust_list,
    SYS_set_tid_address,
    SYS_sigaltstack,
    SYS_sysinfo,
    SYS_tgkill,
    SYS_times,
    SYS_uname,
    #[cfg(target_arch = "x86_64")]
    SYS_arch_prctl,
    #[cfg(target_arch = "x86_64")]
    SYS_getpgrp,
    #[cfg(target_arch = "x86_64")]
    SYS_getrlimit,
    #[cfg(target_arch = "x86_64")]
    SYS_time,
];

/// Programs and threads: the firewall's, a guard, a successor, which applies restrictions itself.
static PROGRAMS: Group = calls![
    SYS_capset,
    SYS_clone,
    SYS_clone3,
    SYS_execve,
    SYS_execveat,
    SYS_getitimer,
    SYS_kill,
    SYS_landlock_add_rule,
    SYS_landlock_create_ruleset,
    SYS_landlock_restrict_self,
    SYS_pidfd_open,
    SYS_pidfd_send_signal,
    SYS_sched_setattr,
    SYS_sched_setscheduler,
    SYS_seccomp,
    SYS_setpgid,
    SYS_setsid,
    SYS_setitimer,
    SYS_wait4,
    SYS_waitid,
    #[cfg(target_arch = "x86_64")]
    SYS_fork,
    #[cfg(target_arch = "x86_64")]
    SYS_vfork,
];

impl Calls {
    /// Their numbers.
    pub fn numbers(self) -> impl Iterator<Item = c_long> {
        self.groups().flat_map(|group| group.numbers).copied()
    }

    /// Their names, for other lists: of every processor, in alphabetical order.
    pub fn names(self) -> Vec<&'static str> {
        let names = self.groups().flat_map(|group| group.names);
        let mut names: Vec<_> = names.map(|name| name.trim_start_matches("SYS_")).collect();
        names.sort_unstable();
        names
    }

    fn groups(self) -> impl Iterator<Item = &'static Group> {
        let programs = match self {
            Self::Traffic => None,
            Self::Programs => Some(&PROGRAMS),
        };
        [&STREAMS, &SOCKETS, &FILES, &PROCESS]
            .into_iter()
            .chain(programs)
    }
}
