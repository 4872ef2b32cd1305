//! The public suites, where they are at hand: `AIRTCP_PACKETDRILL` names their folder.
//!
//! `AIRTCP_PACKETDRILL=… cargo test -p airtcp-script --test public_suite -- --ignored --nocapture`

use std::fs;
use std::path::{Path, PathBuf};

use airtcp_script::{Verdict, parse, run};
use airtcp_tcp::Profile;

fn scripts(folder: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            scripts(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "pkt") {
            found.push(path);
        }
    }
    found.sort();
}

/// Prints how each script ends on the profile `linux`; docs/measurements/validation.md is written
/// from it.
#[test]
#[ignore = "needs the public suites: AIRTCP_PACKETDRILL"]
fn verdicts() {
    let folder = std::env::var("AIRTCP_PACKETDRILL").expect("AIRTCP_PACKETDRILL names a folder");
    let mut found = Vec::new();
    scripts(Path::new(&folder), &mut found);
    let config = Profile::Linux.config();
    let verbose = std::env::var("AIRTCP_VERBOSE").is_ok();
    // Tolerance of an event's time, unless the script says otherwise; packetdrill's own 4 ms if
    // not set.
    let tolerance = std::env::var("AIRTCP_TOLERANCE_USECS")
        .map(|micros| format!("--tolerance_usecs={micros}\n"))
        .unwrap_or_default();
    let mut counts = [0; 3];
    for path in found {
        let name = path
            .strip_prefix(&folder)
            .unwrap_or(&path)
            .display()
            .to_string();
        let text = tolerance.clone() + &fs::read_to_string(&path).expect("it can be read");
        let (place, line) = match parse(&name, &text) {
            Err(error) => (2, format!("UNSUPPORTED {error}")),
            Ok(script) => match run(&script, &config) {
                Verdict::Passed => (0, format!("PASSED {name}")),
                Verdict::Failed { line, report } => {
                    let text = if verbose {
                        report
                    } else {
                        report.lines().next().unwrap_or_default().to_owned()
                    };
                    (1, format!("FAILED {name}:{line}: {text}"))
                }
                Verdict::Unsupported { line, what } => {
                    (2, format!("UNSUPPORTED {name}:{line}: {what}"))
                }
            },
        };
        counts[place] += 1;
        println!("{line}");
    }
    println!(
        "passed {}, failed {}, unsupported {}",
        counts[0], counts[1], counts[2]
    );
}
