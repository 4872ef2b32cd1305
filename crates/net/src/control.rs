//! `airtcp-net control`: a congestion control in BPF while a command runs.

use std::ffi::OsString;
use std::process::Command;

use airtcp_emulate::inside::exit_code;
use airtcp_host::bpf::{Program, Registered, Verdicts};
use airtcp_host::error::{Error, Result, Tried};
use airtcp_remedies::bpf::unverified;
use clap::Args;

/// Register a congestion control in BPF while a command runs
///
/// Sockets of the command select it by name (`iperf3 -C newzag`, TCP_CONGESTION). It is removed
/// when the command ends, even after kill -9, and its counters are printed. An object file is
/// loaded as it is: the kernel decides whether it takes it. Requires root.
///
/// Example: airtcp-net control newzag --set adjusted=1 -- iperf3 -C newzag -c 10.0.0.1
#[derive(Args, Clone, Debug)]
pub struct Options {
    /// newzag, coin, veno or westwood, or an object file of yours: my.bpf.o
    name: String,
    /// An integer constant of the program; repeatable
    #[arg(long, value_name = "CONSTANT=NUMBER")]
    set: Vec<String>,
    /// Name by which sockets select it; by default that of the program
    #[arg(long, value_name = "NAME")]
    called: Option<String>,
    /// Command to run; a shell by default
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

/// Registers the program, runs the command, and returns its status.
///
/// # Errors
///
/// The program cannot be registered or the command cannot be run; gives the reason.
pub fn run(options: &Options) -> Result<i32> {
    let constants = options
        .set
        .iter()
        .map(|text| {
            let given = text
                .split_once('=')
                .and_then(|(name, value)| Some((name.to_owned(), value.parse().ok()?)));
            given.ok_or_else(|| {
                Error::new(format!(
                    "--set {text:?}: expected CONSTANT=NUMBER, such as adjusted=1"
                ))
            })
        })
        .collect::<Result<_>>()?;
    let is_file = options.name.ends_with(".o") || options.name.ends_with(".c");
    let object = is_file.then(|| unverified(&options.name)).transpose();
    let object = object.map_err(Error::new)?;
    let program = match &object {
        Some((control, bytes)) => Program {
            control,
            object: Some(bytes),
        },
        None => Program::shipped(&options.name),
    };
    let name = options.called.as_deref().unwrap_or(program.control);
    let registered = Registered::new(program, name, &constants)?;
    let shell = [std::env::var_os("SHELL").unwrap_or_else(|| "/bin/sh".into())];
    let (program, arguments) = options
        .command
        .split_first()
        .unwrap_or_else(|| (&shell[0], &[]));
    let status = Command::new(program)
        .args(arguments)
        .status()
        .tried(|| format!("cannot run {}", program.to_string_lossy()))?;
    for line in lines(name, &registered.verdicts()?) {
        eprintln!("{line}");
    }
    Ok(exit_code(status))
}

/// The counters, in words.
fn lines(name: &str, verdicts: &[Verdicts]) -> Vec<String> {
    verdicts
        .iter()
        .map(|row| match row.lost {
            0 => format!("{name}: {} timeouts", row.congestion),
            1..=3 => format!(
                "{name}: losses of n = {}: {} the radio's, {} congestion",
                row.lost, row.radio, row.congestion
            ),
            _ => format!(
                "{name}: losses of n > 3: {} the radio's, {} congestion",
                row.radio, row.congestion
            ),
        })
        .collect()
}
