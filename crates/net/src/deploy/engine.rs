//! Making a deployment and putting it back, step by step, so that a death at any step leaves a
//! journal that says what to do.

use super::change::Undone;
use super::journal::{Entry, Journal, Locked, Stage};
use crate::error::{Error, Result};

/// A step that has been taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// The deployment is written down.
    Written,
    /// The change of that number is made.
    Made(usize),
    /// The journal says that it is deployed.
    Deployed,
    /// The journal says that it is being put back.
    Undoing,
    /// The change of that number is put back, or left to somebody else.
    Undone(usize),
}

/// Makes a deployment; `told` hears of every step. What fails is put back.
///
/// # Errors
///
/// A change is refused, or the journal cannot be written. Nothing is changed then.
pub fn make(
    journal: &Journal,
    lock: &Locked,
    entry: &Entry,
    told: &mut dyn FnMut(Taken),
) -> Result<()> {
    journal.write(entry)?;
    told(Taken::Written);
    for (number, change) in entry.changes.iter().enumerate() {
        if let Err(error) = change.make() {
            let left = undo(journal, lock, false, told)?;
            return Err(if left.is_empty() {
                error.remedied_by("everything is as it was")
            } else {
                error.remedied_by(left.join("; "))
            });
        }
        told(Taken::Made(number));
    }
    journal.advance(Stage::Making, Stage::Deployed)?;
    told(Taken::Deployed);
    Ok(())
}

/// Puts everything back that the journal says, the last change first. Returns what somebody else
/// has changed meanwhile, which is left. With `forget`, so is what cannot be put back. `told` hears
/// of every step.
///
/// # Errors
///
/// The system refuses to put something back: the others are put back, and the journal keeps it.
pub fn undo(
    journal: &Journal,
    _lock: &Locked,
    forget: bool,
    told: &mut dyn FnMut(Taken),
) -> Result<Vec<String>> {
    let Some((stage, entry)) = journal.read()? else {
        return Ok(Vec::new());
    };
    if stage != Stage::Undoing {
        journal.advance(stage, Stage::Undoing)?;
    }
    told(Taken::Undoing);
    let (mut left, mut failed) = (Vec::new(), Vec::new());
    for (number, change) in entry.changes.iter().enumerate().rev() {
        match change.undo() {
            Ok(Undone::Back) => {}
            Ok(Undone::Left(why)) => left.push(format!("left as it is: {why}")),
            Err(error) => failed.push(error.to_string()),
        }
        told(Taken::Undone(number));
    }
    if !failed.is_empty() && !forget {
        return Err(Error::new(format!(
            "not everything could be put back: {}",
            failed.join("; ")
        ))
        .remedied_by("undeploy tries again; undeploy --forget leaves it as it is"));
    }
    journal.remove()?;
    left.extend(failed);
    Ok(left)
}
