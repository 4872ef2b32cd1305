//! `airtcp serve`: serves a folder by HTTP, over airtcp's TCP.

use std::collections::BTreeMap;
use std::net::{Ipv6Addr, SocketAddr};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use airtcp_endpoint::{ConnectionId, Event, Linger, ListenOptions};
use airtcp_host::daemon::signals::{Signal, Signals};
use airtcp_host::error::{Error, Result, Tried};
use airtcp_host::privileges::{Calls, CapabilitySet, Needs, keep_only};
use clap::Args;
use rustix::process::getpid;

use super::exchange::{Exchange, Progress};
use super::options::StackOptions;
use super::stats::Stats;

/// Serve a folder over HTTP, on airtcp's TCP
///
/// Programs on this machine (curl, a browser) reach it at 10.112.7.2, other hosts if the kernel
/// forwards to the device. GET and HEAD return files and directory listings; with --upload, PUT
/// stores files. Runs until interrupted. Needs root, or a private network namespace (unshare
/// -Urn).
///
/// Example: airtcp serve --port 8000 --dir . & curl http://10.112.7.2:8000/
#[derive(Args, Clone, Debug)]
pub struct Serve {
    /// Port to listen on
    #[arg(long, default_value_t = 8000, value_parser = clap::value_parser!(u16).range(1..))]
    pub port: u16,
    /// Folder to serve
    #[arg(long, default_value = ".")]
    pub dir: PathBuf,
    /// Store files sent by PUT in the folder
    #[arg(long)]
    pub upload: bool,
    /// Exit after this many connections
    #[arg(long, value_name = "N")]
    pub connections: Option<u64>,
    /// The device and the stack.
    #[command(flatten)]
    pub stack: StackOptions,
}

/// Serves until an interrupt or a termination signal comes.
///
/// # Errors
///
/// The device cannot be created, or the folder does not exist.
pub fn run(options: &Serve) -> Result<i32> {
    let root = options
        .dir
        .canonicalize()
        .tried(|| format!("--dir {}", options.dir.display()))?;
    if !root.is_dir() {
        return Err(Error::new(format!(
            "--dir {}: expected a folder",
            root.display()
        )));
    }
    let connection = options.stack.connection()?;
    let mut driver = options.stack.driver()?;
    let stop = Signals::take(&[Signal::INT, Signal::TERM])?;
    let any = SocketAddr::new(Ipv6Addr::UNSPECIFIED.into(), options.port);
    let mut stats = Stats::new(options.stack.stats, &connection, driver.now());
    let listening = ListenOptions {
        options: connection,
        ..ListenOptions::default()
    };
    let listener = driver
        .endpoint_mut()
        .listen(any, listening)
        .map_err(|error| Error::new(error.to_string()))?;
    let address = options
        .stack
        .address(std::net::Ipv4Addr::UNSPECIFIED.into());
    confine(&root, options.upload)?;
    eprintln!(
        "serving {} at http://{address}:{}/ (process {})",
        root.display(),
        options.port,
        getpid().as_raw_nonzero()
    );
    let mut exchanges: BTreeMap<ConnectionId, Exchange> = BTreeMap::new();
    let mut served = 0;
    while options.connections.is_none_or(|most| served < most) {
        let more = driver.pump()?;
        let mut turns = Vec::new();
        while let Some(event) = driver.endpoint_mut().next_event() {
            match event {
                Event::Incoming(_) => {
                    while let Some(id) = driver.endpoint_mut().accept(listener) {
                        exchanges.insert(id, Exchange::new(root.clone(), options.upload));
                        turns.push(id);
                    }
                }
                Event::Changed(id) => turns.push(id),
            }
        }
        for id in turns {
            let Some(exchange) = exchanges.get_mut(&id) else {
                continue;
            };
            if exchange.go_on(driver.endpoint_mut(), id) == Progress::Over {
                exchanges.remove(&id);
                served += 1;
                let now = driver.now();
                let _ = driver.endpoint_mut().release(now, id, Linger::Background);
            }
        }
        driver.flush()?;
        stats.print(driver.now(), driver.endpoint());
        if !more && !driver.endpoint().has_event() {
            driver.wait(stats.due(), Some(stop.as_fd()))?;
        }
        if stop.next().is_some() {
            break;
        }
    }
    driver.finish_capture()?;
    let counters = driver.endpoint().counters();
    eprintln!("served {served} connections: {counters:?}");
    Ok(0)
}

/// Permits access to the folder, and to no file outside it, regardless of ownership.
fn confine(root: &Path, is_written: bool) -> Result<()> {
    let mut capabilities = CapabilitySet::DAC_READ_SEARCH;
    if is_written {
        capabilities |= CapabilitySet::DAC_OVERRIDE;
    }
    let folder = [root];
    keep_only(&Needs {
        capabilities,
        calls: Calls::Traffic,
        writes: if is_written { &folder } else { &[] },
        reads: Some(&folder),
    })
}
