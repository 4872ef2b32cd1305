//! Split TCP on real packets: `airtcp proxy`.
//!
//! ```text
//!   client ══ the kernel's TCP ══ pipe, by splice(2) ══ the kernel's TCP ══ server
//!             └ one of the two with the mobile side's congestion control ┘
//! ```
//!
//! Data is read only if the other side has room for it, so that waiting data stays in the sender's
//! window. An end, a reset or an error of one side becomes the same on the other.
#![cfg(target_os = "linux")]

mod admission;
mod backlog;
mod carrier;
mod confinement;
mod counters;
mod divert;
mod flow;
mod journaled_diversion;
mod kernel_stack;
mod limits;
mod listeners;
mod memory;
mod metrics;
mod options;
mod pipes;
mod queue;
mod relay;
mod serve;
mod signals;
mod socket;
mod spliced;
pub mod stack;
mod stats_line;
mod status;
mod userspace;

use std::os::fd::OwnedFd;

use airtcp_host::error::{Error, Result};

use crate::admission::Servers;
use crate::counters::Counters;
use crate::divert::Diversion;
use crate::flow::Shared;
use crate::journaled_diversion::JournaledDiversion;
use crate::kernel_stack::KernelStack;
use crate::limits::Limits;
use crate::listeners::listeners;
use crate::memory::Memory;
use crate::options::Mobile;
pub use crate::options::{Guard as GuardOptions, Options};
use crate::pipes::Pipes;
use crate::serve::{Proxy, Sources};
use crate::spliced::Spliced;

/// Runs the proxy until a signal ends it. Returns the exit status.
///
/// # Errors
///
/// An address is in use, the stack is not available, or the system refuses something needed: in
/// that case nothing is changed.
pub fn run(options: &Options) -> Result<i32> {
    if options.status {
        return status::print_all();
    }
    let Some(listen) = options.listen else {
        return Err(Error::new("--listen is missing"));
    };
    let own = options.mobile_stack.as_deref();
    let own = own.filter(|name| !kernel_stack::is_kernels(name));
    if let Some(name) = own {
        eprintln!("airtcp-net: {}", userspace::run(options, name)?.summary());
        return Ok(0);
    }
    if options.sessions.is_some() {
        return Err(
            Error::new("--sessions: with stacks of airtcp's own, such as newreno")
                .remedied_by("airtcp remedies wsc-best-start says how a kernel begins so"),
        );
    }
    let memory = options.memory as usize * (1 << 20);
    let limits = Limits::raise(options.connections, memory)?;
    let memory = Memory::new(
        memory,
        limits.connections,
        options.buffer as usize * (1 << 10),
    );
    let shared = Shared::new(Pipes::new(limits.pipes), memory);
    let servers = match &options.to {
        Some(name) => Servers::named(name, listen)?,
        None => Servers::Original {
            listener: listen.port(),
        },
    };
    let stack = options.mobile_stack.as_deref().map(KernelStack::new);
    let stack = stack.transpose()?;
    let (of_clients, of_servers) = match options.mobile {
        Mobile::Clients => (stack, None),
        Mobile::Servers => (None, stack),
    };
    if let Some(stack) = &of_servers {
        // Refused now rather than for every client.
        stack.apply(
            &rustix::net::socket(
                rustix::net::AddressFamily::INET,
                rustix::net::SocketType::STREAM,
                None,
            )
            .map_err(|cause| Error::system("cannot make a socket", cause))?,
        )?;
    }
    let listeners = listeners(listen, options.transparent, of_clients.as_ref())?;
    let kept = match &options.device {
        Some(device) => {
            let diversion = Diversion {
                device: device.clone(),
                ports: options.port.clone(),
                listener: listen.port(),
                has_v6: listeners.len() > 1,
                endpoint: None,
            };
            let words = diversion.words();
            let kept = JournaledDiversion::make(diversion, &options.places)?;
            eprintln!("airtcp-net: {words}");
            Some(kept)
        }
        None => None,
    };
    let carrier = Spliced::new(servers, of_servers, shared);
    let worked = work(options, listeners, carrier, limits.connections);
    // Connections are gone by now: their packets needed the rules.
    if let Some(kept) = kept {
        kept.undo()?;
    }
    eprintln!("airtcp-net: {}", worked?.summary());
    Ok(0)
}

/// Watches over another process's diversion. Returns the exit status.
///
/// # Errors
///
/// The diversion cannot be removed.
pub fn guard(options: &GuardOptions) -> Result<i32> {
    journaled_diversion::watch(&options.places)
}

fn work(
    options: &Options,
    listeners: Vec<OwnedFd>,
    carrier: Spliced,
    most: usize,
) -> Result<Counters> {
    let sources = Sources {
        listeners,
        signals: signals::ending()?,
        status: status::listener()?,
    };
    let proxy = Proxy::new(sources, carrier, most, options.stats)?;
    options.metrics.map_or(Ok(()), metrics::serve)?;
    confinement::keep_only_what_is_needed(options)?;
    eprintln!("airtcp-net: at most {most} connections");
    eprintln!("airtcp-net: ready");
    proxy.run()
}
