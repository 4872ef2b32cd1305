//! Split TCP on real packets: `airtcp proxy`.
//!
//! ```text
//!   client ══ the kernel's TCP ══ pipe, by splice(2) ══ the kernel's TCP ══ server
//!             └ one of the two with the mobile side's congestion control ┘
//! ```
//!
//! Data is read only if the other side has room for it, so that waiting data stays in the sender's
//! window. An end, a reset or an error of one side is passed to the other.
#![cfg(target_os = "linux")]

mod admission;
mod backlog;
mod carrier;
mod confinement;
mod counters;
mod divert;
mod flow;
mod handover;
mod journaled_diversion;
mod kernel_stack;
mod limits;
mod listeners;
mod memory;
mod options;
mod pipes;
mod queue;
mod relay;
mod serve;
mod socket;
mod spliced;
pub mod stack;
mod stats_line;
mod status;
mod userspace;

use std::os::fd::OwnedFd;

use airtcp_host::daemon::readiness::Manager;
use airtcp_host::daemon::signals::Signals;
use airtcp_host::error::{Error, Result};

use crate::admission::Servers;
use crate::divert::Diversion;
use crate::flow::Shared;
use crate::handover::{Identity, Inheritance};
pub use crate::journaled_diversion::Entry as Diverted;
use crate::journaled_diversion::JournaledDiversion;
use crate::kernel_stack::KernelStack;
use crate::limits::Limits;
use crate::listeners::listeners;
use crate::memory::Memory;
use crate::options::Mobile;
pub use crate::options::Options;
use crate::pipes::Pipes;
use crate::serve::{Ended, Proxy, SIGNALS, Sources};
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
        if let Some(process) = options.take_over {
            return Err(Error::new(format!(
                "--take-over {process} with --mobile-stack {name}: connections of a stack of \
                 airtcp's own are in the memory of their process, and cannot be handed over"
            ))
            .remedied_by("end that proxy, which resets its connections, and start this one"));
        }
        eprintln!("airtcp-net: {}", userspace::run(options, name)?.summary());
        return Ok(0);
    }
    if options.sessions.is_some() {
        return Err(
            Error::new("--sessions: with stacks of airtcp's own, such as newreno")
                .remedied_by("airtcp list remedies wsc-best-start says how a kernel begins so"),
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
    let identity = Identity::new(options, true);
    let mut inheritance = match options.take_over {
        Some(process) => Some(Inheritance::of(process, &identity)?),
        None => None,
    };
    let listeners = match &mut inheritance {
        Some(inheritance) => {
            let listeners = std::mem::take(&mut inheritance.listeners);
            for listener in &listeners {
                of_clients
                    .iter()
                    .try_for_each(|stack| stack.apply(listener))?;
            }
            listeners
        }
        None => listeners(listen, options.transparent, of_clients.as_ref())?,
    };
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
            let lock = inheritance.as_mut().and_then(|it| it.lock.take());
            let kept = match lock {
                Some(lock) => JournaledDiversion::inherit(&diversion, &options.places, lock)?,
                None => JournaledDiversion::make(diversion, &options.places)?,
            };
            eprintln!("airtcp-net: {words}");
            Some(kept)
        }
        None => None,
    };
    let lock = kept.as_ref().map(JournaledDiversion::lock).transpose()?;
    let carrier = Spliced::new(servers, of_servers, shared);
    let most = limits.connections;
    let prepared = prepare(options, listeners, carrier, most, identity).and_then(|proxy| {
        inheritance.iter().try_for_each(Inheritance::acknowledge)?;
        Ok(proxy.with_lock(lock))
    });
    let ended = match prepared {
        // The predecessor continues, with its rules.
        Err(error) if inheritance.is_some() => {
            if let Some(diversion) = kept {
                diversion.leave();
            }
            return Err(error);
        }
        prepared => prepared.and_then(|proxy| work(options, proxy, inheritance, most)),
    };
    if let Ok(Ended::HandedOver(channel)) = ended {
        if let Some(diversion) = kept {
            diversion.leave();
        }
        eprintln!("airtcp-net: a successor has taken over, nothing was reset");
        handover::await_dismissal(&channel);
        return Ok(0);
    }
    // Connections are gone by now: their packets needed the rules.
    if let Some(kept) = kept {
        kept.undo()?;
    }
    if let Ended::Signalled(counters) = ended? {
        eprintln!("airtcp-net: {}", counters.summary());
    }
    Ok(0)
}

/// Creates a proxy that passes nothing yet.
fn prepare(
    options: &Options,
    listeners: Vec<OwnedFd>,
    carrier: Spliced,
    most: usize,
    identity: Identity,
) -> Result<Proxy<Spliced>> {
    let sources = Sources {
        listeners,
        signals: Signals::take(&SIGNALS)?,
        successor: handover::listener()?,
    };
    Proxy::new(sources, carrier, most, options.stats, identity)
}

/// Runs it, with the state of a predecessor if any.
fn work(
    options: &Options,
    mut proxy: Proxy<Spliced>,
    inheritance: Option<Inheritance>,
    most: usize,
) -> Result<Ended> {
    let manager = Manager::from_environment();
    if let Some(mut inheritance) = inheritance {
        let relays = std::mem::take(&mut inheritance.relays);
        proxy.resume(relays, inheritance.counters);
        // Before the predecessor ends: the service would otherwise end with it.
        manager.ready();
        inheritance.dismiss();
    }
    let requests = status::serve(options.metrics)?;
    confinement::keep_only_what_is_needed(options)?;
    manager.ready();
    eprintln!("airtcp-net: at most {most} connections");
    eprintln!("airtcp-net: ready");
    proxy.run(&requests)
}
