//! The successor of a running program: the same program, with the same arguments.

use std::ffi::OsString;
use std::process::{Child, Command, ExitStatus};

use super::program;
use crate::error::{Result, Tried};

/// The option by which a program takes over from another one.
const OPTION: &str = "--take-over";

/// The successor that this process has started, if any.
#[derive(Debug, Default)]
pub struct Successor(Option<Child>);

impl Successor {
    /// Starts this program once more, unless one started here still runs. Its arguments are this
    /// process's and `--take-over`, with this process's number if the option `has_number`. If the
    /// program was replaced on disk, the new version is started.
    ///
    /// # Errors
    ///
    /// This process may not start programs.
    pub fn start(&mut self, has_number: bool) -> Result<()> {
        self.ended();
        if self.0.is_some() {
            return Ok(());
        }
        let number = has_number.then(std::process::id);
        let child = Command::new(program::running()?)
            .args(arguments(std::env::args_os().skip(1), number))
            .spawn()
            .tried(|| "cannot start a successor".to_owned())?;
        self.0 = Some(child);
        Ok(())
    }

    /// The status of a successor that has ended, once: another one may then be started.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        let status = self.0.as_mut()?.try_wait().ok()??;
        self.0 = None;
        Some(status)
    }
}

/// The arguments of the successor of a process with these: with the option once, and with this
/// number if it has one.
fn arguments(given: impl Iterator<Item = OsString>, number: Option<u32>) -> Vec<OsString> {
    let (mut given, mut kept) = (given, Vec::new());
    while let Some(word) = given.next() {
        if word != OPTION {
            kept.push(word);
        } else if number.is_some() {
            given.next();
        }
    }
    kept.push(OPTION.into());
    kept.extend(number.map(|number| number.to_string().into()));
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_option_is_there_once() {
        let arguments = |text: &str, number| {
            let words = arguments(text.split(' ').map(OsString::from), number);
            words.join(" ".as_ref()).into_string().unwrap()
        };
        for given in ["a --take-over b", "a b"] {
            assert_eq!(arguments(given, None), "a b --take-over");
        }
        for given in ["a --take-over 7 b", "a b"] {
            assert_eq!(arguments(given, Some(8)), "a b --take-over 8");
        }
    }
}
