//! Texts that describe a plan and a deployment.

use airtcp_host::clock::boot_time_ns;
use airtcp_host::error::{Error, Result};
use airtcp_units::Duration;

use crate::change::{Change, UNDO};
use crate::entry::Entry;
use crate::plan::Plan;

/// The output of `--dry-run`.
pub fn dry_run(command: &str, plan: &Plan, period: Option<Duration>, missing: &[String]) -> String {
    let mut lines = vec![if plan.changes.is_empty() {
        format!("{command}: everything is so already, nothing to change")
    } else {
        format!("{command} would do, in this order:")
    }];
    lines.extend(
        plan.changes
            .iter()
            .map(|change| format!("  {}", change.words())),
    );
    if let Some(period) = period.filter(|_| !plan.changes.is_empty()) {
        lines.push(format!(
            "  and after {} put it back in the opposite order",
            seconds(period.as_nanos())
        ));
    }
    lines.extend(plan.notes.iter().cloned());
    if !missing.is_empty() {
        lines.push("missing here:".to_owned());
        lines.extend(missing.iter().map(|what| format!("  {what}")));
    }
    lines.join("\n")
}

/// The output of `--script`: a program for sh that makes the changes, and with `undo` undoes them.
///
/// # Errors
///
/// sysctl and iproute2 cannot make one of the changes.
pub fn script(command: &str, plan: &Plan, period: Option<Duration>) -> Result<String> {
    let words = |change: &Change| {
        change.commands().zip(change.undo_command()).ok_or_else(|| {
            Error::new(format!(
                "--script: sysctl and iproute2 have no words for: {}",
                change.words()
            ))
            .remedied_by("without --script, airtcp deploy does it itself")
        })
    };
    let commands: Vec<(String, String)> = plan.changes.iter().map(words).collect::<Result<_>>()?;
    let forward = commands.iter().map(|(make, _)| format!("    {make}"));
    let backward = commands.iter().rev().map(|(_, undo)| format!("    {undo}"));
    let notes = plan.notes.iter().map(|note| format!("# {note}"));
    let mut lines = vec![
        "#!/bin/sh".to_owned(),
        format!("# What `{command}` does; with the argument undo, what puts it back."),
    ];
    lines.extend(notes);
    lines.extend([
        "set -eu".into(),
        UNDO.into(),
        "case \"${1:-make}\" in".into(),
        "make)".into(),
    ]);
    lines.extend(forward.chain(["    :".to_owned()]));
    if let Some(period) = period {
        // Like the changes themselves, it does not survive a restart of the machine.
        let wait = period.as_nanos().div_ceil(1_000_000_000);
        lines.push(format!(
            "    (sleep {wait} && exec sh \"$0\" undo) </dev/null >/dev/null 2>&1 &"
        ));
    }
    lines.extend(["    ;;".into(), "undo)".into()]);
    lines.extend(backward.chain(["    :".to_owned()]));
    lines.extend([
        "    ;;".into(),
        "*)".into(),
        "    echo \"$0: expected make or undo\" >&2".into(),
        "    exit 2".into(),
        "    ;;".into(),
        "esac".into(),
    ]);
    Ok(lines.join("\n"))
}

/// The current deployment, in a sentence.
pub fn deployed(entry: &Entry) -> String {
    let share = entry
        .share
        .map(|share| format!(" --share {}%", f64::from(share) / 100.0))
        .unwrap_or_default();
    let now = boot_time_ns();
    let age = seconds(now.saturating_sub(entry.id));
    let end = match entry.until_ns {
        Some(until) if until > now => format!(", ends by itself in {}", seconds(until - now)),
        Some(_) => ", overdue: its guard was killed, undeploy puts it back".to_owned(),
        None => ", until undeploy".to_owned(),
    };
    format!(
        "{} {}{share}: deployed {age} ago{end}",
        entry.remedies, entry.target
    )
}

/// A time in its largest units, rounded to the nearest: the rest of ten minutes a moment after
/// their start is "10 min".
fn seconds(ns: u64) -> String {
    let seconds = ns.saturating_add(500_000_000) / 1_000_000_000;
    let minutes = (seconds + 30) / 60;
    match seconds {
        0..=119 => format!("{seconds} s"),
        _ if minutes < 120 => format!("{minutes} min"),
        _ => format!("{} h {} min", minutes / 60, minutes % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_rounded_to_the_nearest_of_its_smallest_unit() {
        let told = |milliseconds: u64| seconds(milliseconds * 1_000_000);
        assert_eq!(told(0), "0 s");
        assert_eq!(told(499), "0 s");
        assert_eq!(told(500), "1 s");
        assert_eq!(told(119_499), "119 s");
        assert_eq!(told(119_500), "2 min");
        assert_eq!(told(569_499), "9 min");
        assert_eq!(told(569_500), "10 min");
        assert_eq!(told(599_900), "10 min");
        assert_eq!(told(600_000), "10 min");
        assert_eq!(told(7_169_499), "119 min");
        assert_eq!(told(7_169_500), "2 h 0 min");
        assert_eq!(told(12_600_000), "3 h 30 min");
        assert!(seconds(u64::MAX).ends_with(" min"));
    }
}
