//! The first process of a namespace: it starts the user's command, reaps orphans, and dies with the
//! emulator in any case.

use std::ffi::OsString;
use std::net::IpAddr;
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus};
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;

use airtcp_host::daemon::program;
use airtcp_host::error::{Error, Result, Tried};
use airtcp_host::namespace::{Namespace, leave};
use rustix::mount::{
    MountFlags, MountPropagationFlags, UnmountFlags, mount, mount_bind, mount_change, unmount,
};
use rustix::process::{
    Pid, Signal, WaitOptions, getpid, kill_process, set_parent_process_death_signal, wait,
};
use rustix::thread::UnshareFlags;

/// The hidden argument with which airtcp-net starts itself inside.
pub const ARGUMENT: &str = "inside";
/// The file with the programs' resolver (resolv.conf(5)).
const RESOLVERS: &str = "/etc/resolv.conf";

/// A program to run in a namespace.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// The command and its arguments.
    pub command: Vec<OsString>,
    /// Variables that are added to the environment.
    pub environment: Vec<(String, String)>,
    /// Its resolver; the machine's if `None`.
    pub resolver: Option<IpAddr>,
}

/// A command that runs in a namespace, with all its descendants. Dropping it kills them.
#[derive(Debug)]
pub struct Running {
    process: Pid,
    /// Waits for it. The kernel kills the process tree when this thread ends, so they have the same
    /// lifetime.
    waiter: Option<JoinHandle<Result<ExitStatus>>>,
}

impl Running {
    /// Starts `program` in `namespace`. When it ends, `ended` is closed, which wakes a poll of the
    /// pipe's other end.
    ///
    /// # Errors
    ///
    /// The system does not allow a namespace, or airtcp-net cannot be started once more.
    pub fn start(
        namespace: &Arc<Namespace>,
        program: Program,
        ended: Option<OwnedFd>,
    ) -> Result<Self> {
        let (tell, told) = mpsc::channel();
        let namespace = Arc::clone(namespace);
        let waiter = std::thread::spawn(move || {
            let _ended = ended;
            namespace.enter(|| {
                let started = start(&program);
                let mut child = match started {
                    Ok(child) => child,
                    Err(error) => {
                        // The caller has the error; this thread has nothing left to report.
                        let _ = tell.send(Err(error));
                        return Ok(ExitStatus::default());
                    }
                };
                let process = Pid::from_child(&child);
                let _ = tell.send(Ok(process));
                child
                    .wait()
                    .tried(|| "cannot wait for the command".to_owned())
            })
        });
        let process = told
            .recv()
            .map_err(|_| Error::new("the thread that starts the command has ended"))??;
        Ok(Self {
            process,
            waiter: Some(waiter),
        })
    }

    /// Waits for its end.
    ///
    /// # Errors
    ///
    /// It cannot be waited for.
    pub fn wait(mut self) -> Result<ExitStatus> {
        self.join()
    }

    fn join(&mut self) -> Result<ExitStatus> {
        match self.waiter.take() {
            Some(waiter) => waiter
                .join()
                .unwrap_or_else(|_| Err(Error::new("a thread of airtcp-net has panicked"))),
            None => Err(Error::new("the command has been waited for already")),
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if self.waiter.is_some() {
            // The end of its namespace's first process kills all others.
            let _ = kill_process(self.process, Signal::KILL);
            let _ = self.join();
        }
    }
}

fn start(program: &Program) -> Result<Child> {
    leave(UnshareFlags::NEWPID | UnshareFlags::NEWNS)
        .tried(|| "cannot make a namespace of processes".to_owned())?;
    let resolver = program.resolver.map(|resolver| resolver.to_string());
    let environment = program.environment.iter();
    Command::new(program::running()?)
        .arg(ARGUMENT)
        .arg(getpid().to_string())
        // Empty for the machine's.
        .arg(resolver.unwrap_or_default())
        .args(&program.command)
        .envs(environment.map(|(name, value)| (name, value)))
        .spawn()
        .tried(|| "cannot start airtcp-net once more".to_owned())
}

/// Runs as the first process, with the emulator's process number, the resolver or an empty string,
/// and the command as arguments: never returns unless the command cannot be started.
///
/// # Errors
///
/// The command cannot be started, or the emulator has ended.
pub fn first_process(arguments: &[OsString]) -> Result<i32> {
    let [emulator, resolver, command @ ..] = arguments else {
        return Err(Error::new("no command to run"));
    };
    set_parent_process_death_signal(Some(Signal::KILL))
        .tried(|| "cannot ask to die with the emulator".to_owned())?;
    // A parent outside of this PID namespace has no number inside, but has one in the /proc that is
    // still mounted. An emulator that was killed earlier can no longer kill this process.
    if rustix::process::getppid().is_some() || parent_outside().as_deref() != emulator.to_str() {
        return Err(Error::new(
            "airtcp-net inside is started by airtcp-net alone, which has ended",
        ));
    }
    let _ = mount_change(
        "/",
        MountPropagationFlags::PRIVATE | MountPropagationFlags::REC,
    );
    if !resolver.is_empty() {
        ask_only(&resolver.to_string_lossy())
            .tried(|| format!("cannot put the link's resolver into {RESOLVERS}"))?;
    }
    show_own_processes();
    let (program, arguments) = command
        .split_first()
        .ok_or_else(|| Error::new("no command to run"))?;
    let child = Command::new(program)
        .args(arguments)
        .spawn()
        .tried(|| format!("cannot run {}", program.to_string_lossy()))?;
    reap(child.id())
}

/// The parent's process number in the machine's numbering (proc_pid_status(5)).
fn parent_outside() -> Option<String> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let parent = status.lines().find_map(|line| line.strip_prefix("PPid:"))?;
    Some(parent.trim().to_owned())
}

/// Mounts a `/proc` of this namespace's processes. If the system does not allow it, tools such as
/// ps show other processes too, without further harm.
fn show_own_processes() {
    let _ = mount(
        "proc",
        "/proc",
        "proc",
        MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC,
        None,
    );
}

/// Makes this namespace's programs use only `resolver`: a file on an otherwise invisible file
/// system, mounted over the machine's, which stays unchanged.
fn ask_only(resolver: &str) -> std::io::Result<()> {
    // The process file system is mounted over it a moment later.
    const FOLDER: &str = "/proc";
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    mount("tmpfs", FOLDER, "tmpfs", flags, None)?;
    let file = format!("{FOLDER}/resolv.conf");
    std::fs::write(&file, format!("nameserver {resolver}\n"))?;
    let mounted = mount_bind(&file, RESOLVERS);
    unmount(FOLDER, UnmountFlags::DETACH)?;
    match mounted {
        // A system without the file resolves by other means.
        Err(rustix::io::Errno::NOENT) => Ok(()),
        other => Ok(other?),
    }
}

/// Waits for the command, and for the orphans that the first process of a namespace inherits.
fn reap(command: u32) -> Result<i32> {
    loop {
        let waited =
            wait(WaitOptions::empty()).tried(|| "cannot wait for the command".to_owned())?;
        let Some((process, status)) = waited else {
            continue;
        };
        if process.as_raw_nonzero().get().unsigned_abs() == command {
            let status = ExitStatus::from_raw(status.as_raw());
            return Ok(exit_code(status));
        }
    }
}

/// The status that a shell would return for the command: 128 plus the signal if it was killed.
pub fn exit_code(status: ExitStatus) -> i32 {
    status
        .code()
        .or_else(|| status.signal().map(|signal| 128 + signal))
        .unwrap_or(1)
}
