//! Makes and undoes changes step by step, so that a crash at any step leaves a journal sufficient
//! for recovery.

use super::journal::{Journal, Locked, Stage};
use super::{Change, Record, Undone};
use crate::error::{Error, Result};

/// A completed step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeploymentStep {
    /// The deployment is written down.
    Written,
    /// The change with this index is made.
    Made(usize),
    /// The journal records it as deployed.
    Deployed,
    /// The journal records that it is being undone.
    Undoing,
    /// The change with this index is undone, or kept.
    Undone(usize),
}

/// Makes a deployment; calls `report` at every step. If a change fails, the earlier ones are
/// undone.
///
/// # Errors
///
/// A change is refused, or the journal cannot be written. In that case nothing is changed.
pub fn make<R: Record>(
    journal: &Journal<R>,
    lock: &Locked,
    record: &R,
    report: &mut dyn FnMut(DeploymentStep),
) -> Result<()> {
    journal.write(record)?;
    report(DeploymentStep::Written);
    for (number, change) in record.changes().iter().enumerate() {
        if let Err(error) = change.make() {
            let left = undo(journal, lock, false, report)?;
            return Err(if left.is_empty() {
                error.remedied_by("everything is as it was")
            } else {
                error.remedied_by(left.join("; "))
            });
        }
        report(DeploymentStep::Made(number));
    }
    journal.advance(Stage::Making, Stage::Deployed)?;
    report(DeploymentStep::Deployed);
    Ok(())
}

/// Undoes every change in the journal, the last one first. Returns changes modified by another
/// party meanwhile, which are kept. With `forget`, so are changes that cannot be undone.
/// Calls `report` at every step.
///
/// # Errors
///
/// The system refuses to undo a change: the others are undone, and the journal keeps it.
pub fn undo<R: Record>(
    journal: &Journal<R>,
    _lock: &Locked,
    forget: bool,
    report: &mut dyn FnMut(DeploymentStep),
) -> Result<Vec<String>> {
    let Some((stage, record)) = journal.read()? else {
        return Ok(Vec::new());
    };
    if stage != Stage::Undoing {
        journal.advance(stage, Stage::Undoing)?;
    }
    report(DeploymentStep::Undoing);
    let (mut left, mut failed) = (Vec::new(), Vec::new());
    for (number, change) in record.changes().iter().enumerate().rev() {
        match change.undo() {
            Ok(Undone::Back) => {}
            Ok(Undone::Left(why)) => left.push(format!("left as it is: {why}")),
            Err(error) => failed.push(error.to_string()),
        }
        report(DeploymentStep::Undone(number));
    }
    if !failed.is_empty() && !forget {
        return Err(Error::new(format!(
            "not everything could be put back: {}",
            failed.join("; ")
        ))
        .remedied_by(R::REMEDY));
    }
    journal.remove()?;
    left.extend(failed);
    Ok(left)
}
