//! The command line of airtcp-net, which is named `airtcp` when started by that program.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::ExitCode;

use airtcp_emulate::uplink::tied;
use airtcp_emulate::{inside, measure, run as emulate};
use airtcp_host::changes::guard;
use airtcp_host::error::Result;
use airtcp_proxy::stack::{send, serve};
use clap::{Parser, Subcommand};

use crate::{control, guest};

/// airtcp on real packets
#[derive(Debug, Parser)]
#[command(name = "airtcp-net", version, arg_required_else_help = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Control(control::Options),
    Deploy(airtcp_deploy::Deploy),
    Deployed(airtcp_deploy::Deployed),
    Emulate(emulate::Options),
    Gateway(airtcp_gateway::Options),
    #[command(hide = true, name = airtcp_gateway::guard::COMMAND)]
    GatewayGuard(airtcp_gateway::guard::Options),
    #[command(hide = true)]
    Guard(guard::Options),
    #[command(hide = true, name = guest::COMMAND)]
    Guest(guest::Options),
    Measure(measure::Options),
    Proxy(airtcp_proxy::Options),
    #[command(hide = true)]
    ProxyGuard(guard::Options),
    Send(send::Send),
    Serve(serve::Serve),
    Undeploy(airtcp_deploy::Undeploy),
}

/// Runs the command line: the status is the command's, or 2 for an invalid request.
pub fn main() -> ExitCode {
    let mut arguments = std::env::args_os();
    if let Some(first) = arguments.nth(1) {
        if first == inside::ARGUMENT {
            let command: Vec<_> = arguments.collect();
            return status(inside::first_process(&command), 127);
        }
        if first == tied::ARGUMENT {
            let command: Vec<_> = arguments.collect();
            return status(tied::become_tied(&command), 127);
        }
    }
    let arguments = match Arguments::try_parse_from(chosen(guest::words(std::env::args_os()))) {
        Ok(arguments) => arguments,
        Err(refusal) => return refused(&refusal),
    };
    match arguments.command {
        Command::Control(options) => status(control::run(&options), 2),
        Command::Deploy(options) => status(airtcp_deploy::deploy(&options), 2),
        Command::Deployed(options) => status(airtcp_deploy::deployed(&options), 2),
        Command::Guard(options) => status(guard::run::<airtcp_deploy::entry::Entry>(&options), 2),
        Command::Guest(options) => status(guest::run(&options), 2),
        Command::Undeploy(options) => status(airtcp_deploy::undeploy(&options), 2),
        Command::Emulate(options) => status(emulate::run(&options), 2),
        Command::Gateway(options) => status(airtcp_gateway::run(&options), 2),
        Command::GatewayGuard(options) => status(airtcp_gateway::guard::run(&options), 2),
        Command::Measure(options) => status(measure::run(&options), 2),
        Command::Proxy(options) => status(airtcp_proxy::run(&options), 2),
        Command::ProxyGuard(options) => status(guard::run::<airtcp_proxy::Diverted>(&options), 2),
        Command::Send(options) => status(send::run(&options), 1),
        Command::Serve(options) => status(serve::run(&options), 2),
    }
}

/// The options `deploy --list` and `deploy --undo` as the commands that they choose.
fn chosen(mut words: Vec<OsString>) -> Vec<OsString> {
    if words.get(1).is_some_and(|word| word == "deploy") {
        let command = match words.get(2).and_then(|word| word.to_str()) {
            Some("--list") => "deployed",
            Some("--undo") => "undeploy",
            _ => return words,
        };
        words.splice(1..3, [command.into()]);
    }
    words
}

/// Help and version as printed by clap; any other refusal in the style of other errors.
fn refused(refusal: &clap::Error) -> ExitCode {
    if !refusal.use_stderr()
        || refusal.kind() == clap::error::ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
    {
        let _ = refusal.print();
        return ExitCode::from(u8::try_from(refusal.exit_code()).unwrap_or(2));
    }
    let text = refusal.render().to_string();
    // clap appends the usage, which --help shows completely.
    let said = text.split("\n\nUsage:").next().unwrap_or(&text);
    let said = said
        .split("\n\nFor more information")
        .next()
        .unwrap_or(said);
    let said = said.replace("\n\n  tip:", ";");
    let words: Vec<&str> = said.split_whitespace().collect();
    let words = words.join(" ");
    let words = words.strip_prefix("error: ").unwrap_or(&words);
    let program = program();
    let command = std::env::args()
        .nth(1)
        .filter(|word| !word.starts_with('-'))
        .map_or_else(String::new, |command| format!("{command} "));
    eprintln!("{program}: {words}: `{program} {command}--help` shows what it takes");
    ExitCode::from(2)
}

/// The name by which this program was started: `airtcp` passes its own.
fn program() -> String {
    let first = std::env::args_os().next();
    first
        .as_deref()
        .and_then(|path| Path::new(path).file_name())
        .and_then(OsStr::to_str)
        .unwrap_or("airtcp-net")
        .to_owned()
}

fn status(result: Result<i32>, failed: u8) -> ExitCode {
    match result {
        Ok(code) => ExitCode::from(u8::try_from(code).unwrap_or(1)),
        Err(error) => {
            eprintln!("{}: {error}", program());
            ExitCode::from(failed)
        }
    }
}
