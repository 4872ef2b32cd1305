//! Records of `.BTF.ext`: CO-RE relocations, and source lines.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::btf::{Types, word};

/// A relocation towards the kernel's types (`struct bpf_core_relo`).
#[derive(Clone, Debug)]
pub struct Relocation {
    /// Index of the instruction in its section.
    pub instruction: usize,
    /// Type that the access starts from.
    pub root: u32,
    /// Indices of members and elements.
    pub path: Vec<u32>,
    /// `enum bpf_core_relo_kind`.
    pub kind: u32,
}

/// A source line (`struct bpf_line_info`).
#[derive(Clone, Debug)]
pub struct SourceLine {
    /// Index of the first instruction in its section.
    pub instruction: usize,
    /// File name without directories.
    pub file: String,
    /// The line.
    pub text: String,
    /// Its number.
    pub number: u32,
}

/// A section's name, and its records.
pub type BySection<T> = Vec<(String, Vec<T>)>;

/// Reads section `.BTF.ext`; `None` if it is damaged.
pub fn read(types: &Types, bytes: &[u8]) -> Option<(BySection<Relocation>, BySection<SourceLine>)> {
    let header = word(bytes, 4)? as usize;
    let table = |at: usize| -> Option<Vec<(String, Vec<[u32; 4]>)>> {
        let start = header.checked_add(word(bytes, at)? as usize)?;
        let end = start.checked_add(word(bytes, at + 4)? as usize)?;
        rows(types, bytes.get(start..end)?)
    };
    let lines = table(16)?;
    let relocations = if header >= 32 { table(24)? } else { Vec::new() };
    let relocation = |[offset, root, access, kind]: [u32; 4]| {
        let access = types.string(access);
        let path: Option<Vec<u32>> = access.split(':').map(|part| part.parse().ok()).collect();
        Some(Relocation {
            instruction: offset as usize / 8,
            root,
            path: path?,
            kind,
        })
    };
    let line = |[offset, file, text, number]: [u32; 4]| SourceLine {
        instruction: offset as usize / 8,
        file: types
            .string(file)
            .rsplit('/')
            .next()
            .unwrap_or("")
            .to_string(),
        text: types.string(text).trim().to_string(),
        number: number >> 10,
    };
    let relocations = relocations
        .into_iter()
        .map(|(section, rows)| {
            let rows: Option<Vec<_>> = rows.into_iter().map(relocation).collect();
            Some((section, rows?))
        })
        .collect::<Option<_>>()?;
    let lines = lines
        .into_iter()
        .map(|(section, rows)| (section, rows.into_iter().map(line).collect()))
        .collect();
    Some((relocations, lines))
}

/// The first four words of each record, by section.
fn rows(types: &Types, table: &[u8]) -> Option<Vec<(String, Vec<[u32; 4]>)>> {
    let mut sections = Vec::new();
    if table.is_empty() {
        return Some(sections);
    }
    let size = word(table, 0)? as usize;
    if size < 16 {
        return None;
    }
    let mut rest = table.get(4..)?;
    while !rest.is_empty() {
        let (section, count) = (types.string(word(rest, 0)?), word(rest, 4)? as usize);
        let length = count.checked_mul(size)?;
        let records = rest.get(8..)?.get(..length)?;
        let row = |record: &[u8]| {
            let at = |index: usize| word(record, 4 * index).unwrap_or(0);
            [at(0), at(1), at(2), at(3)]
        };
        sections.push((section, records.chunks_exact(size).map(row).collect()));
        rest = rest.get(8 + length..)?;
    }
    Some(sections)
}
