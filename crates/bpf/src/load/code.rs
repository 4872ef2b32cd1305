//! All executable sections of an object, one after the other, while they are linked.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use object::{Object, ObjectSection, ObjectSymbol, SectionIndex, SectionKind};

use super::records::{BySection, SourceLine};
use super::{Error, Result};
use crate::isa::{Encoded, Instruction, Op};
use crate::origins::Origins;
use crate::program::Line;

/// Most instructions of an object.
const MAX_INSTRUCTIONS: usize = 1 << 20;

/// Code that is being linked.
pub struct Code {
    /// The instructions as they are in the file, and patched.
    pub encoded: Vec<Encoded>,
    /// Instructions that are already linked.
    pub linked: Vec<Option<Instruction>>,
    /// What the instructions had before they were linked.
    pub origins: Origins,
    /// The first instruction of each section.
    starts: BTreeMap<usize, usize>,
    /// Reasons of poisoned instructions.
    pub poisons: Vec<String>,
    /// First instruction and name of each function, in order.
    pub functions: Vec<(usize, String)>,
    /// Source lines, in order.
    pub lines: Vec<Line>,
}

impl Code {
    /// Reads the executable sections.
    pub fn read(file: &object::File<'_>, lines: &BySection<SourceLine>) -> Result<Self> {
        let mut code = Self {
            encoded: Vec::new(),
            linked: Vec::new(),
            origins: Origins::default(),
            starts: BTreeMap::new(),
            poisons: Vec::new(),
            functions: Vec::new(),
            lines: Vec::new(),
        };
        for section in file.sections() {
            if section.kind() != SectionKind::Text || section.size() == 0 {
                continue;
            }
            let start = code.encoded.len();
            code.starts.insert(section.index().0, start);
            let bytes = section.data().map_err(Error::from_object)?;
            if bytes.len() / 8 + start > MAX_INSTRUCTIONS {
                return Err(Error::new("more than a million instructions"));
            }
            let encoded = bytes
                .chunks_exact(8)
                .filter_map(|chunk| chunk.first_chunk());
            code.encoded.extend(encoded.copied().map(Encoded::new));
            let name = section.name().unwrap_or("");
            for (_, lines) in lines.iter().filter(|(section, _)| section == name) {
                code.lines.extend(lines.iter().map(|line| Line {
                    at: start.saturating_add(line.instruction),
                    file: line.file.clone(),
                    number: line.number,
                    text: line.text.clone(),
                }));
            }
        }
        code.linked.resize(code.encoded.len(), None);
        for symbol in file.symbols() {
            if symbol.kind() == object::SymbolKind::Text
                && let Some(index) = symbol.section_index()
                && let Some(at) = code.at(index, symbol.address())
            {
                code.functions
                    .push((at, symbol.name().unwrap_or("").into()));
            }
        }
        code.functions.sort();
        code.lines.sort_by_key(|line| line.at);
        Ok(code)
    }

    /// The instruction at a byte of a section.
    pub fn at(&self, section: SectionIndex, byte: u64) -> Option<usize> {
        let start = self.starts.get(&section.0)?;
        let at = start.checked_add(usize::try_from(byte / 8).ok()?)?;
        (at < self.encoded.len()).then_some(at)
    }

    /// Whether a section is part of the code.
    pub fn has(&self, section: SectionIndex) -> bool {
        self.starts.contains_key(&section.0)
    }

    /// Patches the value of an instruction: the offset of an access to memory, or the immediate.
    pub fn patch(&mut self, at: usize, value: u64) -> Option<()> {
        let encoded = self.encoded.get_mut(at)?;
        if encoded.accesses_memory() {
            encoded.offset = value.try_into().ok()?;
        } else {
            encoded.imm = value.try_into().ok()?;
        }
        Some(())
    }

    /// Replaces an instruction by a failure with this reason.
    pub fn poison(&mut self, at: usize, reason: String) {
        let known = self.poisons.iter().position(|known| *known == reason);
        let number = known.unwrap_or(self.poisons.len());
        if known.is_none() {
            self.poisons.push(reason);
        }
        self.link(at, Op::Poison, number as u64);
    }

    /// Makes an instruction load the address of data or of a map.
    pub fn link_address(&mut self, at: usize, address: u64) {
        self.origins.addresses.insert(at);
        self.link(at, Op::LoadImmediate, address);
    }

    /// Replaces the operation and the immediate of an instruction.
    pub fn link(&mut self, at: usize, op: Op, imm: u64) {
        let (Some(encoded), Some(linked)) = (self.encoded.get(at), self.linked.get_mut(at)) else {
            return;
        };
        *linked = Some(Instruction {
            op,
            // The interpreter has eleven registers.
            dst: encoded.dst.min(9),
            src: 0,
            offset: 0,
            imm,
        });
    }
}
