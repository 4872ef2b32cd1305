//! A program that can be run: decoded code, the layout of its mirror, its sections and maps.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use crate::isa::Instruction;
use crate::maps::Map;
use crate::memory::{BadAccess, CONTEXT, Region, SAMPLE, SOCKET, split};
use crate::mirror::Layout;
use crate::origins::Origins;
use crate::sample::Samples;
use crate::trap::Trap;
use crate::vm::{BUDGET, Stop};

/// Declares the operations once: the members of `struct tcp_congestion_ops`.
macro_rules! operations {
    ($($Operation:ident $name:literal: $what:literal;)+) => {
        /// An operation of a congestion control.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Operation {
            $(#[doc = $what] $Operation,)+
        }

        impl Operation {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$Operation),+];

            /// The kernel's name.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$Operation => $name,)+ }
            }
        }
    };
}

operations! {
    Ssthresh "ssthresh": "The threshold after a loss.";
    CongAvoid "cong_avoid": "Grows the window.";
    SetState "set_state": "The state is about to change.";
    CwndEvent "cwnd_event": "Something happened to the window.";
    InAckEvent "in_ack_event": "An acknowledgment arrived.";
    PktsAcked "pkts_acked": "Segments were acknowledged.";
    MinTsoSegs "min_tso_segs": "The least burst.";
    CongControl "cong_control": "Sets window and pacing rate at each acknowledgment.";
    UndoCwnd "undo_cwnd": "The window after a needless reduction.";
    SndbufExpand "sndbuf_expand": "Size of the send buffer; never called.";
    Init "init": "The connection is established.";
    Release "release": "The connection is closed.";
}

impl Operation {
    /// Number of its arguments, the socket among them.
    pub(crate) const fn arguments(self) -> u8 {
        match self {
            Self::CongControl => 4,
            Self::CongAvoid => 3,
            Self::SetState | Self::CwndEvent | Self::InAckEvent | Self::PktsAcked => 2,
            Self::Ssthresh
            | Self::MinTsoSegs
            | Self::UndoCwnd
            | Self::SndbufExpand
            | Self::Init
            | Self::Release => 1,
        }
    }
}

/// Numbers of the parameters of `cong_control`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CongControlArguments {
    /// `(sk, rs)`, until Linux 6.9.
    Sample,
    /// `(sk, ack, flag, rs)`, from Linux 6.10 on.
    AckFlagSample,
}

/// A global variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Its name; an element of an array is `name[i]`.
    pub name: String,
    /// The region that it is in.
    pub region: usize,
    /// Its offset there.
    pub offset: usize,
    /// Bytes, 1 to 8.
    pub size: usize,
    /// Whether it is a signed integer.
    pub signed: bool,
}

/// A line of the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// The first instruction of it.
    pub at: usize,
    /// File name without directories.
    pub file: String,
    /// Line number, from 1.
    pub number: u32,
    /// The line without indentation.
    pub text: String,
}

/// A program.
#[derive(Clone, Debug)]
pub struct Program {
    /// The control's name.
    pub name: String,
    /// Jiffies per second that the program sees (`CONFIG_HZ`).
    pub hz: u32,
    /// The members of the socket that it uses.
    pub layout: Layout,
    /// The members of samples that it uses.
    pub samples: Samples,
    /// Which parameters `cong_control` has.
    pub cong_control: CongControlArguments,
    pub(crate) code: Vec<Instruction>,
    pub(crate) entries: Vec<(Operation, usize)>,
    pub(crate) sections: Vec<Region>,
    pub(crate) maps: Vec<Map>,
    pub(crate) constants: Vec<Variable>,
    /// Constants that the compiler has used already.
    pub(crate) fixed: Vec<String>,
    pub(crate) counters: Vec<Variable>,
    pub(crate) poisons: Vec<String>,
    pub(crate) functions: Vec<(usize, String)>,
    pub(crate) lines: Vec<Line>,
    pub(crate) origins: Origins,
    /// Whether the kernel's verifier reads it: a module of the kernel's is no BPF program.
    pub(crate) is_verified: bool,
}

impl Program {
    /// The first instruction of an operation, if the program has it.
    #[must_use]
    pub fn entry(&self, operation: Operation) -> Option<usize> {
        let found = self.entries.iter().find(|(known, _)| *known == operation);
        found.map(|(_, at)| *at)
    }

    /// Number of instructions.
    #[must_use]
    pub const fn instructions(&self) -> usize {
        self.code.len()
    }

    /// Its `const volatile` integers, which may be set before a run.
    #[must_use]
    pub fn constants(&self) -> &[Variable] {
        &self.constants
    }

    /// Its global integers that change during a run.
    #[must_use]
    pub fn counters(&self) -> &[Variable] {
        &self.counters
    }

    /// Features it may use that are not simulated, one sentence each: fatal only if reached.
    #[must_use]
    pub fn limits(&self) -> &[String] {
        &self.poisons
    }

    /// Value of a constant.
    #[must_use]
    pub fn constant(&self, variable: &Variable) -> i128 {
        let section = variable.region.checked_sub(crate::memory::DATA);
        let bytes = section.and_then(|section| self.sections.get(section));
        bytes.map_or(0, |region| variable.read(&region.bytes))
    }

    /// Sets a constant.
    ///
    /// # Errors
    ///
    /// There is no such constant, or it is too small for the value; the error gives the
    /// expectation.
    pub fn set_constant(&mut self, name: &str, value: i128) -> Result<(), String> {
        let Some(variable) = self.constants.iter().find(|known| known.name == name) else {
            return Err(self.without_constant(name));
        };
        let (least, most) = variable.bounds();
        if !(least..=most).contains(&value) {
            return Err(format!(
                "{}: {name} = {value}: expected {least} to {most}",
                self.name
            ));
        }
        let (offset, size) = (variable.offset, variable.size);
        let section = variable.region.checked_sub(crate::memory::DATA);
        let place = section
            .and_then(|section| self.sections.get_mut(section))
            .and_then(|region| region.bytes.get_mut(offset..)?.get_mut(..size));
        if let Some(place) = place {
            place.copy_from_slice(value.to_le_bytes().get(..size).unwrap_or(&[]));
        }
        Ok(())
    }

    /// The error for a constant that it does not have.
    fn without_constant(&self, name: &str) -> String {
        let known: Vec<_> = self.constants.iter().map(|c| c.name.as_str()).collect();
        let element = format!("{name}[0]");
        let is_fixed = |fixed: &String| fixed == name.split('[').next().unwrap_or("");
        let program = &self.name;
        if known.contains(&element.as_str()) {
            return format!("{program}: {name:?} is an array: set an element of it, as {element}");
        }
        if self.fixed.iter().any(is_fixed) {
            return format!(
                "{program}: {name:?} is const, and the compiler has used its value: declare it \
                 `const volatile`"
            );
        }
        let known = if known.is_empty() {
            "it has none (declare `const volatile __u32 name = value;`)".to_owned()
        } else {
            format!("expected one of {}", known.join(", "))
        };
        format!("{program}: no constant {name:?}: {known}")
    }

    /// Explains a stop: the function, the instruction within it and the source line.
    #[must_use]
    pub fn fault(&self, stop: &Stop) -> Fault {
        let what = match &stop.trap {
            Trap::Memory(access) => self.explained(access),
            Trap::Budget => format!("more than {BUDGET} instructions in one call"),
            Trap::Depth => "more than 8 nested calls".to_owned(),
            Trap::Jump => "a jump out of the code".to_owned(),
            Trap::Poison(reason) => usize::try_from(*reason)
                .ok()
                .and_then(|reason| self.poisons.get(reason))
                .map_or_else(|| "not simulated".to_owned(), Clone::clone),
            Trap::Argument(what) => (*what).to_owned(),
        };
        Fault {
            program: self.name.clone(),
            place: self.place(stop.at),
            what,
        }
    }

    fn explained(&self, access: &BadAccess) -> String {
        let (region, offset) = split(access.address);
        let offset = i64::try_from(offset).unwrap_or(i64::MAX);
        if region == SOCKET
            && access.writes
            && let Some(refusal) = self.layout.refusal(None, offset, access.size)
        {
            return refusal;
        }
        format!(
            "{} of {} bytes at {:#x}, which is {}",
            if access.writes { "a store" } else { "a load" },
            access.size,
            access.address,
            match (region, access.writes) {
                (0, _) => "a null pointer or a plain number",
                (SOCKET, true) => "the socket: the kernel's verifier refuses it",
                (SOCKET, false) => "past the members of the socket that the program names",
                (CONTEXT | SAMPLE, true) => "read-only: the kernel's verifier refuses it",
                _ => "read-only, or outside the socket, the sample, the stack and the data",
            }
        )
    }

    /// Describes an instruction's place.
    #[must_use]
    pub fn place(&self, at: usize) -> String {
        let function = self.functions.iter().rev().find(|(start, _)| *start <= at);
        let (start, name) = function.map_or((0, "?"), |(start, name)| (*start, name.as_str()));
        let mut place = format!("{name}, instruction {}", at - start);
        let line = self.lines.iter().rev().find(|line| line.at <= at);
        if let Some(line) = line.filter(|line| line.at >= start) {
            place.push_str(&format!("; {}:{}: {}", line.file, line.number, line.text));
        }
        place
    }
}

impl Variable {
    /// Its type in C, as the kernel names it.
    #[must_use]
    pub const fn c_type(&self) -> &'static str {
        match (self.size, self.signed) {
            (1, false) => "__u8",
            (1, true) => "__s8",
            (2, false) => "__u16",
            (2, true) => "__s16",
            (4, false) => "__u32",
            (4, true) => "__s32",
            (_, false) => "__u64",
            (_, true) => "__s64",
        }
    }

    /// Least and largest value.
    #[must_use]
    pub fn bounds(&self) -> (i128, i128) {
        let bits = 8 * u32::try_from(self.size.min(8)).unwrap_or(8);
        match self.signed {
            true => (-(1 << (bits - 1)), (1 << (bits - 1)) - 1),
            false => (0, (1 << bits) - 1),
        }
    }

    /// Its value in its region.
    #[must_use]
    pub fn read(&self, region: &[u8]) -> i128 {
        let found = region
            .get(self.offset..)
            .and_then(|rest| rest.get(..self.size.min(8)));
        let mut bytes = [0; 8];
        let Some(found) = found else { return 0 };
        bytes[..found.len()].copy_from_slice(found);
        let value = i128::from(u64::from_le_bytes(bytes));
        let (_, most) = self.bounds();
        if value > most {
            value - 2 * (most + 1)
        } else {
            value
        }
    }
}

/// The reason why a program cannot go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The control's name.
    pub program: String,
    /// Function, instruction and source line.
    pub place: String,
    /// The error.
    pub what: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({}): {}", self.program, self.place, self.what)
    }
}

impl core::error::Error for Fault {}
