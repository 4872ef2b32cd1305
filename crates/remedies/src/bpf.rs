//! A congestion control from an object file, as a remedy: `bpf:my.bpf.o:beta=3`.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

use airtcp_bpf::Program;
use airtcp_tcp::Config;
use airtcp_tcp::config::{
    CongestionControl, GrowthCredit, LossDetection, Reduction, ReductionBase, WindowValidation,
};
use airtcp_tcp::external::{BpfProgram, ExternalControl};

use crate::choices::WINDOW;
use crate::deployment::{At, ObjectFile, Setting, Step, Way};
use crate::{Deployment, Parameter, Place, Quantity, Remedy, Values};

/// The word before the object's file name.
pub const PREFIX: &str = "bpf:";
/// Most bytes of an object: one with a full vmlinux.h has less than 1 MiB.
const MAX_BYTES: u64 = 16 << 20;
/// Characters that a combination of remedies has a meaning for.
const SEPARATORS: [char; 3] = [':', '+', ','];

/// Values of constants by name.
pub type Constants = BTreeMap<String, i64>;

/// An object that has been read.
#[derive(Debug)]
pub struct Object {
    file: ObjectFile,
    program: Program,
    remedy: Remedy,
    /// The controls made of it, by their constants.
    controls: Mutex<Vec<(Constants, ExternalControl)>>,
}

/// Compiles a source, and returns the object file.
pub type Compiler = Box<dyn Fn(&Path) -> Result<PathBuf, String> + Send + Sync>;

/// This process's compiler, if it has one.
static COMPILER: OnceLock<Compiler> = OnceLock::new();

/// Sets the compiler of this process; a later one is ignored.
pub fn compile_with(compiler: Compiler) {
    drop(COMPILER.set(compiler));
}

/// The object file of a source, from this process's compiler.
///
/// # Errors
///
/// The source cannot be compiled, or this process has no compiler.
pub fn compiled(source: &Path) -> Result<PathBuf, String> {
    let compiler = COMPILER.get().ok_or(
        "is a source, and only airtcp's Python package compiles it; name the object file that \
         clang -O2 -g -target bpf -c makes of it",
    )?;
    compiler(source)
}

/// The name of the control in the object file at `path`, and the file's content, for a kernel,
/// which decides itself whether it takes them.
///
/// # Errors
///
/// It cannot be read, or has no congestion control; says why.
pub fn unverified(path: &str) -> Result<(String, Vec<u8>), String> {
    check_name(path)?;
    let bytes = content(path)?;
    check_size(path, &bytes)?;
    let name = Program::name_of(&bytes).map_err(|error| format!("{path}: {error}"))?;
    Ok((name, bytes))
}

fn content(path: &str) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(MAX_BYTES + 1).read_to_end(&mut bytes))
        .map_err(|error| format!("{path} cannot be read ({error}); check that it exists"))?;
    Ok(bytes)
}

fn check_name(path: &str) -> Result<(), String> {
    if path.ends_with(".c") {
        return Err(format!(
            "{path} is a source: give it to --bpf, which compiles it, or compile it with clang -O2 \
             -g -target bpf -c"
        ));
    }
    Ok(())
}

fn check_size(path: &str, bytes: &[u8]) -> Result<(), String> {
    if bytes.len() as u64 > MAX_BYTES {
        return Err(format!("{path}: expected an object file of at most 16 MiB"));
    }
    Ok(())
}

/// Every object read so far. A remedy, and a control of a configuration, are plain values that
/// refer to them.
static OBJECTS: Mutex<Vec<&'static Object>> = Mutex::new(Vec::new());

impl Object {
    /// Reads the object file at `path`.
    ///
    /// # Errors
    ///
    /// It cannot be read, or is not a congestion control that can be simulated; says why.
    pub fn open(path: &str) -> Result<&'static Self, String> {
        check_name(path)?;
        if path.contains(SEPARATORS) {
            return Err(format!(
                "{path}: a file name with : + or , has another meaning here; rename the file"
            ));
        }
        Self::read(path, content(path)?)
    }

    /// The same from a file's content.
    ///
    /// # Errors
    ///
    /// As [`Self::open`].
    pub fn read(path: &str, bytes: Vec<u8>) -> Result<&'static Self, String> {
        check_size(path, &bytes)?;
        let name = format!("{PREFIX}{path}");
        let mut objects = OBJECTS.lock().unwrap_or_else(PoisonError::into_inner);
        let known = objects
            .iter()
            .find(|known| known.file.bytes == bytes && known.remedy.name == name);
        if let Some(known) = known {
            return Ok(*known);
        }
        let program = Program::load(&bytes, &airtcp_bpf::Options::default())
            .map_err(|error| format!("{path}: {error}"))?;
        let file = ObjectFile {
            path: String::leak(path.to_owned()),
            bytes: Vec::leak(bytes),
        };
        let remedy = remedy(name, &program, file);
        let object: &'static Self = Box::leak(Box::new(Self {
            file,
            program,
            remedy,
            controls: Mutex::default(),
        }));
        objects.push(object);
        Ok(object)
    }

    /// The object behind a remedy, if it is one from an object file.
    pub(crate) fn of(remedy: &Remedy) -> Option<&'static Self> {
        if !remedy.name.starts_with(PREFIX) {
            return None;
        }
        let objects = OBJECTS.lock().unwrap_or_else(PoisonError::into_inner);
        let mut objects = objects.iter();
        objects
            .find(|known| std::ptr::eq(&raw const known.remedy, remedy))
            .copied()
    }

    /// The object of a control, and the values of its constants.
    pub fn behind(control: ExternalControl) -> Option<(&'static Self, Vec<(String, i64)>)> {
        let objects = OBJECTS.lock().unwrap_or_else(PoisonError::into_inner);
        objects.iter().find_map(|object| {
            let controls = object.controls.lock();
            let controls = controls.unwrap_or_else(PoisonError::into_inner);
            let (constants, _) = controls.iter().find(|(_, known)| *known == control)?;
            Some((*object, constants.clone().into_iter().collect()))
        })
    }

    /// The remedy.
    pub const fn remedy(&'static self) -> &'static Remedy {
        &self.remedy
    }

    /// The name under which the kernel knows the control.
    pub fn control_name(&self) -> &str {
        &self.program.name
    }

    /// The file.
    pub const fn file(&self) -> ObjectFile {
        self.file
    }

    /// Content of the file.
    pub const fn bytes(&self) -> &'static [u8] {
        self.file.bytes
    }

    /// The values that a constant may have, with its type in C and an example.
    pub fn expectation(&self, name: &str) -> String {
        let mut constants = self.program.constants().iter();
        let Some(constant) = constants.find(|constant| constant.name == name) else {
            return "expected a whole number".to_owned();
        };
        let (least, most) = constant.bounds();
        let example = self.program.constant(constant);
        format!(
            "{name} is a {} of the program: expected a whole number from {least} to {most}, such \
             as {example}",
            constant.c_type()
        )
    }

    /// The control with these constants.
    ///
    /// # Errors
    ///
    /// The program has no such constant, or one has no such value.
    pub fn control(&self, constants: &Constants) -> Result<ExternalControl, String> {
        let mut controls = self.controls.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, control)) = controls.iter().find(|(known, _)| known == constants) {
            return Ok(*control);
        }
        let program = self.with(constants)?;
        // A constant may open a branch that was closed.
        program.verify().map_err(|fault| fault.to_string())?;
        let control = ExternalControl::keep(Box::new(BpfProgram::new(program)));
        controls.push((constants.clone(), control));
        Ok(control)
    }

    /// The program with these constants.
    fn with(&self, constants: &Constants) -> Result<Program, String> {
        let mut program = self.program.clone();
        for (name, value) in constants {
            program.set_constant(name, i128::from(*value))?;
        }
        Ok(program)
    }

    /// Sets the control with the values of the remedy's parameters.
    pub(crate) fn apply(&self, values: &Values<'_>, tcp: &mut Config) {
        let integer = |quantity: Quantity| match quantity {
            Quantity::Count(value) => i64::try_from(value).unwrap_or(i64::MAX),
            #[expect(
                clippy::cast_possible_truncation,
                reason = "within the parameter's bounds"
            )]
            Quantity::Number(value) => value as i64,
            Quantity::Unlimited | Quantity::Time(_) => 0,
        };
        let parameters = values.parameters.iter().zip(values.quantities);
        let constants = parameters
            .map(|(parameter, quantity)| (parameter.name.to_owned(), integer(*quantity)))
            .collect();
        // The run ends where it reaches what would have been refused.
        let control = self.control(&constants).or_else(|_| {
            let program = BpfProgram::new(self.with(&constants)?);
            Ok::<_, String>(ExternalControl::keep(Box::new(program)))
        });
        if let Ok(control) = control {
            tcp.congestion = CongestionControl::External(control);
        }
    }
}

/// Content of the file that a remedy's text names, if it names one.
pub fn bytes_of(remedy: &str) -> Option<&'static [u8]> {
    let path = remedy.strip_prefix(PREFIX)?.split(':').next()?;
    Object::open(path).ok().map(Object::bytes)
}

/// The key of `[tcp]` that keeps an external control from being called as Linux calls it, and what
/// it must be.
pub fn unsuited(tcp: &Config) -> Option<(&'static str, &'static str)> {
    if !matches!(tcp.congestion, CongestionControl::External(_)) {
        return None;
    }
    let linux = [
        (tcp.sack, "sack", "true"),
        (
            tcp.loss_detection == LossDetection::Rack,
            "loss_detection",
            "\"rack\"",
        ),
        (
            matches!(
                tcp.reduction,
                Reduction::Proportional | Reduction::Proportional510
            ),
            "reduction",
            "\"proportional\"",
        ),
        (
            tcp.reduction_base == ReductionBase::Window,
            "reduction_base",
            "\"window\"",
        ),
        (
            tcp.window_validation == WindowValidation::LastRound,
            "window_validation",
            "\"last-round\"",
        ),
        (
            tcp.quirks.growth_credit == GrowthCredit::Delivered,
            "quirks.growth_credit",
            "\"delivered\"",
        ),
        (tcp.differentiation.is_none(), "congestion_control", "alone"),
    ];
    let found = linux.into_iter().find(|(fits, _, _)| !fits);
    found.map(|(_, key, value)| (key, value))
}

fn remedy(name: String, program: &Program, object: ObjectFile) -> Remedy {
    let parameters: Vec<Parameter> = program
        .constants()
        .iter()
        .map(|constant| {
            let (least, most) = constant.bounds();
            let quantity = |value: i128| match u64::try_from(value.clamp(0, i64::MAX.into())) {
                Ok(value) if !constant.signed => Quantity::Count(value),
                #[expect(clippy::cast_precision_loss, reason = "an integer of a program")]
                _ => Quantity::Number(value as f64),
            };
            Parameter {
                name: String::leak(constant.name.clone()),
                key: None,
                unit: "",
                default: quantity(program.constant(constant)),
                minimum: quantity(least),
                maximum: quantity(most),
                effect: "a constant of the program",
            }
        })
        .collect();
    let step = Step::BpfCongestionControl {
        name: String::leak(program.name.clone()),
        object: Some(object),
        constant: "",
        value: Setting::Constants,
    };
    Remedy {
        name: String::leak(name),
        place: Place::Sender,
        effect: String::leak(format!(
            "the congestion control {} of a BPF object",
            program.name
        )),
        source: "the object file",
        parameters: Vec::leak(parameters),
        deployment: Deployment::by(Vec::leak(vec![
            Way::new(At::Sender, Vec::leak(vec![step])).since("6.4"),
        ])),
        decides: WINDOW,
        apply: |_, _| {},
    }
}
