//! The words of the kernel's verifier, which libbpf prints as warnings.

use std::sync::{Mutex, PoisonError};

use libbpf_rs::{PrintLevel, set_print};

/// Warnings since [`begin`].
static SAID: Mutex<String> = Mutex::new(String::new());

/// Collects warnings from now on; nothing is printed.
pub fn begin() {
    lock().clear();
    set_print(Some((PrintLevel::Warn, |_, text| lock().push_str(&text))));
}

/// The refusal in what was collected, if there is one; nothing is collected any more.
pub fn end() -> Option<String> {
    set_print(None);
    refusal(&std::mem::take(&mut *lock()))
}

fn lock() -> std::sync::MutexGuard<'static, String> {
    SAID.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The program and the verifier's last sentence: its log ends with it, and with the counts of its
/// work. Without a log, libbpf's last words.
fn refusal(text: &str) -> Option<String> {
    let lines = || text.lines().map(str::trim).filter(|line| !line.is_empty());
    let log = || {
        let inside = lines().skip_while(|line| !line.contains("BEGIN PROG LOAD LOG"));
        inside
            .skip(1)
            .take_while(|line| !line.contains("END PROG LOAD LOG"))
    };
    let sentence = log().filter(|line| !is_of_the_log(line)).last();
    let source = log().filter_map(source_line).last();
    let program = lines()
        .find_map(|line| line.strip_prefix("libbpf: prog '"))
        .and_then(|rest| rest.split('\'').next());
    match (program, sentence) {
        (Some(program), Some(sentence)) => Some(match source {
            Some(source) => format!("{program} ({source}): {sentence}"),
            None => format!("{program}: {sentence}"),
        }),
        _ => lines()
            .next_back()
            .map(|line| line.trim_start_matches("libbpf: ").to_owned()),
    }
}

/// The source of the last instructions: `; LINE @ FILE:NUMBER` from Linux 6.9 on, `; LINE` before.
fn source_line(line: &str) -> Option<String> {
    let source = line.strip_prefix("; ")?;
    Some(match source.rsplit_once(" @ ") {
        Some((text, place)) => format!("{place}: {text}"),
        None => source.to_owned(),
    })
}

/// Whether a line is an instruction, a state, a source line or a count rather than a sentence.
fn is_of_the_log(line: &str) -> bool {
    let counts = [
        "processed ",
        "verification time",
        "stack depth",
        "max_states",
    ];
    let numbered = line
        .split_once(": ")
        .is_some_and(|(number, _)| number.parse::<u64>().is_ok());
    numbered
        || line.starts_with("; ")
        || line.starts_with("from ")
        || line.starts_with("--")
        || counts.iter().any(|count| line.starts_with(count))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_verifiers_sentence_is_found() {
        let log = "libbpf: prog 'a_cong_avoid': BPF program load failed: Permission denied\n\
            libbpf: prog 'a_cong_avoid': -- BEGIN PROG LOAD LOG --\n\
            0: R1=ctx() R10=fp0\n\
            ; tp->lost_out = 0; @ mine.bpf.c:12\n\
            1: (7b) *(u64 *)(r1 +0) = r2\n\
            write to lost_out denied\n\
            processed 2 insns (limit 1000000) max_states_per_insn 0\n\
            -- END PROG LOAD LOG --\n\
            libbpf: failed to load object 'mine'\n";
        assert_eq!(
            refusal(log).as_deref(),
            Some("a_cong_avoid (mine.bpf.c:12: tp->lost_out = 0;): write to lost_out denied")
        );
        let without = "libbpf: struct_ops init_kern: x is not in kernel BTF\n";
        assert_eq!(
            refusal(without).as_deref(),
            Some("struct_ops init_kern: x is not in kernel BTF")
        );
        assert_eq!(refusal(""), None);
    }
}
