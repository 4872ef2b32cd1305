//! The mobile side in airtcp's endpoint: any stack of the catalogue, on a TUN device.
//!
//! ```text
//!   the kernel's TCP ══ copied ══ endpoint ── TUN device ── this machine forwards ── the radio
//! ```

mod best_start;
mod carrier;
mod paths;
mod relay;
mod sides;
mod stack;

use std::net::{Ipv6Addr, SocketAddr, SocketAddrV6};
use std::os::fd::OwnedFd;

use airtcp_endpoint::{ListenOptions, ListenerId};
use airtcp_host::daemon::readiness::Manager;
use airtcp_host::daemon::signals::Signals;
use airtcp_host::error::{Error, Result};
use airtcp_host::link_reports;
use airtcp_tcp::config::{LinkFeedbackConfig, ReceiveWindow};

use crate::admission::Servers;
use crate::counters::Counters;
use crate::divert::{Diversion, EndpointSide};
use crate::handover::Identity;
use crate::journaled_diversion::JournaledDiversion;
use crate::limits::Limits;
use crate::listeners::listeners;
use crate::options::Mobile;
use crate::serve::{Ended, Proxy, SIGNALS, Sources};
use crate::stack::driver::Driver;
use crate::{Options, confinement, handover, status};
use best_start::BestStart;
use carrier::{Policy, Userspace};
use paths::Path;
use sides::{Beyond, Way};
pub use stack::stack;

/// Every port of every address, of either family.
const EVERY_PORT: SocketAddrV6 = SocketAddrV6::new(Ipv6Addr::UNSPECIFIED, 0, 0, 0);

/// Runs the proxy with one of airtcp's stacks until a signal ends it. Returns the counters.
///
/// # Errors
///
/// The stack is not available, or the system refuses something needed.
pub fn run(options: &Options, name: &str) -> Result<Counters> {
    let mut config = stack(name)?;
    let Some(listen) = options.listen else {
        return Err(Error::new("--listen is missing"));
    };
    let memory = options.memory as usize * (1 << 20);
    let limits = Limits::raise(options.connections, memory)?;
    let buffer = options.buffer as usize * (1 << 10);
    config.receive_window = ReceiveWindow::Autotuned;
    config.receive_buffer = buffer as u64;
    let mut settings = airtcp_endpoint::Options::new(config);
    settings.send_buffer = buffer;
    settings.no_delay = true;
    let (driver, stands) = match (&options.device, &options.to) {
        (Some(device), _) => between(options, device, listen, &settings, memory)?,
        (None, Some(to)) => named(options, to, listen, &settings, memory)?,
        (None, None) => {
            return Err(Error::new(
                "--to is missing: HOST:PORT, or --transparent in its place",
            ));
        }
    };
    let sources = Sources {
        listeners: stands.listeners,
        signals: Signals::take(&SIGNALS)?,
        successor: handover::listener()?,
    };
    let hears = settings.config.link_feedback != LinkFeedbackConfig::default();
    let policy = Policy {
        way: stands.way,
        options: settings,
        memory: BestStart::open(options.sessions.as_deref()),
        reports: hears.then(link_reports::listener).transpose()?,
    };
    let carrier = Userspace::new(policy, driver);
    let proxy = Proxy::new(
        sources,
        carrier,
        limits.connections,
        options.stats,
        Identity::new(options, false),
    )?;
    let requests = status::serve(options.metrics)?;
    confinement::keep_only_what_is_needed(options)?;
    eprintln!("airtcp-net: at most {} connections", limits.connections);
    eprintln!("airtcp-net: ready");
    Manager::from_environment().ready();
    let worked = proxy.run(&requests);
    drop(stands.line);
    if let Some(kept) = stands.kept {
        kept.undo()?;
    }
    match worked? {
        Ended::Signalled(counters) => Ok(counters),
        Ended::HandedOver(_) => Err(Error::new("connections in memory were handed over")),
    }
}

/// The proxy's position between clients and servers.
struct Stands {
    way: Way,
    listeners: Vec<OwnedFd>,
    line: Path,
    kept: Option<JournaledDiversion>,
}

/// In front of one server, with the proxy's addresses.
fn named(
    options: &Options,
    to: &str,
    listen: SocketAddr,
    settings: &airtcp_endpoint::Options,
    memory: usize,
) -> Result<(Driver, Stands)> {
    let servers = Servers::named(to, listen)?;
    let (driver, way, listeners, line) = match options.mobile {
        Mobile::Clients => {
            let (mut driver, line) = Path::to_clients(listen, memory)?;
            let listener = listen_at(&mut driver, listen, settings)?;
            (
                driver,
                Way::ToKernel { listener, servers },
                Vec::new(),
                line,
            )
        }
        Mobile::Servers => {
            let (driver, line) = Path::to_servers(memory)?;
            let server = servers.first_v4().ok_or_else(|| {
                Error::new(format!("--to {to}: expected a server with an IPv4 address"))
            })?;
            let from = line.address;
            let way = Way::ToEndpoint(Beyond::Fixed { from, server });
            (driver, way, listeners(listen, false, None)?, line)
        }
    };
    let stands = Stands {
        way,
        listeners,
        line,
        kept: None,
    };
    Ok((driver, stands))
}

/// On the path of clients that arrive on `device`, with both ends' addresses.
fn between(
    options: &Options,
    device: &str,
    listen: SocketAddr,
    settings: &airtcp_endpoint::Options,
    memory: usize,
) -> Result<(Driver, Stands)> {
    let listener = listen.port();
    // These check that the address is available, on the endpoint's side too.
    let mut listeners = listeners(listen, true, None)?;
    let has_v6 = listeners.len() > 1;
    let (mut driver, line) = Path::between(device, memory)?;
    let way = match options.mobile {
        Mobile::Clients => {
            listeners.clear();
            let listener = listen_at(&mut driver, EVERY_PORT.into(), settings)?;
            let servers = Servers::Original {
                listener: listen.port(),
            };
            Way::ToKernel { listener, servers }
        }
        Mobile::Servers => Way::ToEndpoint(Beyond::Original { listener }),
    };
    let diversion = Diversion {
        device: device.to_owned(),
        ports: options.port.clone(),
        listener,
        has_v6,
        endpoint: Some(EndpointSide {
            device: line.device.clone(),
            side: options.mobile,
        }),
    };
    let words = diversion.words();
    let kept = Some(JournaledDiversion::make(diversion, &options.places)?);
    eprintln!("airtcp-net: {words}");
    let stands = Stands {
        way,
        listeners,
        line,
        kept,
    };
    Ok((driver, stands))
}

fn listen_at(
    driver: &mut Driver,
    listen: SocketAddr,
    settings: &airtcp_endpoint::Options,
) -> Result<ListenerId> {
    let asked = ListenOptions {
        options: settings.clone(),
        ..ListenOptions::default()
    };
    (driver.endpoint_mut().listen(listen, asked))
        .map_err(|error| Error::new(format!("--listen {listen}: {error}")))
}
