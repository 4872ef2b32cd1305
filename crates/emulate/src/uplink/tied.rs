//! A program that dies with the emulator in any case.

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::{fs, io};

use airtcp_host::error::{Error, Result, Tried};
use airtcp_host::namespace::leave;
use rustix::mount::{MountFlags, MountPropagationFlags, mount, mount_bind, mount_change};
use rustix::process::{Signal, getppid, set_parent_process_death_signal};
use rustix::thread::UnshareFlags;

/// The hidden argument that makes airtcp-net such a program.
pub const ARGUMENT: &str = "tied";
/// The path of the far end's namespace for the program: in a private mount namespace, since it
/// drops the right to read the emulator's descriptors.
pub const MOUNTED: &str = "/tmp/far-end";
const FOLDER: &str = "/tmp";

/// Turns this process into a program that the kernel kills when the thread that started it ends.
/// The arguments are the emulator's process number, the path of a namespace, which is mounted at
/// the program's path for it, and the command. Returns only on failure.
///
/// # Errors
///
/// The program cannot be run, or the emulator has ended.
pub fn become_tied(arguments: &[OsString]) -> Result<i32> {
    set_parent_process_death_signal(Some(Signal::KILL))
        .tried(|| "cannot ask to die with the emulator".to_owned())?;
    let [emulator, namespace, program, arguments @ ..] = arguments else {
        return Err(Error::new("no command to run"));
    };
    // If it was killed earlier, it can no longer kill this.
    if getppid().map(|parent| parent.to_string()).as_deref() != emulator.to_str() {
        return Err(Error::new("the emulator has ended"));
    }
    show_namespace(namespace).tried(|| format!("cannot mount a namespace at {MOUNTED}"))?;
    let error = Command::new(program).args(arguments).exec();
    Err(error).tried(|| format!("cannot run {}", program.to_string_lossy()))
}

/// Mounts the namespace at `path` where only this process sees it.
fn show_namespace(path: &OsString) -> io::Result<()> {
    leave(UnshareFlags::NEWNS)?;
    mount_change(
        "/",
        MountPropagationFlags::PRIVATE | MountPropagationFlags::REC,
    )?;
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    mount("tmpfs", FOLDER, "tmpfs", flags, None)?;
    fs::write(MOUNTED, "")?;
    mount_bind(path, MOUNTED)?;
    Ok(())
}
