//! Deployments by programs in BPF, on a file system and a cgroup made for the test.

use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use airtcp_host::bpf;
use airtcp_host::error::Result;
use rustix::mount::{
    MountFlags, MountPropagationFlags, UnmountFlags, mount, mount_change, unmount,
};
use rustix::net::sockopt;
use rustix::process::getpid;
use rustix::thread::UnshareFlags;

use crate::machine::{fails, on_a_machine, setting, succeeds};

/// A cgroup that is removed with this value; its process returns to its earlier one.
struct Cgroup {
    path: PathBuf,
    before: PathBuf,
}

impl Cgroup {
    fn new(root: &Path, name: &str) -> Self {
        let path = root.join(format!("airtcp-test-{}-{name}", getpid().as_raw_nonzero()));
        fs::create_dir(&path).unwrap();
        let own = fs::read_to_string("/proc/self/cgroup").unwrap();
        let own = own.lines().find_map(|line| line.strip_prefix("0::/"));
        let before = root.join(own.unwrap_or_default());
        Self { path, before }
    }

    fn enter(&self) {
        fs::write(self.path.join("cgroup.procs"), "0").unwrap();
    }
}

impl Drop for Cgroup {
    /// Other tests' children were started in it with the whole process, and leave when they end.
    fn drop(&mut self) {
        let start = Instant::now();
        while fs::remove_dir(&self.path).is_err() && start.elapsed() < Duration::from_secs(60) {
            let members = fs::read_to_string(self.path.join("cgroup.procs")).unwrap_or_default();
            for member in members.lines() {
                let _ = fs::write(self.before.join("cgroup.procs"), member);
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    }
}

/// Runs `work` with a BPF file system at `bpf` and cgroups at `cgroup`, visible only to this
/// thread.
fn with_programs(name: &str, work: impl FnOnce(&Path, &Cgroup) -> Result<()> + Send) {
    if let Err(error) = bpf::allowed() {
        airtcp_needs::skip(error);
        return;
    }
    on_a_machine(|directory| {
        // SAFETY: descriptors stay shared; this thread ends with the test.
        #[expect(
            unsafe_code,
            reason = "unshare may take the descriptors apart, this does not"
        )]
        unsafe { rustix::thread::unshare_unsafe(UnshareFlags::NEWNS) }.unwrap();
        let private = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
        mount_change("/", private).unwrap();
        let (pins, cgroups) = (directory.join("bpf"), directory.join("cgroup"));
        for (kind, path) in [("bpf", &pins), ("cgroup2", &cgroups)] {
            fs::create_dir(path).unwrap();
            mount("none", path, kind, MountFlags::empty(), None).unwrap();
        }
        let cgroup = Cgroup::new(&cgroups, name);
        let result = work(directory, &cgroup);
        drop(cgroup);
        for path in [&pins, &cgroups] {
            unmount(path, UnmountFlags::DETACH).unwrap();
        }
        result
    });
}

/// Both ends of a connection over loopback that has carried a byte.
fn connection(listener: &TcpListener) -> (TcpStream, TcpStream) {
    let mut one = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (mut other, _) = listener.accept().unwrap();
    one.write_all(b"x").unwrap();
    other.read_exact(&mut [0]).unwrap();
    (one, other)
}

/// Number of `count` connections' ends that have a congestion control.
fn having(control: &str, count: usize) -> usize {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    (0..count)
        .flat_map(|_| <[TcpStream; 2]>::from(connection(&listener)))
        .filter(|end| sockopt::tcp_congestion(end).unwrap() == control)
        .count()
}

#[test]
fn a_control_in_bpf_becomes_the_default_and_goes() {
    with_programs("all", |directory, _| {
        let before = setting("net.ipv4.tcp_congestion_control");
        succeeds(directory, &["deploy", "veno:beta=4", "--all"])?;
        assert_eq!(having("veno", 5), 10);
        let said = succeeds(directory, &["deployed"])?;
        assert!(said.contains("beta_thousandths=4000"), "{said}");
        succeeds(directory, &["undeploy"])?;
        assert_eq!(setting("net.ipv4.tcp_congestion_control"), before);
        assert!(!directory.join("bpf/airtcp").exists());
        Ok(())
    });
}

/// One of the repository's programs as a file of the user's.
fn compiled(directory: &Path, source: &str) -> PathBuf {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bpf");
    let object = directory.join("mine.bpf.o");
    let compiled = Command::new("clang")
        .args(["-O2", "-g", "-target", "bpf", "-D__TARGET_ARCH_x86"])
        .arg(format!("-I{}", sources.join("include").display()))
        .arg("-c")
        .arg(sources.join(source))
        .arg("-o")
        .arg(&object)
        .status();
    assert!(compiled.unwrap().success());
    object
}

#[test]
fn a_control_that_a_namespace_may_not_have_is_refused_with_the_remedy() {
    if !airtcp_needs::are_met(&["clang"]) {
        return;
    }
    with_programs("restricted", |directory, _| {
        let before = setting("net.ipv4.tcp_congestion_control");
        let object = compiled(directory, "examples/cubic.bpf.c");
        let remedy = format!("bpf:{}", object.display());
        let said = fails(directory, &["deploy", &remedy, "--all"]);
        assert!(said.contains("TCP_CONG_NON_RESTRICTED"), "{said}");
        assert_eq!(setting("net.ipv4.tcp_congestion_control"), before);
        Ok(())
    });
}

#[test]
fn a_control_of_the_users_own_is_loaded_under_its_name_and_goes() {
    if !airtcp_needs::are_met(&["clang"]) {
        return;
    }
    with_programs("own", |directory, _| {
        // With the flag TCP_CONG_NON_RESTRICTED, without which the kernel refuses a control as the
        // default of a namespace (tcp_set_default_congestion_control).
        let object = compiled(directory, "coin.bpf.c");
        let before = setting("net.ipv4.tcp_congestion_control");
        let remedy = format!("bpf:{}", object.display());
        let said = succeeds(directory, &["deploy", &remedy, "--all"])?;
        assert!(said.contains("mine.bpf.o"), "{said}");
        assert_eq!(having("coin", 5), 10);
        // The object is in the kernel, and undoing does without the file.
        fs::remove_file(&object).unwrap();
        succeeds(directory, &["undeploy"])?;
        assert_eq!(setting("net.ipv4.tcp_congestion_control"), before);
        assert_eq!(having("coin", 5), 0);
        Ok(())
    });
}

/// A hash decides: of n ends, the number treated is a binomial draw, within six of its standard
/// deviations (2 in 10⁹).
#[test]
fn a_share_of_a_cgroup_is_treated_and_the_rest_is_control() {
    with_programs("share", |directory, cgroup| {
        let path = cgroup.path.to_string_lossy().into_owned();
        let command = ["deploy", "newzag", "--cgroup", &path, "--share", "30%"];
        succeeds(directory, &command)?;
        assert_eq!(
            having("newzag", 20),
            0,
            "outside of the cgroup nothing is treated"
        );
        cgroup.enter();
        let ends = 400;
        let treated = having("newzag", ends / 2) as f64;
        let expected = 0.3 * ends as f64;
        let deviation = (ends as f64 * 0.3 * 0.7).sqrt();
        assert!(
            (treated - expected).abs() < 6.0 * deviation,
            "{treated} of {ends}"
        );
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let open: Vec<_> = (0..40).map(|_| connection(&listener)).collect();
        let has = |end: &TcpStream| sockopt::tcp_congestion(end).unwrap() == "newzag";
        let treated = open
            .iter()
            .flat_map(|(one, other)| [one, other])
            .filter(|end| has(end));
        let counted = treated.count();
        let said = succeeds(directory, &["deployed", "--check"])?;
        assert!(
            said.contains(&format!("treated: {counted} connections")),
            "{counted}: {said}"
        );
        assert!(
            said.contains(&format!("control: {} connections", 80 - counted)),
            "{said}"
        );
        succeeds(directory, &["undeploy"])?;
        assert_eq!(having("newzag", 20), 0, "nothing is treated after undeploy");
        assert!(!directory.join("bpf/airtcp").exists());
        Ok(())
    });
}

/// Only connections to the network: 127.0.0.2 and not 127.0.0.1.
#[test]
fn a_share_of_a_route_is_of_that_route_alone() {
    with_programs("route", |directory, _| {
        let command = [
            "deploy",
            "coin",
            "--route",
            "127.0.0.2",
            "--share",
            "99.99%",
        ];
        succeeds(directory, &command)?;
        assert_eq!(having("coin", 20), 0);
        let listener = TcpListener::bind("127.0.0.2:0").unwrap();
        let mine = (0..20)
            .map(|_| connection(&listener).0)
            .filter(|end| sockopt::tcp_congestion(end).unwrap() == "coin")
            .count();
        assert!(mine >= 17, "{mine} of 20 at 99.99 %");
        succeeds(directory, &["undeploy"])?;
        Ok(())
    });
}
