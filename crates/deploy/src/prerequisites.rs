//! A deployment's requirements, all checked before anything is changed.

use std::path::Path;

use airtcp_host::bpf;
use airtcp_host::error::{Error, Result};
use airtcp_host::iproute::ip;
use airtcp_host::release::{self, version};
use rustix::fs::{Access, access};

use crate::change::{Change, check_pins};
use crate::plan::Plan;

/// The oldest Linux version for ways that do not name one.
const OLDEST: &str = "5.4";
/// The same for links pinned in a BPF file system.
const OLDEST_WITH_PROGRAMS: &str = "6.4";

/// Returns the missing requirements, each with a remedy. Empty: it can be deployed.
pub fn missing(plan: &Plan, state: &Path) -> Vec<String> {
    let mut missing = Vec::new();
    let mut need = |result: Result<()>| {
        if let Err(error) = result {
            let text = error.to_string();
            if !missing.contains(&text) {
                missing.push(text);
            }
        }
    };
    need(kernel(plan.since.unwrap_or(OLDEST)));
    let mut routes = false;
    for change in &plan.changes {
        match change {
            Change::Setting { file, .. } | Change::Radio { file, .. } => need(writable(file)),
            Change::Route { .. } => routes = true,
            // Tried by the plan already.
            Change::Discipline { .. } => {}
            Change::Control { pins, .. } | Change::Treatment { pins, .. } => {
                need(kernel(OLDEST_WITH_PROGRAMS));
                need(bpf::allowed());
                need(check_pins(pins));
            }
        }
    }
    if routes {
        need(
            ip(
                false,
                &["route", "show", "table", "main", "exact", "0.0.0.0/0"],
            )
            .map(drop),
        );
    }
    need(root());
    let there = state.ancestors().find(|path| path.exists());
    need(writable(there.unwrap_or(state)));
    missing
}

fn kernel(needed: &str) -> Result<()> {
    let release = release::running();
    if version(&release) >= version(needed) {
        return Ok(());
    }
    Err(Error::new(format!(
        "this kernel is Linux {release}: expected {needed} or later"
    )))
}

fn root() -> Result<()> {
    if rustix::process::geteuid().is_root() {
        return Ok(());
    }
    Err(
        Error::new("settings, routes and queues are changed by root alone")
            .remedied_by("run it as root"),
    )
}

fn writable(path: &Path) -> Result<()> {
    access(path, Access::WRITE_OK)
        .map_err(|cause| Error::system(format!("cannot write {}", path.display()), cause))
}
