//! Why a way to deploy a remedy does not work here.

use airtcp_host::device::discipline::Discipline;
use airtcp_host::device::root::RootDiscipline;
use airtcp_host::tcp_settings::{has_control, module_version, setting_path};
use airtcp_remedies::ConfiguredRemedy;
use airtcp_remedies::deployment::{Concrete, Module, Step, Way};

use super::{Request, module_file, number_of, radio_setting};
use crate::change::{is_same, read};
use crate::target::Target;

/// The kernel's bounds for a program's minimum RTO (TCP_BPF_RTO_MIN), in milliseconds.
const MIN_TIMEOUT_MS: std::ops::RangeInclusive<u32> = 8..=200;

/// The reason this way does not work for these connections, if any.
pub(super) fn refusal(one: &ConfiguredRemedy, way: &Way, asked: &Request<'_>) -> Option<String> {
    // Without the deviation the first way reports that it is missing.
    let steps = way.concrete(&one.given(), Some(asked.deviation_ms.unwrap_or(1.0)))?;
    if !steps.is_empty() && steps.iter().all(|step| step.step.is_left_to_program()) {
        let words: Vec<_> = steps.iter().map(ToString::to_string).collect();
        return Some(format!(
            "it is left to you, in the program: {}",
            words.join(" and ")
        ));
    }
    let refused = steps.iter().find_map(|step| step_refusal(step, asked));
    refused.or_else(|| way.module.and_then(module_refusal))
}

/// The reason this kernel's module is not the required one, if so.
fn module_refusal(Module { name, version }: Module) -> Option<String> {
    let found = module_version(name);
    if found.as_deref() == Some(version) {
        return None;
    }
    let found = found.map_or_else(|| "of none".to_owned(), |found| format!("{found:?}"));
    Some(format!(
        "this kernel's {name} has to be of version {version:?} and says {found} \
         (/sys/module/{name}/version, which is there once the module is loaded)"
    ))
}

fn step_refusal(step: &Concrete, asked: &Request<'_>) -> Option<String> {
    let value = &step.value;
    if let (Target::Device(_), false) = (asked.target, step.step.is_before_link()) {
        return Some(format!(
            "{step} is about connections and not about a device: use --all, --route or --cgroup"
        ));
    }
    if asked.share.is_some() && step.step.is_before_link() {
        return Some(format!(
            "everything that leaves by a device meets it ({step}), which has no share: leave \
             --share out"
        ));
    }
    match step.step {
        Step::Sysctl { key, .. } => {
            let Ok(now) = setting_path(key).and_then(|file| read(&file)) else {
                return Some(format!("this kernel has no {key}"));
            };
            let is_so = is_same(&now, value);
            let for_all = asked.share.is_none() && *asked.target == Target::All;
            (!is_so && !for_all).then(|| {
                format!(
                    "{key} is a setting of a whole network namespace, not of some of its \
                     connections: use --all without --share, or give the programs a network \
                     namespace of their own"
                )
            })
        }
        Step::RouteAttribute { name, .. } if asked.needs_program() => match name {
            "initcwnd" => None,
            "rto_min" => number_of(name, value)
                .ok()
                .filter(|ms| !MIN_TIMEOUT_MS.contains(ms))
                .map(|ms| {
                    format!(
                        "a program may set a floor of {} to {} ms and not {ms} ms: use --route \
                         or --all without --share",
                        MIN_TIMEOUT_MS.start(),
                        MIN_TIMEOUT_MS.end()
                    )
                }),
            _ => Some(format!(
                "{name} is an attribute of routes that no program can set: use --route or --all \
                 without --share"
            )),
        },
        Step::RouteAttribute { .. } => None,
        Step::CongestionControl { name } => (!has_control(name))
            .then(|| format!("this kernel has no congestion control {name} (modprobe tcp_{name})")),
        Step::BpfCongestionControl { .. } => airtcp_host::bpf::available()
            .err()
            .map(|error| error.to_string()),
        Step::SocketOption { .. } if step.step.is_left_to_program() => None,
        Step::SocketOption { .. } => airtcp_host::bpf::available()
            .err()
            .map(|error| format!("an option of sockets takes a program in BPF: {error}")),
        Step::Qdisc { words, .. } => {
            let Target::Device(device) = asked.target else {
                return Some(format!(
                    "it stands before a device: use --device, such as --device eth0 ({step})"
                ));
            };
            RootDiscipline::of(device)
                .and_then(|_| Discipline::parse(words.split(' ').next().unwrap_or_default()))
                .and_then(|discipline| discipline.check_available())
                .err()
                .map(|error| error.to_string())
        }
        Step::ModuleParameter { module, name, .. } => {
            if asked.needs_program() || *asked.target != Target::All {
                return Some(format!(
                    "{module}'s parameter {name} is the whole machine's: use --all without --share"
                ));
            }
            let file = module_file(module, name);
            (!file.exists()).then(|| format!("this kernel has no {}", file.display()))
        }
        Step::RadioFile { name, .. } => match asked.target {
            Target::Device(device) => radio_setting(asked.sys, device, name, value)
                .err()
                .map(|error| error.to_string()),
            _ => Some(format!(
                "it is a setting of a radio: use --device, such as --device wlan0 ({step})"
            )),
        },
        Step::RetryLimit { .. } => Some(format!("it is left to you, on the radio: {step}")),
    }
}
