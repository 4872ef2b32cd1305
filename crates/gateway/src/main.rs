//! `airtcp-gateway`: only the gateway, small enough for an access point. Its command line is that
//! of `airtcp gateway`.

#[cfg(target_os = "linux")]
fn main() -> std::process::ExitCode {
    use airtcp_gateway::{Options, guard, run};
    use clap::{Args, FromArgMatches};

    let is_guard = std::env::args().nth(1).as_deref() == Some(guard::COMMAND);
    let result = if is_guard {
        let command = guard::Options::augment_args(clap::Command::new(guard::COMMAND));
        let matches = command.get_matches_from(std::env::args_os().skip(1));
        guard::Options::from_arg_matches(&matches).map(|options| guard::run(&options))
    } else {
        let command = clap::Command::new("airtcp-gateway").version(env!("CARGO_PKG_VERSION"));
        let matches = Options::augment_args(command).get_matches();
        Options::from_arg_matches(&matches).map(|options| run(&options))
    };
    match result.unwrap_or_else(|error| error.exit()) {
        Ok(code) => std::process::ExitCode::from(u8::try_from(code).unwrap_or(1)),
        Err(error) => {
            eprintln!("airtcp-gateway: {error}");
            std::process::ExitCode::from(2)
        }
    }
}

#[cfg(not(target_os = "linux"))]
fn main() -> std::process::ExitCode {
    eprintln!("airtcp-gateway carries real packets on Linux alone");
    std::process::ExitCode::from(2)
}
