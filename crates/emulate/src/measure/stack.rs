//! Maps a scenario's senders to this kernel: its TCP settings, and settings that it cannot provide.

use std::path::{Path, PathBuf};

use airtcp_host::bpf::{self, Constants, Program, Registered, constants};
use airtcp_host::device::Metric;
use airtcp_host::device::discipline::Discipline;
use airtcp_host::error::{Error, Result};
use airtcp_host::release::{is_at_least, is_guest};
use airtcp_host::tcp_settings::{has_control, module_version, setting_path, write};
use airtcp_remedies::Selection;
use airtcp_remedies::bpf::Object;
use airtcp_remedies::deployment::{At, Concrete, ObjectFile, Step, Way};
use airtcp_tcp::Config;
use airtcp_tcp::config::{CongestionControl, EcnUse, LossDetection};
use serde::Serialize;

/// The kernel's TCP settings at the ends of a link.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Stack {
    /// The congestion control of the senders.
    pub congestion_control: String,
    /// The BPF program registered under that name, with its constants.
    pub program: Option<(String, Constants)>,
    /// The user's object with the program; `None` for one of airtcp's.
    #[serde(skip)]
    pub object: Option<ObjectFile>,
    /// Settings of the sender's namespace, key and value, in order.
    pub sender_settings: Vec<(String, String)>,
    /// Settings of the receiver's namespace.
    pub receiver_settings: Vec<(String, String)>,
    /// Attributes of the sender's route to the receiver.
    pub sender_route: Vec<Metric>,
    /// Attributes of the receiver's route to the sender.
    pub receiver_route: Vec<Metric>,
    /// Options of the sender's socket.
    pub paced: bool,
    /// The queueing discipline on the sender's device, in the syntax of tc(8); the kernel's default
    /// if `None`.
    pub discipline: Option<String>,
    /// Parameters of modules, file and value, which apply to the whole kernel: only in a guest.
    pub module_parameters: Vec<(PathBuf, String)>,
    /// The steps of the remedies, as a user would perform them.
    pub steps: Vec<String>,
    /// The nearest equivalents used in place of a remedy, if any.
    pub instead: Vec<String>,
}

/// Settings that make runs comparable: runs do not learn from earlier ones, and do not depend on
/// the machine's default congestion control. The senders' is a socket option.
const ALWAYS: [(&str, &str); 3] = [
    ("net.ipv4.tcp_no_metrics_save", "1"),
    // Every kernel has it and lets every namespace choose it.
    ("net.ipv4.tcp_congestion_control", "reno"),
    // Room for every window that a scenario may request.
    ("net.ipv4.tcp_wmem", "4096 262144 67108864"),
];

impl Stack {
    /// Registers the stack's BPF program until the value is dropped, and gives its name in the
    /// kernel, which no other run uses: several at once may have different constants. `None`
    /// without a program.
    ///
    /// # Errors
    ///
    /// The kernel refuses the program; gives its verifier's reason.
    pub fn registered(&self) -> Result<Option<(String, Registered)>> {
        let Some((control, constants)) = &self.program else {
            return Ok(None);
        };
        let program = Program {
            control,
            object: self.object.map(|object| object.bytes),
        };
        let name = program.own_name();
        let registered = Registered::new(program, &name, constants)?;
        Ok(Some((name, registered)))
    }

    /// The kernel's TCP as near to `tcp` as its settings allow, with `remedies` deployed.
    /// `deviation_ms` is the mean deviation of the link's round trips, for remedies that are a
    /// multiple of it.
    ///
    /// # Errors
    ///
    /// The kernel lacks the congestion control, or a remedy has no way on Linux; gives the reason.
    pub fn new(tcp: &Config, remedies: &Selection, deviation_ms: Option<f64>) -> Result<Self> {
        let mut stack = Self::of(tcp)?;
        for one in remedies.as_slice() {
            let remedy = one.remedy;
            if !acts_at_an_end(remedy.place) {
                // The emulated link provides it.
                continue;
            }
            let way = remedy
                .deployment
                .ways_for(&one.given())
                .find(|way| is_supported(way))
                .ok_or_else(|| {
                    let error = Error::new(format!(
                        "remedy \"{}\": this kernel has no way to it. {}",
                        remedy.name,
                        one.deployment()
                    ));
                    match bpf::allowed() {
                        Err(reason) if remedy.deployment.ways.iter().any(is_bpf) => {
                            error.remedied_by(reason.to_string())
                        }
                        _ => error,
                    }
                })?;
            let steps = way.concrete(&one.given(), deviation_ms).ok_or_else(|| {
                Error::new(format!(
                    "remedy \"{}\": on a kernel it is a factor of the link's RTT deviation, which \
                     is not known; give --deviation",
                    remedy.name
                ))
            })?;
            for step in &steps {
                stack.take(way.at, step)?;
            }
            stack.instead.extend(way.instead.map(str::to_owned));
        }
        Ok(stack)
    }

    /// The kernel's TCP for a scenario's settings.
    fn of(tcp: &Config) -> Result<Self> {
        let mut own = None;
        let control = match tcp.congestion {
            CongestionControl::External(control) => {
                own = Object::behind(control);
                control.name()
            }
            CongestionControl::Reno => "reno",
            CongestionControl::Cubic => "cubic",
            CongestionControl::Bbr => "bbr",
            CongestionControl::Veno => "veno",
            CongestionControl::Westwood => "westwood",
            CongestionControl::Vegas => "vegas",
            CongestionControl::Illinois => "illinois",
            CongestionControl::Hybla => "hybla",
            CongestionControl::HTcp => "htcp",
            CongestionControl::Yeah => "yeah",
            CongestionControl::Cdg => "cdg",
            CongestionControl::Dctcp => "dctcp",
            other => {
                return Err(Error::new(format!(
                    "tcp.congestion_control = {other:?}: no Linux kernel has it; use one of reno, \
                     cubic, bbr, veno, westwood, vegas, illinois, hybla, htcp, yeah, cdg, dctcp"
                )));
            }
        };
        if let Some(segments) = tcp.max_window {
            return Err(Error::new(format!(
                "tcp.max_window = {segments}: no setting of Linux bounds a window (airtcp \
                 list remedies max-window says what comes near); leave it out"
            )));
        }
        if tcp.fast_open {
            return Err(Error::new(
                "tcp.fast_open = true: the kernel is measured with bulk transfers, whose programs \
                 send no data in a SYN; leave it out",
            ));
        }
        let on = |is_on: bool| if is_on { "1" } else { "0" };
        let by_time = tcp.loss_detection == LossDetection::Rack;
        let marks = match tcp.ecn {
            EcnUse::Off => "0",
            EcnUse::Request => "1",
            EcnUse::Accept => "2",
            EcnUse::Accurate => "3",
        };
        let shared = [
            ("net.ipv4.tcp_ecn", marks.to_owned()),
            ("net.ipv4.tcp_sack", on(tcp.sack).to_owned()),
            ("net.ipv4.tcp_dsack", on(tcp.dsack).to_owned()),
            ("net.ipv4.tcp_timestamps", on(tcp.timestamps).to_owned()),
        ];
        let sender = [
            (
                "net.ipv4.tcp_frto",
                if tcp.spurious_detection.frto {
                    "2"
                } else {
                    "0"
                }
                .to_owned(),
            ),
            ("net.ipv4.tcp_recovery", on(by_time).to_owned()),
            (
                "net.ipv4.tcp_early_retrans",
                if tcp.tail_loss_probe { "3" } else { "0" }.to_owned(),
            ),
        ];
        // Memory: half of it is for data, as in the remedy send-buffer.
        let buffer = tcp.send_buffer.map(|data| {
            (
                "net.ipv4.tcp_wmem",
                format!("4096 16384 {}", (2 * data).max(16_384)),
            )
        });
        let receiver = [(
            "net.ipv4.tcp_rmem",
            format!("4096 131072 {}", tcp.receive_buffer.max(131_072)),
        )];
        let owned = |(key, value): (&str, String)| (key.to_owned(), value);
        let always = || ALWAYS.map(|(key, value)| (key.to_owned(), value.to_owned()));
        Ok(Self {
            congestion_control: control.to_owned(),
            sender_settings: always()
                .into_iter()
                .chain(shared.clone().map(owned))
                .chain(sender.map(owned))
                .chain(buffer.map(owned))
                .collect(),
            receiver_settings: always()
                .into_iter()
                .chain(shared.map(owned))
                .chain(receiver.map(owned))
                .collect(),
            sender_route: (tcp.initial_window != 10)
                .then_some(Metric::InitialWindow(tcp.initial_window))
                .into_iter()
                .collect(),
            program: own
                .as_ref()
                .map(|(object, constants)| (object.control_name().to_owned(), constants.clone())),
            object: own.map(|(object, _)| object.file()),
            ..Self::default()
        })
    }

    /// Adds a step of a remedy.
    fn take(&mut self, at: At, step: &Concrete) -> Result<()> {
        self.steps.push(step.to_string());
        let value = &step.value;
        match step.step {
            Step::Sysctl { key, .. } => {
                let setting = (key.to_owned(), value.clone());
                if matches!(at, At::Sender | At::BothEnds) {
                    self.sender_settings.push(setting.clone());
                }
                if matches!(at, At::Receiver | At::BothEnds) {
                    self.receiver_settings.push(setting);
                }
            }
            Step::RouteAttribute { name, .. } => {
                let metric = Metric::parse(name, value)?;
                if matches!(at, At::Receiver) {
                    self.receiver_route.push(metric);
                } else {
                    self.sender_route.push(metric);
                }
            }
            Step::CongestionControl { name } => name.clone_into(&mut self.congestion_control),
            Step::BpfCongestionControl {
                name,
                object,
                constant,
                ..
            } => {
                name.clone_into(&mut self.congestion_control);
                self.object = object;
                self.program = Some((name.to_owned(), constants(constant, value)?));
            }
            // Pacing: others are not supported. Its value is above any link's rate.
            Step::SocketOption { .. } => self.paced = true,
            Step::Qdisc { words, .. } => {
                self.discipline = Some(format!("{words} {value}").trim_end().to_owned());
            }
            Step::ModuleParameter { module, name, .. } => {
                let file = module_parameter(module, name);
                self.module_parameters.push((file, value.clone()));
            }
            Step::RadioFile { .. } | Step::RetryLimit { .. } => {}
        }
        Ok(())
    }
}

const fn acts_at_an_end(place: airtcp_remedies::Place) -> bool {
    matches!(
        place,
        airtcp_remedies::Place::Sender | airtcp_remedies::Place::Receiver
    )
}

/// Whether this kernel supports the way: its settings exist, and its steps affect nothing outside
/// the namespace. In a guest the whole kernel belongs to this run.
fn is_supported(way: &Way) -> bool {
    let has_module = way
        .module
        .is_none_or(|module| module_version(module.name).as_deref() == Some(module.version));
    if !has_module {
        return false;
    }
    way.steps.iter().all(|step| match step {
        Step::Sysctl { key, .. } => setting_path(key).is_ok_and(|path| path.exists()),
        Step::RouteAttribute { .. } => true,
        // The measuring programs set no other option.
        Step::SocketOption { .. } => !step.is_left_to_program(),
        Step::CongestionControl { name } => has_control(name),
        // Before that version a killed process would leave its program installed.
        Step::BpfCongestionControl { .. } => {
            bpf::allowed().is_ok() && (is_guest() || way.since.is_none_or(is_at_least))
        }
        Step::Qdisc { words, .. } => is_guest() && has_discipline(words),
        Step::ModuleParameter { module, name, .. } => {
            is_guest() && module_parameter(module, name).exists()
        }
        Step::RadioFile { .. } | Step::RetryLimit { .. } => false,
    })
}

/// Whether this kernel has the discipline at the start of a step of tc(8): it is tried, since no
/// file of the kernel lists built-in disciplines.
fn has_discipline(words: &str) -> bool {
    let kind = words.split(' ').next().unwrap_or_default();
    Discipline::parse(kind)
        .and_then(|discipline| discipline.check_available())
        .is_ok()
}

fn module_parameter(module: &str, name: &str) -> PathBuf {
    Path::new("/sys/module")
        .join(module)
        .join("parameters")
        .join(name)
}

fn is_bpf(way: &Way) -> bool {
    way.steps
        .iter()
        .any(|step| matches!(step, Step::BpfCongestionControl { .. }))
}

/// Sets kernel settings of the calling thread's namespace.
///
/// # Errors
///
/// The kernel lacks the key, or refuses the value.
pub fn apply(settings: &[(String, String)]) -> Result<()> {
    for (key, value) in settings {
        write(&setting_path(key)?, value)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use airtcp_remedies::{catalogue, parse};
    use airtcp_tcp::config::Profile;

    use super::*;

    fn stack(profile: Profile, remedies: &str) -> Result<Stack> {
        Stack::new(&profile.config(), &parse(remedies).unwrap(), Some(5.0))
    }

    fn last<'a>(settings: &'a [(String, String)], key: &str) -> Option<&'a str> {
        let found = settings.iter().rev().find(|(known, _)| known == key);
        found.map(|(_, value)| value.as_str())
    }

    #[test]
    fn a_profile_is_told_in_the_kernels_words() {
        let stack = stack(Profile::NewReno, "").unwrap();
        assert_eq!(stack.congestion_control, "reno");
        assert_eq!(last(&stack.sender_settings, "net.ipv4.tcp_sack"), Some("0"));
        assert_eq!(
            last(&stack.receiver_settings, "net.ipv4.tcp_sack"),
            Some("0")
        );
        assert_eq!(
            last(&stack.sender_settings, "net.ipv4.tcp_recovery"),
            Some("0")
        );
        assert_eq!(last(&stack.sender_settings, "net.ipv4.tcp_ecn"), Some("0"));
        assert!(stack.steps.is_empty());
    }

    #[test]
    fn a_remedy_takes_its_deployments_steps() {
        let stack = stack(
            Profile::NewReno,
            "sack+initial-window:segments=12+rto-factor",
        )
        .unwrap();
        assert_eq!(last(&stack.sender_settings, "net.ipv4.tcp_sack"), Some("1"));
        assert_eq!(
            last(&stack.receiver_settings, "net.ipv4.tcp_sack"),
            Some("1")
        );
        assert_eq!(
            stack.sender_route,
            [Metric::InitialWindow(12), Metric::LeastTimeout(50)]
        );
        assert_eq!(stack.steps.len(), 3);
        assert_eq!(stack.instead.len(), 1, "a floor is not a factor");
    }

    #[test]
    fn what_a_kernel_cannot_be_told_is_refused_with_the_reason() {
        let error = stack(Profile::Linux, "fack").unwrap_err().to_string();
        assert!(error.contains("fack") && error.contains("4.15"), "{error}");
        // Options that a program has to set.
        for (remedy, option) in [("nodelay", "TCP_NODELAY"), ("fast-open", "MSG_FASTOPEN")] {
            let error = stack(Profile::Linux, remedy).unwrap_err().to_string();
            assert!(error.contains(option), "{error}");
        }
        let fast = Config {
            fast_open: true,
            ..Profile::Linux.config()
        };
        let error = Stack::new(&fast, &parse("").unwrap(), None).unwrap_err();
        assert!(error.to_string().contains("tcp.fast_open"), "{error}");
        let factor = Stack::new(
            &Profile::Linux.config(),
            &parse("rto-factor").unwrap(),
            None,
        );
        assert!(factor.unwrap_err().to_string().contains("--deviation"));
    }

    /// The emulated link provides remedies of the link, and many others have a way on the kernel.
    #[test]
    fn at_least_twenty_remedies_can_be_verified() {
        let can: Vec<_> = catalogue()
            .iter()
            .filter(|remedy| remedy.place != airtcp_remedies::Place::Proxy)
            .filter(|remedy| stack(Profile::Linux, remedy.name).is_ok())
            .map(|remedy| remedy.name)
            .collect();
        assert!(can.len() >= 20, "{can:?}");
    }
}
