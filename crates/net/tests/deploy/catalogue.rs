//! Every remedy of the catalogue: it is deployed and undone, or refused with the missing
//! requirement.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use airtcp_host::device::root::RootDiscipline;
use airtcp_host::error::Result;
use airtcp_remedies::deployment::Step;
use airtcp_remedies::{Remedy, catalogue};

use crate::machine::{airtcp_net, on_a_machine, routes, succeeds};
use crate::radio::play_kernel;

/// Where a remedy may be deployed on the machine.
const TARGETS: [&[&str]; 3] = [&["--all"], &["--device", "t0"], &["--device", "wlan0"]];

/// Everything of the machine that a deployment may change: settings, routes, the discipline.
fn state(directory: &Path) -> (BTreeMap<String, String>, String, Option<RootDiscipline>) {
    play_kernel(directory);
    let settings = fs::read_dir("/proc/sys/net/ipv4").unwrap();
    let settings = settings
        .filter_map(|entry| {
            let path = entry.ok()?.path();
            let text = fs::read_to_string(&path).ok()?;
            Some((path.display().to_string(), text))
        })
        .collect();
    (settings, routes(), RootDiscipline::of("t0").unwrap())
}

/// Whether its steps stay within the machine of the test: a module's parameters are the whole
/// kernel's, and so are programs in BPF; a namespace may not choose a restricted congestion control
/// (`tcp_set_default_congestion_control`).
fn stays_within(remedy: &Remedy) -> bool {
    let allowed = crate::machine::setting("net.ipv4.tcp_allowed_congestion_control");
    let steps = || remedy.deployment.ways.iter().flat_map(|way| way.steps);
    !steps().any(|step| match step {
        Step::ModuleParameter { .. } | Step::BpfCongestionControl { .. } => true,
        Step::SocketOption { .. } => !step.is_left_to_program(),
        Step::CongestionControl { name } => !allowed.split_whitespace().any(|one| one == *name),
        _ => false,
    })
}

/// The first target for which the dry run succeeds, or the reason for each refusal.
fn target(directory: &Path, name: &str) -> std::result::Result<&'static [&'static str], String> {
    let mut refusals = String::new();
    for target in TARGETS {
        let words = [&["deploy", name], target, &["--dry-run"]].concat();
        let output = airtcp_net(directory, &words);
        if output.status.success() {
            return Ok(target);
        }
        assert_eq!(output.status.code(), Some(2), "{words:?}: {output:?}");
        refusals += &String::from_utf8_lossy(&output.stderr);
    }
    Err(refusals)
}

#[test]
fn each_remedy_is_deployed_and_put_back_or_refused_with_what_is_lacking() {
    on_a_machine(|directory| {
        let mut deployed = 0;
        for remedy in catalogue() {
            deployed += u32::from(is_put_back(directory, remedy)?);
        }
        assert!(deployed >= 10, "only {deployed} were deployed");
        Ok(())
    });
}

/// Whether it was deployed.
fn is_put_back(directory: &Path, remedy: &Remedy) -> Result<bool> {
    let name = remedy.name;
    let target = match target(directory, name) {
        Ok(target) => target,
        Err(refusals) => {
            let lacks = [
                "there is no way to deploy it",
                "this kernel has no ",
                "has to be of version",
                "BPF",
                "give --deviation",
                "it is left to you, on the radio",
                "it is left to you, in the program",
            ];
            let named = lacks.iter().any(|what| refusals.contains(what));
            assert!(named, "{name}: {refusals}");
            let note = remedy.deployment.note;
            let says_why = !remedy.deployment.ways.is_empty() || refusals.contains(note);
            assert!(says_why, "{name}: {refusals}");
            return Ok(false);
        }
    };
    if !stays_within(remedy) {
        return Ok(false);
    }
    let before = state(directory);
    let said = succeeds(directory, &[&["deploy", name], target].concat())?;
    if said.contains("nothing to change") {
        return Ok(false);
    }
    play_kernel(directory);
    let status = succeeds(directory, &["deployed", "--check"])?;
    assert!(status.contains("in place: "), "{name}: {status}");
    assert!(!status.contains("NOT in place"), "{name}: {status}");
    succeeds(directory, &["undeploy"])?;
    assert_eq!(state(directory), before, "{name}");
    Ok(true)
}

/// A buffer's three numbers are set at once and come back as they were.
#[test]
fn buffers_are_raised_and_put_back() {
    on_a_machine(|directory| {
        let before = crate::machine::setting("net.ipv4.tcp_wmem");
        succeeds(directory, &["deploy", "send-buffer:bytes=1000000", "--all"])?;
        let numbers = crate::machine::setting("net.ipv4.tcp_wmem");
        let numbers: Vec<&str> = numbers.split_whitespace().collect();
        assert_eq!(numbers, ["4096", "16384", "2000000"]);
        let again = succeeds(directory, &["deployed"])?;
        assert!(again.contains("in place: "), "{again}");
        succeeds(directory, &["undeploy"])?;
        assert_eq!(crate::machine::setting("net.ipv4.tcp_wmem"), before);
        Ok(())
    });
}

/// A discipline reports its counters, and that no baseline remains for comparison.
#[test]
fn a_discipline_says_what_it_has_counted() {
    on_a_machine(|directory| {
        succeeds(directory, &["deploy", "queue", "--device", "t0"])?;
        let status = succeeds(directory, &["deployed", "--check"])?;
        assert!(status.contains("pfifo before t0: "), "{status}");
        assert!(status.contains("no connections are without it"), "{status}");
        let data = succeeds(directory, &["deployed", "--json"])?;
        assert!(data.contains("\"queues\":[{\"device\":\"t0\""), "{data}");
        succeeds(directory, &["undeploy"])?;
        let share = [
            "deploy",
            "queue",
            "--device",
            "t0",
            "--share",
            "50%",
            "--dry-run",
        ];
        let error = crate::machine::fails(directory, &share);
        assert!(error.contains("leave --share out"), "{error}");
        Ok(())
    });
}
