//! For tests: programs that a machine may lack. A test names the ones it uses, and is skipped
//! with the reason where one is missing. The one list is `tests/needs.toml`.

use std::fmt;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

/// A program that is not installed, and how to install it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    program: String,
    package: String,
}

impl fmt::Display for Missing {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { program, package } = self;
        write!(
            formatter,
            "{program} is not installed: apt install {package}"
        )
    }
}

impl std::error::Error for Missing {}

/// Looks for each program on the path.
///
/// # Errors
///
/// The first that is not there.
///
/// # Panics
///
/// A program is not in `tests/needs.toml`, which would leave it out of the check with hidden
/// programs.
pub fn look_for(programs: &[&str]) -> Result<(), Missing> {
    let table: toml::Table = include_str!("../../../tests/needs.toml")
        .parse()
        .expect("tests/needs.toml is TOML");
    for program in programs {
        let package = table["programs"].get(program).and_then(toml::Value::as_str);
        let package = package
            .unwrap_or_else(|| panic!("{program}: add it to [programs] of tests/needs.toml"));
        if find(program).is_none() {
            return Err(Missing {
                program: (*program).to_owned(),
                package: package.to_owned(),
            });
        }
    }
    Ok(())
}

/// Whether all programs are there; prints why the test is skipped where one is not.
///
/// # Panics
///
/// As [`look_for`].
#[must_use]
pub fn are_met(programs: &[&str]) -> bool {
    look_for(programs)
        .inspect_err(|missing| eprintln!("skipped: {missing}"))
        .is_ok()
}

/// The executable file that the path gives for a name, as `execvp` finds it.
fn find(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .map(|folder| folder.join(program))
        .find(|file| {
            file.metadata()
                .is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_found_where_the_shell_finds_it() {
        let said = std::process::Command::new("sh")
            .args(["-c", "command -v cat"])
            .output()
            .unwrap();
        let said = String::from_utf8(said.stdout).unwrap();
        assert_eq!(find("cat"), Some(PathBuf::from(said.trim())));
        assert_eq!(find("no-such-program"), None);
    }

    #[test]
    fn a_missing_program_is_named_with_its_package() {
        let missing = Missing {
            program: "ping".to_owned(),
            package: "iputils-ping".to_owned(),
        };
        let said = "ping is not installed: apt install iputils-ping";
        assert_eq!(missing.to_string(), said);
    }

    #[test]
    #[should_panic(expected = "add it to [programs] of tests/needs.toml")]
    fn a_program_outside_of_the_list_is_refused() {
        let _ = look_for(&["cat"]);
    }
}
