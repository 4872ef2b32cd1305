//! The last step: `airtcp deploy`, `deployed` and `undeploy` change this machine as described by a
//! remedy's catalogue entry, and restore it.
//!
//! ```text
//!   remedy ── plan ── changes ── the host's journal and engine ──▶ the machine
//! ```
#![cfg(target_os = "linux")]

pub mod change;
mod check;
mod connections;
pub mod entry;
mod groups;
mod options;
mod plan;
mod prerequisites;
mod radio;
pub mod route;
pub mod target;
mod text;

use airtcp_host::changes::journal::{Journal, Locked, Stage};
use airtcp_host::changes::{engine, guard};
use airtcp_host::clock::{boot_time_ns, since_1970};
use airtcp_host::daemon::program;
use airtcp_host::error::{Error, Result};
use airtcp_host::namespace::cookie;
use airtcp_units::Duration;

use crate::change::Change;
use crate::entry::Entry;
pub use crate::options::{Deploy, Deployed, Undeploy};
use crate::plan::{Plan, Request};

/// Deploys a remedy. Returns the exit status.
///
/// # Errors
///
/// There is no way, a requirement is missing, or the system refuses a change: in that case nothing
/// is changed.
pub fn deploy(options: &Deploy) -> Result<i32> {
    let target = options.target.target();
    let remedies =
        airtcp_remedies::parse(&options.remedy).map_err(|error| Error::new(error.to_string()))?;
    if remedies.is_empty() {
        return Err(Error::new(
            "no remedy is given: airtcp list remedies lists them",
        ));
    }
    let asked = Request {
        target: &target,
        share: options.share,
        deviation_ms: options.deviation,
        rate: options.rate.as_deref(),
        pins: &options.places.pins,
        sys: &options.sys,
    };
    let plan = Plan::new(&remedies, &asked)?;
    let command = command(options, &target.to_string());
    let missing = prerequisites::missing(&plan, &options.places.state);
    if options.dry_run {
        println!(
            "{}",
            text::dry_run(&command, &plan, options.period, &missing)
        );
        return Ok(0);
    }
    if options.script {
        println!("{}", text::script(&command, &plan, options.period)?);
        return Ok(0);
    }
    if plan.changes.is_empty() {
        println!("{}", text::dry_run(&command, &plan, None, &[]));
        return Ok(0);
    }
    if !missing.is_empty() {
        return Err(Error::new(format!(
            "nothing was changed; missing here: {}",
            missing.join("; ")
        )));
    }
    let journal = options.places.journal::<Entry>()?;
    let lock = lock(&journal)?;
    make_room(&journal, &lock)?;
    let entry = entry(options, &target.to_string(), plan);
    let guard = guard::start::<Entry>(&program::running()?, &options.places)?;
    engine::make(&journal, &lock, &entry, &mut |_| {})?;
    guard.dismiss();
    drop(lock);
    println!("{}", text::deployed(&entry));
    for change in &entry.changes {
        println!("  {}", change.words());
    }
    for note in &entry.notes {
        println!("{note}");
    }
    Ok(0)
}

/// Undoes a deployment that is overdue or was interrupted; a valid one is an error.
fn make_room(journal: &Journal<Entry>, lock: &Locked) -> Result<()> {
    match journal.read()? {
        None => Ok(()),
        Some((Stage::Deployed, entry))
            if entry.until_ns.is_none_or(|until| until > boot_time_ns()) =>
        {
            Err(
                Error::new(format!("there is a deployment: {}", text::deployed(&entry)))
                    .remedied_by("airtcp deploy --undo puts it back; a+b deploys two together"),
            )
        }
        Some(_) => engine::undo(journal, lock, false, &mut |_| {}).map(drop),
    }
}

fn entry(options: &Deploy, target: &str, plan: Plan) -> Entry {
    let now = boot_time_ns();
    let until_ns = options
        .period
        .map(|period: Duration| now + period.as_nanos());
    let mut changes = plan.changes;
    for change in &mut changes {
        if let Change::Treatment { treatment, .. } = change {
            treatment.until_ns = until_ns;
            // Another choice of connections each time, which is recorded in the journal.
            treatment.salt = (now ^ (now >> 32)) as u32;
        }
    }
    Entry {
        remedies: options.remedy.clone(),
        target: target.to_owned(),
        share: options.share,
        since: since_1970() / 1_000_000_000,
        until_ns,
        id: now,
        changes,
        notes: plan.notes,
        control: plan.control,
    }
}

fn command(options: &Deploy, target: &str) -> String {
    let share = options
        .share
        .map(|share| format!(" --share {}%", f64::from(share) / 100.0))
        .unwrap_or_default();
    let period = options
        .period
        .map(|period| format!(" --for {}s", period.as_secs_f64()))
        .unwrap_or_default();
    let rate = options.rate.as_ref();
    let rate = rate
        .map(|rate| format!(" --rate {rate}"))
        .unwrap_or_default();
    format!(
        "airtcp deploy {} {target}{rate}{share}{period}",
        options.remedy
    )
}

/// Excludes other airtcp processes from changing this machine while this lives.
fn lock(journal: &Journal<Entry>) -> Result<Locked> {
    journal.lock()?.ok_or_else(|| {
        Error::new("another airtcp is changing this machine").remedied_by("wait until it has ended")
    })
}

/// Undoes the deployment. Returns the exit status.
///
/// # Errors
///
/// A change cannot be undone.
pub fn undeploy(options: &Undeploy) -> Result<i32> {
    let journal = options.places.journal::<Entry>()?;
    let lock = lock(&journal)?;
    let Some((stage, entry)) = journal.read()? else {
        println!("nothing is deployed");
        return Ok(0);
    };
    // If this process dies first, the guard continues.
    let guard = guard::start::<Entry>(&program::running()?, &options.places)?;
    let left = engine::undo(&journal, &lock, options.forget, &mut |_| {})?;
    guard.dismiss();
    drop(lock);
    println!(
        "{} {}: put back{}",
        entry.remedies,
        entry.target,
        if stage == Stage::Deployed {
            ""
        } else {
            ", after it had been interrupted"
        }
    );
    for line in left {
        println!("{line}");
    }
    if entry.control.is_some() {
        println!("connections made meanwhile keep their congestion control until they close");
    }
    Ok(0)
}

/// Prints the current deployment. Returns the exit status.
///
/// # Errors
///
/// The journal or the kernel cannot be read.
pub fn deployed(options: &Deployed) -> Result<i32> {
    // A query creates nothing.
    let journal = Journal::<Entry>::new(options.places.state.clone(), cookie()?);
    let found = journal.read()?;
    let report = check::Report::new(found, options)?;
    if options.json {
        let text = serde_json::to_string(&report)
            .map_err(|error| Error::new(format!("cannot write the result: {error}")))?;
        println!("{text}");
    } else {
        println!("{}", report.text());
    }
    Ok(0)
}
