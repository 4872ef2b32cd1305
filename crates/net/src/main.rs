//! `airtcp-net`: airtcp's operations on real packets. The command `airtcp` delegates to it.

#[cfg(target_os = "linux")]
mod cli;
#[cfg(target_os = "linux")]
mod control;
#[cfg(target_os = "linux")]
mod guest;

#[cfg(target_os = "linux")]
fn main() -> std::process::ExitCode {
    cli::main()
}

#[cfg(not(target_os = "linux"))]
fn main() -> std::process::ExitCode {
    eprintln!(
        "airtcp-net carries real packets on Linux alone: its namespaces, TUN devices and \
               kernel are what it measures. Simulate with `airtcp run` and `airtcp compare`."
    );
    std::process::ExitCode::from(2)
}
