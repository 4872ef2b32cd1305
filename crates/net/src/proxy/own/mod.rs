//! The mobile side in our own endpoint: any stack of the catalogue, on a TUN device.
//!
//! ```text
//!   the kernel's TCP ══ copied ══ endpoint ── TUN device ── this machine forwards ── the radio
//! ```

mod best_start;
mod relay;
mod serve;
mod stack;
mod ways;

use airtcp_endpoint::ListenOptions;
use airtcp_tcp::config::{LinkFeedbackConfig, ReceiveWindow};

use super::admission::Servers;
use super::counters::Counters;
use super::limits::Limits;
use super::options::Mobile;
use super::serve::Sources;
use super::{Options, listeners, signals, status};
use crate::emulate::reports;
use crate::error::{Error, Result};
use best_start::BestStart;
use serve::{Policy, Proxy, Way};
pub use stack::stack;
use ways::Line;

/// Runs the proxy with a stack of our own until a signal ends it. Returns what has happened.
///
/// # Errors
///
/// The stack cannot be had, or the system refuses what is needed.
pub fn run(options: &Options, name: &str) -> Result<Counters> {
    let mut config = stack(name)?;
    let (Some(listen), Some(to)) = (options.listen, &options.to) else {
        return Err(Error::new(format!(
            "--transparent: with the kernel's stacks alone, not with {name}"
        ))
        .remedied_by("linux-NAME is one, such as linux-bbr"));
    };
    let memory = options.memory as usize * (1 << 20);
    let limits = Limits::raise(options.connections, memory)?;
    let buffer = options.buffer as usize * (1 << 10);
    config.receive_window = ReceiveWindow::Autotuned;
    config.receive_buffer = buffer as u64;
    let mut settings = airtcp_endpoint::Options::new(config);
    settings.send_buffer = buffer;
    settings.no_delay = true;
    let servers = Servers::named(to, listen)?;
    let (mut driver, line) = match options.mobile {
        Mobile::Clients => Line::to_clients(listen, memory)?,
        Mobile::Servers => Line::to_servers(memory)?,
    };
    let (way, listeners) = match options.mobile {
        Mobile::Clients => {
            let asked = ListenOptions {
                options: settings.clone(),
                ..ListenOptions::default()
            };
            let listener = driver
                .endpoint_mut()
                .listen(listen, asked)
                .map_err(|error| Error::new(format!("--listen {listen}: {error}")))?;
            (Way::ToKernel { listener, servers }, Vec::new())
        }
        Mobile::Servers => {
            let server = servers.first_v4().ok_or_else(|| {
                Error::new(format!("--to {to}: expected a server with an IPv4 address"))
            })?;
            let from = line.address;
            (
                Way::ToEndpoint { from, server },
                listeners(listen, false, None)?,
            )
        }
    };
    let sources = Sources {
        listeners,
        signals: signals::ending()?,
        status: status::listener()?,
    };
    let hears = settings.config.link_feedback != LinkFeedbackConfig::default();
    let policy = Policy {
        way,
        options: settings,
        memory: BestStart::open(options.sessions.as_deref()),
        reports: hears.then(reports::listener).transpose()?,
        most: limits.connections,
        has_stats: options.stats,
    };
    let proxy = Proxy::new(sources, policy, driver)?;
    eprintln!("airtcp-net: at most {} connections", limits.connections);
    eprintln!("airtcp-net: ready");
    let worked = proxy.run();
    drop(line);
    worked
}
