//! Files that a system needs to run the gateway: systemd's unit, and OpenWrt's files.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use airtcp_host::privileges::Calls;

const PROGRAM: &str = env!("CARGO_BIN_EXE_airtcp-net");

fn packaging(name: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packaging");
    root.join(name)
}

fn told(output: &Output) -> String {
    String::from_utf8_lossy(&[&output.stdout[..], &output.stderr].concat()).into_owned()
}

/// systemd knows every key and value of the units, and finds little that the services could do
/// beyond their purpose: from 0 to 10, and the capabilities over the network make out most of it.
#[test]
fn systemd_takes_the_units() {
    if !airtcp_needs::are_met(&["systemd-analyze"]) {
        return;
    }
    for name in ["airtcp-gateway.service", "airtcp-proxy.service"] {
        let folder = tempfile::tempdir().unwrap();
        let unit = std::fs::read_to_string(packaging("systemd").join(name)).unwrap();
        let path = folder.path().join(name);
        std::fs::write(&path, unit.replace("/usr/local/bin/airtcp-net", PROGRAM)).unwrap();
        let analyze = |words: &[&str]| {
            let mut command = Command::new("systemd-analyze");
            command.args(words).arg(&path).output().unwrap()
        };
        let verified = analyze(&["verify", "--man=no"]);
        let said = told(&verified);
        assert!(verified.status.success(), "{said}");
        assert!(!said.contains(name), "{said}");
        let most = if name.contains("proxy") { 20 } else { 30 };
        let threshold = format!("--threshold={most}");
        let secure = analyze(&["security", "--offline=true", &threshold, "--no-pager"]);
        assert!(secure.status.success(), "{}", told(&secure));
    }
}

/// The library of OpenWrt's init scripts, as far as ours uses it, and one section of settings.
const RC_COMMON: &str = r#"
config_load() { [ "$1" = airtcp-gateway ] || exit 9; }
config_foreach() { "$1" main; }
config_get() { eval "$1=\${uci_$3-${4-}}"; }
config_get_bool() { eval "$1=\${uci_$3-$4}"; }
config_list_foreach() { for one in 'delay-injection:factor=2' snoop; do "$3" "$one"; done; }
procd_open_instance() { echo "instance $1"; }
procd_set_param() { echo "$*"; }
procd_add_jail() { echo "jail $*"; }
procd_add_jail_mount_rw() { echo "writes $*"; }
procd_close_instance() { echo end; }
uci_enabled=1 uci_mobile=br-lan uci_wired=wan uci_mode=apply uci_share='20 %' uci_longest='40 ms'
"#;

/// Runs OpenWrt's script in a shell, with these settings added to the usual ones.
fn openwrt(shell: &[&str], folder: &Path, more: &str) -> Output {
    let script = packaging("openwrt/files/etc/init.d/airtcp-gateway");
    let script = std::fs::read_to_string(script).unwrap();
    let script = script
        .replace("/var/run/airtcp", &folder.display().to_string())
        .replace("/usr/sbin/airtcp-net", PROGRAM);
    let (program, words) = shell.split_first().unwrap();
    Command::new(program)
        .args(words)
        .args([
            "-euc",
            &format!("{RC_COMMON}{more}\n{script}\nstart_service"),
        ])
        .output()
        .unwrap()
}

/// UCI's settings become a file that the gateway takes, in each shell that is here.
#[test]
fn openwrt_settings_become_a_configuration() {
    for shell in [&["sh"][..], &["busybox", "ash"]] {
        if shell[0] != "sh" && !airtcp_needs::are_met(&shell[..1]) {
            continue;
        }
        let folder = tempfile::tempdir().unwrap();
        let started = openwrt(shell, folder.path(), "");
        let said = told(&started);
        assert!(started.status.success(), "{shell:?}: {said}");
        assert!(said.starts_with("instance main\ncommand"), "{said}");
        let written = std::fs::read_to_string(folder.path().join("main.toml")).unwrap();
        assert_eq!(
            written,
            "agents = [\"delay-injection:factor=2\", \"snoop\"]\n\
             mobile = \"br-lan\"\nwired = \"wan\"\nmode = \"apply\"\nshare = \"20 %\"\n\
             [hold]\nlongest = \"40 ms\"\n[metrics]\n"
        );
        assert!(said.contains("\nrespawn 3600 5 5\n"), "{said}");
        // One that ends by itself is not started again.
        let more = "uci_share_by=station uci_stop_if_worse=1";
        let started = openwrt(shell, folder.path(), more);
        let said = told(&started);
        assert!(
            started.status.success() && !said.contains("respawn"),
            "{said}"
        );
        let other = std::fs::read_to_string(folder.path().join("main.toml")).unwrap();
        let keys = "share = \"20 %\"\nshare_by = \"station\"\nstop_if_worse = true\n[hold]";
        assert!(other.contains(keys), "{other}");
        openwrt(shell, folder.path(), "");
        // Wrong settings start nothing, and leave the file of the last right ones.
        let refused = openwrt(shell, folder.path(), "uci_longest='4 \"weeks'");
        let said = told(&refused);
        assert!(said.contains("hold") || said.contains("longest"), "{said}");
        assert!(!said.contains("instance"), "{said}");
        let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().collect();
        assert_eq!(left.len(), 1, "{left:?}");
        let kept = std::fs::read_to_string(folder.path().join("main.toml")).unwrap();
        assert_eq!(kept, written);
        // Not enabled, it is not started at all.
        let off = openwrt(shell, folder.path(), "uci_enabled=0");
        assert!(
            off.status.success() && off.stdout.is_empty(),
            "{}",
            told(&off)
        );
    }
}

/// In a jail it writes only to its folder, and its system calls are those of the file.
#[test]
fn openwrt_puts_it_into_a_jail_if_wanted() {
    let folder = tempfile::tempdir().unwrap();
    let without = told(&openwrt(&["sh"], folder.path(), "uci_jail=0"));
    assert!(
        !without.contains("jail") && !without.contains("seccomp"),
        "{without}"
    );
    let said = told(&openwrt(&["sh"], folder.path(), "uci_jail=1"));
    assert!(
        said.contains("\njail airtcp-gateway-main log procfs sysfs\n"),
        "{said}"
    );
    let writes = format!("\nwrites {}\n", folder.path().display());
    assert!(said.contains(&writes), "{said}");
    assert!(
        said.contains("\nseccomp /etc/seccomp/airtcp-gateway.json\n"),
        "{said}"
    );
}

/// The list of ujail (OCI's form) equals the program's, and AIRTCP_WRITE=1 writes it.
#[test]
fn openwrt_allows_the_calls_that_the_program_allows_itself() {
    let path = packaging("openwrt/files/etc/seccomp/airtcp-gateway.json");
    let list = serde_json::json!({
        // An unlisted call cannot be answered with an error: procd's would be 0, success.
        "defaultAction": "SCMP_ACT_KILL_PROCESS",
        "syscalls": [{ "names": Calls::Programs.names(), "action": "SCMP_ACT_ALLOW" }],
    });
    let text = serde_json::to_string_pretty(&list).unwrap() + "\n";
    if std::env::var_os("AIRTCP_WRITE").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, &text).unwrap();
    }
    assert_eq!(std::fs::read_to_string(&path).unwrap_or_default(), text);
}

/// shellcheck finds nothing in the script.
#[test]
fn openwrt_script_is_clean() {
    if !airtcp_needs::are_met(&["shellcheck"]) {
        return;
    }
    // procd reads variables that the script sets (SC2034), and its first line is procd's (SC1008,
    // SC2239).
    let checked = Command::new("shellcheck")
        .args(["--shell=dash", "--exclude=SC2034,SC1008,SC2239,SC3043"])
        .arg(packaging("openwrt/files/etc/init.d/airtcp-gateway"))
        .output()
        .unwrap();
    assert!(checked.status.success(), "{}", told(&checked));
}
