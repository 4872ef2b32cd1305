//! The first process of a kernel in virtual time: airtcp boots a guest whose initial file system
//! holds this program, and shares a piece of memory with it.
//!
//! ```text
//!   airtcp (Python) ── qemu ── the kernel ── airtcp-net guest ── airtcp-net measure …
//!         │                                        │
//!         └───────── work, results: shared ────────┘
//! ```
//!
//! Both are lines of JSON, an object with its kind as the only key each. A line with `bytes` is
//! followed by as many bytes: the content of a file. Work is `file`s, then one `run`; results are
//! `job`s with the `file`s that they wrote, then `end`.

mod shared;
mod system;

use std::ffi::{OsStr, OsString};
use std::net::{Ipv4Addr, TcpStream};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use airtcp_host::error::{Error, Result, Tried};
use airtcp_host::namespace::Namespace;
use airtcp_host::release::GUEST_VARIABLE;
use clap::Args;
use serde::{Deserialize, Serialize};

use shared::Shared;

/// The name of the command.
pub const COMMAND: &str = "guest";
/// The name under which a kernel starts its first process.
const FIRST_PROCESS: &str = "init";
/// The port of the discard service (RFC 863), which no guest has.
const DISCARD: u16 = 9;
/// Maximum bytes of a job's output that are reported: its last ones.
const MAX_PRINTED: usize = 1 << 20;

/// Be the first process of a kernel in virtual time (airtcp starts it)
#[derive(Args, Clone, Debug)]
pub struct Options {
    /// A file with the modules to load in this order, a path a line
    modules: PathBuf,
}

/// A line of the shared work.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Order {
    /// Write a file; its content follows.
    File { path: PathBuf, bytes: usize },
    /// Run these jobs, one after the other. Nothing follows.
    Run(Vec<Job>),
}

/// One command.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Job {
    /// Its program and arguments; an empty program is this one.
    command: Vec<String>,
    /// A folder with further result files; may be empty.
    collect: PathBuf,
}

/// A line of the results.
#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum Line<'a> {
    Job {
        number: usize,
        status: i32,
        out: String,
        err: String,
    },
    File {
        job: usize,
        name: &'a str,
        bytes: usize,
    },
    End {
        failed: Option<String>,
    },
}

/// The words of a command line; for a kernel's first process without those before the command: a
/// kernel passes on every unknown word of its command line.
pub fn words(all: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut words: Vec<OsString> = all.collect();
    let name = words.first().map(Path::new).and_then(Path::file_name);
    if name == Some(OsStr::new(FIRST_PROCESS))
        && let Some(place) = words.iter().position(|word| word == COMMAND)
    {
        words.drain(1..place);
    }
    words
}

/// Prepares the guest, runs its jobs, returns their results and turns the guest off.
///
/// # Errors
///
/// This is not the first process of a system, or a device of the guest is missing.
pub fn run(options: &Options) -> Result<i32> {
    if std::process::id() != 1 {
        return Err(Error::new(
            "guest: this is a command for the first process of a kernel in virtual time; \
             airtcp verify --kernel starts one",
        ));
    }
    let prepared = system::mount_all().and_then(|()| Shared::map());
    let mut shared = match prepared {
        Ok(shared) => shared,
        Err(error) => {
            // The console is the only output.
            eprintln!("airtcp-net: {error}");
            return system::power_off();
        }
    };
    let failed = work(&options.modules, &mut shared)
        .err()
        .map(|error| error.to_string());
    tell(&mut shared, &Line::End { failed })?;
    system::power_off()
}

fn work(modules: &Path, shared: &mut Shared) -> Result<()> {
    let listed =
        std::fs::read_to_string(modules).tried(|| format!("cannot read {}", modules.display()))?;
    for module in listed.lines() {
        system::load(Path::new(module))?;
    }
    connect_once()?;
    // Up to here every run is the same.
    system::rest();
    for (number, job) in prepare(&shared.work()?)?.iter().enumerate() {
        let done = command(&job.command)?
            .output()
            .tried(|| format!("cannot start {:?}", job.command))?;
        let line = Line::Job {
            number,
            status: airtcp_emulate::inside::exit_code(done.status),
            out: last(&done.stdout),
            err: last(&done.stderr),
        };
        tell(shared, &line)?;
        if !job.collect.as_os_str().is_empty() {
            collect(&job.collect, number, shared)?;
        }
    }
    Ok(())
}

/// Makes the kernel choose a port for a connection. The first time it draws a table of 65 536
/// numbers (`__inet_hash_connect`, `table_perturb`): 6 ms of instructions, which never recur on a
/// machine that has been up for a while.
fn connect_once() -> Result<()> {
    Namespace::new()?.enter(|| {
        // There is no listener: a refusal ends it.
        let _ = TcpStream::connect((Ipv4Addr::LOCALHOST, DISCARD));
        Ok(())
    })
}

/// Writes the files of the work, and returns its jobs.
fn prepare(mut work: &[u8]) -> Result<Vec<Job>> {
    let short = || Error::new("the work ends early");
    loop {
        let end = work
            .iter()
            .position(|&byte| byte == b'\n')
            .ok_or_else(short)?;
        let order: Order = serde_json::from_slice(&work[..end])
            .map_err(|error| Error::new(format!("the work: {error}")))?;
        work = &work[end + 1..];
        match order {
            Order::Run(jobs) => return Ok(jobs),
            Order::File { path, bytes } => {
                let (content, rest) = work.split_at_checked(bytes).ok_or_else(short)?;
                let folder = path.parent().unwrap_or(Path::new("/"));
                std::fs::create_dir_all(folder)
                    .and_then(|()| std::fs::write(&path, content))
                    .tried(|| format!("cannot write {}", path.display()))?;
                work = rest;
            }
        }
    }
}

fn command(words: &[String]) -> Result<Command> {
    let (program, arguments) = words
        .split_first()
        .ok_or_else(|| Error::new("a job without a command"))?;
    let mut command = Command::new(if program.is_empty() {
        "/proc/self/exe"
    } else {
        program
    });
    command.args(arguments).env(GUEST_VARIABLE, "1");
    if program.is_empty() {
        // The name in its error messages.
        command.arg0("airtcp-net");
    }
    Ok(command)
}

fn tell(shared: &mut Shared, line: &Line<'_>) -> Result<()> {
    let mut text = serde_json::to_vec(line)
        .map_err(|error| Error::new(format!("cannot write a line: {error}")))?;
    text.push(b'\n');
    shared.append(&text)
}

/// The last part of a job's output.
fn last(printed: &[u8]) -> String {
    let from = printed.len().saturating_sub(MAX_PRINTED);
    String::from_utf8_lossy(&printed[from..]).into_owned()
}

/// Returns the files of a folder, in the order of their names.
fn collect(folder: &Path, job: usize, shared: &mut Shared) -> Result<()> {
    let unreadable = || format!("cannot read {}", folder.display());
    if !folder.exists() {
        return Ok(());
    }
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(folder).tried(unreadable)? {
        let path = entry.tried(unreadable)?.path();
        if path.is_file() {
            paths.push(path);
        }
    }
    paths.sort();
    for path in paths {
        let Some(name) = path.file_name().and_then(std::ffi::OsStr::to_str) else {
            continue;
        };
        let content = std::fs::read(&path).tried(unreadable)?;
        let bytes = content.len();
        tell(shared, &Line::File { job, name, bytes })?;
        shared.append(&content)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_an_object_with_its_kind_as_the_only_key() {
        let line = |line: &Line<'_>| serde_json::to_string(line).unwrap();
        let end = Line::End { failed: None };
        assert_eq!(line(&end), r#"{"end":{"failed":null}}"#);
        let file = Line::File {
            job: 2,
            name: "packets.csv",
            bytes: 7,
        };
        assert_eq!(
            line(&file),
            r#"{"file":{"job":2,"name":"packets.csv","bytes":7}}"#
        );
    }

    #[test]
    fn a_first_process_ignores_words_that_its_kernel_did_not_know() {
        let of = |line: &str| words(line.split(' ').map(OsString::from)).join(OsStr::new(" "));
        let heard = "/init splash nosuchthing guest /modules.txt";
        assert_eq!(of(heard), "/init guest /modules.txt");
        assert_eq!(of("/init guest /modules.txt"), "/init guest /modules.txt");
        assert_eq!(of("/init splash"), "/init splash");
        let other = "airtcp-net emulate link.toml guest";
        assert_eq!(of(other), other);
    }

    #[test]
    fn work_is_files_and_then_jobs() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/s.toml");
        let mut work = format!("{{\"file\":{{\"path\":{path:?},\"bytes\":4}}}}\n").into_bytes();
        work.extend_from_slice(b"a\n{}");
        work.extend_from_slice(b"{\"run\":[{\"command\":[\"\",\"measure\"],\"collect\":\"\"}]}\n");
        let jobs = prepare(&work).unwrap();
        assert_eq!(jobs[0].command, ["", "measure"]);
        assert_eq!(std::fs::read(path).unwrap(), b"a\n{}");
        for end in 0..work.len() {
            let error = prepare(&work[..end]).unwrap_err().to_string();
            assert!(error.contains("the work"), "{end}: {error}");
        }
    }

    #[test]
    fn the_end_of_a_long_output_is_kept() {
        let mut printed = vec![b'a'; MAX_PRINTED];
        printed.extend_from_slice(b"the end");
        let kept = last(&printed);
        assert_eq!(kept.len(), MAX_PRINTED);
        assert!(kept.ends_with("the end"));
        assert_eq!(last(&[0xff, b'x']), "\u{fffd}x");
    }

    /// A mistyped command turns off no machine.
    #[test]
    fn only_a_first_process_is_a_guest() {
        let options = Options {
            modules: PathBuf::from("/nowhere"),
        };
        assert!(run(&options).unwrap_err().to_string().contains("guest"));
    }
}
