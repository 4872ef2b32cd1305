//! For tests: what a machine may lack. A test that cannot run says why with [`skip`]; one that uses
//! programs names them. Their one list is `tests/needs.toml`.

use std::fmt;
use std::fs::OpenOptions;
use std::io::Write;
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
        .inspect_err(|missing| skip(missing))
        .is_ok()
}

/// The file that [`skip`] adds a line to; `make test` and `make real` print it at their end.
const SKIPPED: &str = "AIRTCP_SKIPPED";

/// Says why this test is skipped: to its output, and as a line of the file that `AIRTCP_SKIPPED`
/// names.
///
/// # Panics
///
/// The file cannot be written.
pub fn skip(reason: impl fmt::Display) {
    let reason = reason.to_string();
    let reason = reason.split_whitespace().collect::<Vec<_>>().join(" ");
    eprintln!("skipped: {reason}");
    let Some(file) = std::env::var_os(SKIPPED) else {
        return;
    };
    // libtest names a test's thread after it; a thread that the test started has no name.
    let thread = std::thread::current();
    let program = std::env::args().next().unwrap_or_default();
    let line = format!("  {}: {reason}\n", thread.name().unwrap_or(&program));
    let opened = OpenOptions::new().create(true).append(true).open(&file);
    // One write a line, so that tests side by side do not mix theirs.
    let written = opened.and_then(|mut file| file.write_all(line.as_bytes()));
    written.unwrap_or_else(|error| panic!("{SKIPPED} = {}: {error}", file.display()));
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

    /// The parent's other tests would see a variable that is set here: a child has it alone.
    #[test]
    fn a_skipped_test_is_a_line_of_the_file() {
        if std::env::var_os("AIRTCP_SKIPPED_BY_CHILD").is_some() {
            return skip("there is no\nradio\n");
        }
        let file = std::env::temp_dir().join(format!("airtcp-skipped-{}", std::process::id()));
        let done = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "tests::a_skipped_test_is_a_line_of_the_file"])
            .env("AIRTCP_SKIPPED_BY_CHILD", "1")
            .env(SKIPPED, &file)
            .output()
            .unwrap();
        assert!(done.status.success());
        let written = std::fs::read_to_string(&file).unwrap();
        std::fs::remove_file(&file).unwrap();
        let said = "  tests::a_skipped_test_is_a_line_of_the_file: there is no radio\n";
        assert_eq!(written, said);
    }

    #[test]
    #[should_panic(expected = "add it to [programs] of tests/needs.toml")]
    fn a_program_outside_of_the_list_is_refused() {
        let _ = look_for(&["cat"]);
    }
}
