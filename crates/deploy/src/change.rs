//! One change of the machine: how to make it, undo it, and check that it is still in place.
//!
//! Making and undoing may be repeated and may follow a crash.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use airtcp_host::bpf::{self, Constants, Program, Registered, Treatment};
use airtcp_host::changes::{Change as Undoable, Undone};
use airtcp_host::device::discipline::Discipline;
use airtcp_host::device::root::{self, OWN_HANDLE, RootDiscipline};
use airtcp_host::error::{Error, Result, Tried};
use airtcp_host::iproute::ip;
use airtcp_host::tcp_settings::write;
use rustix::fs::statfs;
use serde::{Deserialize, Serialize};

use crate::radio;
use crate::route::Route;

/// BPF_FS_MAGIC of include/uapi/linux/magic.h.
const BPF_SYSTEM: u64 = 0xcafe_4a11;

/// A change, with everything needed to undo it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Change {
    /// A kernel file with one setting.
    Setting {
        /// The file, below /proc/sys or /sys.
        file: PathBuf,
        /// Its name for sysctl(8); `None` for a module's parameter.
        key: Option<String>,
        /// The old value.
        old: String,
        /// The new value.
        new: String,
    },
    /// A setting of a radio in one of mac80211's debugging files, which have different syntax for
    /// reading and writing.
    Radio {
        /// The file.
        file: PathBuf,
        /// The old value, in the syntax for writing.
        old: String,
        /// The new value.
        new: String,
    },
    /// A route of the main table.
    Route {
        /// Whether it is an IPv6 route.
        is_v6: bool,
        /// The old route, in the syntax of `ip route replace`; `None` if there was no route.
        old: Option<String>,
        /// The new route.
        new: String,
    },
    /// The root queueing discipline of a device.
    Discipline {
        /// The device.
        device: String,
        /// The new discipline, in the syntax of tc(8).
        new: String,
        /// The old one; `None` if the kernel had chosen it itself.
        old: Option<RootDiscipline>,
    },
    /// A congestion control in BPF.
    Control {
        /// The program, and the name under which it is registered.
        name: String,
        /// Its constants.
        constants: Constants,
        /// The user's object with it; `None` for one of airtcp's.
        #[serde(default)]
        file: Option<PathBuf>,
        /// Content of the object. A record of the change does without: undoing takes the name.
        #[serde(skip)]
        object: Option<&'static [u8]>,
        /// The directory on a BPF file system that holds its pin.
        pins: PathBuf,
    },
    /// The treatment of a cgroup's new connections.
    Treatment {
        /// The treatment.
        treatment: Treatment,
        /// The cgroup.
        cgroup: PathBuf,
        /// The directory on a BPF file system that holds its pins.
        pins: PathBuf,
    },
}

impl Undoable for Change {
    fn make(&self) -> Result<()> {
        match self {
            Self::Setting { file, new, .. } | Self::Radio { file, new, .. } => write(file, new),
            Self::Route { is_v6, new, .. } => replace(*is_v6, new),
            Self::Discipline { device, new, .. } => Discipline::parse(new)?.put_as_own(device),
            Self::Control {
                name,
                constants,
                object,
                pins,
                ..
            } => {
                make_pins(pins)?;
                let program = Program {
                    control: name,
                    object: *object,
                };
                Registered::new(program, name, constants)?.keep(pins)
            }
            Self::Treatment {
                treatment,
                cgroup,
                pins,
            } => {
                make_pins(pins)?;
                bpf::treat(treatment, cgroup, pins)
            }
        }
    }

    fn undo(&self) -> Result<Undone> {
        match self {
            Self::Setting { file, old, new, .. } => undo_file(file, &read(file)?, old, new),
            Self::Radio { file, old, new } => undo_file(file, &radio::read(file)?, old, new),
            Self::Route { is_v6, old, new } => undo_route(*is_v6, old.as_deref(), new),
            Self::Discipline { device, old, .. } => undo_discipline(device, old.as_ref()),
            Self::Control { name, pins, .. } => remove_pins(pins, &[name]),
            Self::Treatment { pins, .. } => remove_pins(pins, &["treat", "groups"]),
        }
    }
}

impl Change {
    /// `None` if it is still in place; otherwise the present state.
    ///
    /// # Errors
    ///
    /// The system does not answer.
    pub fn missing(&self) -> Result<Option<String>> {
        Ok(match self {
            Self::Setting { file, new, .. } => {
                let now = read(file)?;
                (!is_same(&now, new)).then(|| format!("it is {now:?}"))
            }
            Self::Radio { file, new, .. } => {
                let now = radio::read(file)?;
                (now != *new).then(|| format!("it is {now:?}"))
            }
            Self::Route { is_v6, new, .. } => {
                let words: Vec<&str> = new.split(' ').collect();
                let there = existing(*is_v6, new)?;
                let is_there = there.is_some_and(|route| {
                    let has = route.text();
                    let has: Vec<&str> = has.split(' ').collect();
                    words.iter().all(|word| has.contains(word))
                });
                (!is_there).then(|| "the route is another".to_owned())
            }
            Self::Discipline { device, new, .. } => {
                let there = RootDiscipline::of(device)?;
                let kind = first_word(new);
                let is_there = there
                    .as_ref()
                    .is_some_and(|there| there.handle == OWN_HANDLE && there.kind == kind);
                (!is_there).then(|| match there {
                    Some(other) => format!("it is {}", other.kind),
                    None => "it is the kernel's own choice".to_owned(),
                })
            }
            Self::Control { name, pins, .. } => absent(&pins.join(name)),
            Self::Treatment { pins, .. } => absent(&pins.join("treat")),
        })
    }

    /// The commands that make it, for sysctl and iproute2. `None` if these cannot.
    pub fn commands(&self) -> Option<String> {
        match self {
            Self::Setting { file, key, new, .. } => Some(setting(file, key.as_deref(), new)),
            Self::Radio { file, new, .. } => Some(setting(file, None, new)),
            Self::Route { is_v6, new, .. } => Some(format!("{} {new}", replace_words(*is_v6))),
            Self::Discipline { device, new, .. } => {
                Some(format!("tc qdisc replace dev {device} root {new}"))
            }
            Self::Control { .. } | Self::Treatment { .. } => None,
        }
    }

    /// The command that undoes it in a script with [`UNDO`], unless another party has changed it
    /// since.
    pub fn undo_command(&self) -> Option<String> {
        match self {
            Self::Setting {
                file,
                key,
                old,
                new,
            } => {
                let written = setting(file, key.as_deref(), old);
                let (file, old, new) = (file.to_string_lossy(), quoted(old), quoted(new));
                Some(format!(
                    "back {} {new} {old} {}",
                    quoted(&file),
                    quoted(&written)
                ))
            }
            Self::Route { is_v6, old, new } => {
                let (family, to) = (family(*is_v6), first_word(new));
                let command = match old {
                    Some(old) => format!("ip {family} route replace {old}"),
                    None => format!("ip {family} route del {to}"),
                };
                let there = format!("ip {family} route show {}", quoted(to));
                Some(format!(
                    "back_route {} {}",
                    quoted(&there),
                    quoted(&command)
                ))
            }
            Self::Discipline {
                device,
                new,
                old: None,
            } => Some(format!("back_qdisc {} {}", quoted(device), first_word(new))),
            // The old discipline is stored in bytes, which tc(8) cannot express.
            Self::Discipline { old: Some(_), .. } => None,
            // Its syntax for reading differs, and the script compares both.
            Self::Radio { .. } => None,
            Self::Control { .. } | Self::Treatment { .. } => None,
        }
    }

    /// Its description.
    pub fn words(&self) -> String {
        match self {
            Self::Setting { old, .. } | Self::Radio { old, .. } => {
                format!("{}   (was {old})", self.commands().unwrap_or_default())
            }
            Self::Route { old: Some(old), .. } => {
                format!("{}   (was {old})", self.commands().unwrap_or_default())
            }
            Self::Route { old: None, .. } => {
                format!("{}   (was none)", self.commands().unwrap_or_default())
            }
            Self::Discipline { old, .. } => format!(
                "{}   (was {})",
                self.commands().unwrap_or_default(),
                old.as_ref()
                    .map_or("the kernel's own choice", |old| old.kind.as_str())
            ),
            Self::Control {
                name,
                constants,
                file,
                pins,
                ..
            } => {
                let set: Vec<_> = constants
                    .iter()
                    .map(|(constant, value)| format!(" {constant}={value}"))
                    .collect();
                let from = file
                    .as_ref()
                    .map_or_else(String::new, |file| format!(" of {}", file.display()));
                format!(
                    "BPF congestion control {name}{from}{}, kept as {}",
                    set.concat(),
                    pins.join(name).display()
                )
            }
            Self::Treatment {
                treatment, cgroup, ..
            } => format!(
                "BPF at {}: {} % of the new connections{} get {}",
                cgroup.display(),
                f64::from(treatment.share) / 100.0,
                treatment
                    .peers
                    .map(|(address, prefix)| format!(" to {address}/{prefix}"))
                    .unwrap_or_default(),
                effects(treatment)
            ),
        }
    }
}

/// The effects on a treated connection.
fn effects(treatment: &Treatment) -> String {
    let effects = [
        treatment
            .control
            .as_ref()
            .map(|name| format!("congestion control {name}")),
        treatment
            .initial_window
            .map(|segments| format!("an initial window of {segments} segments")),
        treatment
            .least_timeout_us
            .map(|us| format!("a least RTO of {} ms", f64::from(us) / 1000.0)),
        treatment.pacing_rate.map(|_| "pacing".to_owned()),
    ];
    effects.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// Functions for sh that undo a change unless another party has changed it meanwhile: `back FILE
/// NEW OLD COMMAND`, `back_route SHOW COMMAND` and `back_qdisc DEVICE KIND`.
pub const UNDO: &str = r#"back() {
    # Some settings hold several numbers, between tabs.
    now=$(tr -s '[:space:]' ' ' < "$1" | sed 's/ $//')
    case $now in
    "$2" | "$3") eval "$4" ;;
    *) echo "left as it is: $1 is $now now, neither $2 nor $3" >&2 ;;
    esac
}
back_route() {
    if [ -n "$(eval "$1")" ]; then
        eval "$2"
    else
        echo "left as it is: the route is gone ($1)" >&2
    fi
}
back_qdisc() {
    if tc qdisc show dev "$1" root | grep -q "^qdisc $2 "; then
        tc qdisc del dev "$1" root
    else
        echo "left as it is: the queueing discipline of $1 is not $2" >&2
    fi
}"#;

/// A word for sh, with single spaces as [`UNDO`] compares.
fn quoted(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    format!("'{}'", words.join(" ").replace('\'', r"'\''"))
}

fn setting(file: &Path, key: Option<&str>, value: &str) -> String {
    match key {
        // Some settings hold several numbers.
        Some(key) if value.contains(char::is_whitespace) => format!("sysctl -w {key}='{value}'"),
        Some(key) => format!("sysctl -w {key}={value}"),
        None => format!("echo {value} > {}", file.display()),
    }
}

const fn family(is_v6: bool) -> &'static str {
    if is_v6 { "-6" } else { "-4" }
}

fn replace_words(is_v6: bool) -> String {
    format!("ip {} route replace", family(is_v6))
}

fn first_word(text: &str) -> &str {
    text.split(' ').next().unwrap_or_default()
}

/// Reads a kernel file, without the trailing newline.
///
/// # Errors
///
/// The kernel has no such file, or does not allow it to be read.
pub fn read(file: &Path) -> Result<String> {
    fs::read_to_string(file)
        .map(|text| text.trim().to_owned())
        .tried(|| format!("cannot read {}", file.display()))
}

/// Restores `old` in a file that holds `now`, unless `now` is neither the new nor the old value.
fn undo_file(file: &Path, now: &str, old: &str, new: &str) -> Result<Undone> {
    if !is_same(now, new) && !is_same(now, old) {
        return Ok(Undone::Left(format!(
            "{} is {now:?} now, neither {new:?} nor {old:?}",
            file.display()
        )));
    }
    write(file, old)?;
    Ok(Undone::Back)
}

/// Whether two values of a setting are equal: the kernel puts tabs between several numbers.
pub fn is_same(one: &str, other: &str) -> bool {
    one.split_whitespace().eq(other.split_whitespace())
}

fn replace(is_v6: bool, route: &str) -> Result<()> {
    let mut words = vec!["route", "replace"];
    words.extend(route.split(' '));
    ip(is_v6, &words).map(drop)
}

/// The route of the main table with the destination and metric of `text`.
fn existing(is_v6: bool, text: &str) -> Result<Option<Route>> {
    let Some(wanted) = Route::parse(text, is_v6) else {
        return Ok(None);
    };
    let found = crate::route::all(is_v6)?;
    Ok(found.into_iter().find(|route| is_alike(route, &wanted)))
}

fn is_alike(one: &Route, other: &Route) -> bool {
    let (to, metric) = one.identity();
    let (other_to, other_metric) = other.identity();
    let full = |to: &str| {
        to.trim_end_matches("/32")
            .trim_end_matches("/128")
            .to_owned()
    };
    // IPv6 gives a route without one the metric 1024.
    let shown = |metric: Option<&str>| metric.filter(|number| *number != "1024").map(str::to_owned);
    full(to) == full(other_to) && shown(metric) == shown(other_metric)
}

fn undo_route(is_v6: bool, old: Option<&str>, new: &str) -> Result<Undone> {
    let there = existing(is_v6, new)?;
    match (old, there) {
        (Some(old), Some(_)) => replace(is_v6, old).map(|()| Undone::Back),
        (Some(old), None) => Ok(Undone::Left(format!("the route {old} is gone"))),
        (None, Some(_)) => ip(is_v6, &["route", "del", first_word(new)]).map(|_| Undone::Back),
        (None, None) => Ok(Undone::Back),
    }
}

fn undo_discipline(device: &str, old: Option<&RootDiscipline>) -> Result<Undone> {
    let there = RootDiscipline::of(device)?;
    if there.as_ref() == old {
        return Ok(Undone::Back);
    }
    match (there, old) {
        (Some(there), _) if there.handle != OWN_HANDLE => Ok(Undone::Left(format!(
            "{device} has queueing discipline {} now",
            there.kind
        ))),
        (_, Some(old)) => old.put(device).map(|()| Undone::Back),
        (_, None) => root::remove(device).map(|()| Undone::Back),
    }
}

fn absent(path: &Path) -> Option<String> {
    (!path.exists()).then(|| format!("{} is gone", path.display()))
}

fn make_pins(pins: &Path) -> Result<()> {
    fs::create_dir_all(pins).tried(|| format!("cannot make {}", pins.display()))?;
    check_pins(pins)
}

/// Checks that pins can be kept at a path: it, or the existing part of it, is on a BPF file system.
///
/// # Errors
///
/// It is not; gives the command to mount one.
pub fn check_pins(pins: &Path) -> Result<()> {
    let there = pins.ancestors().find(|path| path.exists());
    let system = there.and_then(|path| statfs(path).ok());
    if system.is_some_and(|system| system.f_type as u64 == BPF_SYSTEM) {
        return Ok(());
    }
    Err(Error::new(format!(
        "{}: expected a BPF file system, which keeps programs without a process",
        pins.display()
    ))
    .remedied_by("as root: mount -t bpf bpf /sys/fs/bpf"))
}

/// Removes pins from a directory, and the directory with the last one.
fn remove_pins(pins: &Path, names: &[&str]) -> Result<Undone> {
    for name in names {
        let path = pins.join(name);
        match fs::remove_file(&path) {
            Err(cause) if cause.kind() != ErrorKind::NotFound => {
                return Err(Error::system(
                    format!("cannot remove {}", path.display()),
                    cause,
                ));
            }
            _ => {}
        }
    }
    // Other changes may keep their pins there.
    let _ = fs::remove_dir(pins);
    Ok(Undone::Back)
}
