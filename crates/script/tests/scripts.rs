//! The project's own scripts, `tests/scripts/**/*.pkt`: folders are named by behaviour, files by
//! the hypothesis. Those of the profiles `linux*` hold on Linux 6.18 under packetdrill itself, too.

use std::fs;
use std::path::{Path, PathBuf};

use airtcp_script::{Verdict, parse, run};
use airtcp_tcp::Profile;

fn scripts(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("the folder is there").flatten() {
        let path = entry.path();
        if path.is_dir() {
            scripts(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "pkt") {
            found.push(path);
        }
    }
    found.sort();
}

/// The profile a script names in a line `// profile: NAME`.
fn profile(text: &str) -> Profile {
    let named = text
        .lines()
        .find_map(|line| line.strip_prefix("// profile:"))
        .map_or("linux", str::trim);
    Profile::ALL
        .into_iter()
        .find(|profile| profile.name() == named)
        .unwrap_or_else(|| panic!("no profile {named:?}"))
}

#[test]
fn every_script_holds() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/scripts");
    let mut found = Vec::new();
    scripts(&folder, &mut found);
    assert!(found.len() >= 60, "{} scripts", found.len());
    let mut failures = Vec::new();
    for path in found {
        let text = fs::read_to_string(&path).expect("it can be read");
        let name = path
            .strip_prefix(&folder)
            .unwrap_or(&path)
            .display()
            .to_string();
        let script = parse(&name, &text).unwrap_or_else(|error| panic!("{error}"));
        match run(&script, &profile(&text).config()) {
            Verdict::Passed => {}
            Verdict::Failed { line, report } => failures.push(format!("{name}:{line}: {report}")),
            Verdict::Unsupported { line, what } => failures.push(format!("{name}:{line}: {what}")),
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// A script that says something else than what happens must fail, and say how.
#[test]
fn a_wrong_script_fails_and_shows_both_sides() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/scripts");
    let path = folder.join("slow_start/ten-segments-leave-at-first.pkt");
    let text = fs::read_to_string(path).expect("it can be read");
    let config = Profile::Linux.config();
    let verdict = |text: &str| {
        let script = parse("wrong.pkt", text).unwrap_or_else(|error| panic!("{error}"));
        match run(&script, &config) {
            Verdict::Failed { line, report } => format!("{line}: {report}"),
            other => panic!("{other:?}"),
        }
    };
    let range = verdict(&text.replace("1:10001(10000) ack", "1:11001(11000) ack"));
    assert!(range.contains("the range differs"), "{range}");
    assert!(range.contains("P. 1:11001(11000) ack 1 | "), "{range}");
    let late = verdict(&text.replace("   +0 > P. 1:", "  +.5 > P. 1:"));
    assert!(late.contains("the time differs"), "{late}");
    let code = verdict(&text.replace("tcpi_snd_cwnd == 10", "tcpi_snd_cwnd == 11"));
    assert!(code.contains("tcpi_snd_cwnd = 10"), "{code}");
    let none = verdict(&format!("{text}\n   +0 > . 20001:21001(1000) ack 1\n"));
    assert!(none.contains("nothing"), "{none}");
}
