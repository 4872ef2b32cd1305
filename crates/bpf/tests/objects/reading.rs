//! The loader: accepted, refused and poisoned programs.

use airtcp_bpf::{Arguments, Field, Flow, Member, Operation, Program};

use crate::compile;

/// A control of the least size, with the kernel's types, more declarations and a body of
/// `cong_avoid`.
pub fn control(declarations: &str, body: &str) -> String {
    format!(
        r#"#include "kernel.h"
char _license[] SEC("license") = "GPL";
{declarations}
SEC("struct_ops") void BPF_PROG(avoid, struct sock *sk, __u32 ack, __u32 acked)
{{
	struct tcp_sock *tp = tcp_sk(sk);
	{body}
}}
SEC("struct_ops") __u32 BPF_PROG(ssthresh, struct sock *sk) {{ return 2; }}
SEC("struct_ops") __u32 BPF_PROG(undo, struct sock *sk) {{ return tcp_sk(sk)->snd_cwnd; }}
SEC(".struct_ops") struct tcp_congestion_ops tiny = {{
	.cong_avoid = (void *)avoid, .ssthresh = (void *)ssthresh, .undo_cwnd = (void *)undo,
	.name = "tiny",
}};
"#
    )
}

pub fn load(text: &str) -> Option<Result<Program, String>> {
    let object = compile::object_of(text)?;
    Some(Program::load(&object, &Default::default()).map_err(|error| error.to_string()))
}

/// The program of a body, and the result of its `cong_avoid`.
pub fn run(declarations: &str, body: &str) -> Option<(Flow, Program, Result<(), String>)> {
    let program = load(&control(declarations, body))?.unwrap();
    let mut flow = Flow::new(&program, 1);
    flow.set(&program, Member::Cwnd, 10);
    let done = flow
        .call(&program, Operation::CongAvoid, Arguments::Numbers(7, 1))
        .map(drop)
        .map_err(|fault| fault.to_string());
    Some((flow, program, done))
}

#[test]
fn a_control_has_its_name_members_constants_and_counters() {
    let source = compile::sources().join("newzag.bpf.c");
    let Some(object) = compile::object(&source, &[]) else {
        return;
    };
    let mut program = Program::load(&object, &Default::default()).unwrap();
    assert_eq!(program.name, "newzag");
    assert!(program.limits().is_empty());
    let members: Vec<_> = program
        .layout
        .slots()
        .iter()
        .map(|slot| slot.member.name())
        .collect();
    for member in [
        "icsk_ca_priv",
        "snd_cwnd",
        "lost_out",
        "lost",
        "is_cwnd_limited",
    ] {
        assert!(members.contains(&member), "{members:?}");
    }
    let constants: Vec<_> = program
        .constants()
        .iter()
        .map(|constant| (constant.name.as_str(), program.constant(constant)))
        .collect();
    assert_eq!(constants, [("adjusted", 0), ("radio_keeps_percent", 80)]);
    let counters: Vec<_> = program.counters().iter().map(|c| c.name.as_str()).collect();
    assert_eq!(counters.len(), 16);
    assert_eq!(counters[2], "verdicts[1].radio");
    program.set_constant("radio_keeps_percent", 70).unwrap();
    let error = program
        .set_constant("radio_keeps_percent", 1 << 32)
        .unwrap_err();
    assert!(error.contains("expected 0 to 4294967295"), "{error}");
    let error = program.set_constant("beta", 1).unwrap_err();
    assert!(
        error.contains("expected one of adjusted, radio_keeps_percent"),
        "{error}"
    );
}

#[test]
fn a_member_that_is_not_simulated_is_fatal_only_where_it_is_reached() {
    let declarations = "struct tcp_sock___x { struct { __u32 space; } rcvq_space; } RELOCATED;";
    let read = "tp->snd_cwnd = ((struct tcp_sock___x *)tp)->rcvq_space.space;";
    let guarded = format!(
        "if (bpf_core_field_exists(((struct tcp_sock___x *)tp)->rcvq_space.space)) {{ {read} }}"
    );
    let Some((_, program, done)) = run(declarations, &guarded) else {
        return;
    };
    assert_eq!(done, Ok(()));
    assert_eq!(
        program.limits(),
        ["tcp_sock.rcvq_space.space is not simulated"]
    );
    let (_, _, done) = run(declarations, read).unwrap();
    let error = done.unwrap_err();
    assert!(
        error.contains("tcp_sock.rcvq_space.space is not simulated"),
        "{error}"
    );
    assert!(error.contains("rcvq_space.space;"), "{error}");
}

#[test]
fn plain_reads_of_bit_fields_and_nested_structures_find_the_mirror() {
    let declarations = "
        struct tcp_sock___bits {
            __u32 filler;
            __u8 other : 3, is_cwnd_limited : 1, more : 4;
        } RELOCATED;
        struct inet_connection_sock___bits { __u8 icsk_ca_state : 5, rest : 3; } RELOCATED;";
    let body = "
        if (((struct tcp_sock___bits *)tp)->is_cwnd_limited &&
            ((struct inet_connection_sock___bits *)sk)->icsk_ca_state == 3 &&
            tp->rtt_min.s[0].v == 777)
            tp->snd_cwnd = 99;";
    let Some((_, program, _)) = run(declarations, body) else {
        return;
    };
    for (limited, state, rtt, cwnd) in [
        (1, 3, 777, 99),
        (0, 3, 777, 10),
        (1, 4, 777, 10),
        (1, 3, 776, 10),
    ] {
        let mut flow = Flow::new(&program, 1);
        flow.set(&program, Member::Cwnd, 10);
        flow.set(&program, Member::IsCwndLimited, limited);
        flow.set(&program, Member::State, state);
        flow.set_minmax(program.layout.slot(Member::RttMin).unwrap(), 5, rtt);
        assert_eq!(flow.get(&program, Member::State), Some(state));
        flow.call(&program, Operation::CongAvoid, Arguments::Numbers(0, 1))
            .unwrap();
        assert_eq!(flow.get(&program, Member::Cwnd), Some(cwnd));
    }
}

#[test]
fn an_endless_loop_a_null_pointer_and_deep_recursion_end_with_their_place() {
    let Some((_, _, done)) = run("", "for (;;) { barrier_var(acked); acked++; }") else {
        return;
    };
    let error = done.unwrap_err();
    assert!(
        error.contains("more than 1000000 instructions in one call"),
        "{error}"
    );
    let (_, _, done) = run("", "__u32 *p = 0; barrier_var(p); tp->snd_cwnd = *p;").unwrap();
    let error = done.unwrap_err();
    assert!(
        error.contains("a load of 4 bytes at 0x0") && error.contains("null"),
        "{error}"
    );
    let declarations = "
        static __attribute__((noinline)) __u32 deeper(__u32 n)
        { if (!n) return 0; n = deeper(n - 1); barrier_var(n); return n + 1; }";
    let (flow, program, done) = run(declarations, "tp->snd_cwnd = deeper(5);").unwrap();
    assert_eq!(done, Ok(()));
    assert_eq!(flow.get(&program, Member::Cwnd), Some(5));
    let (_, _, done) = run(declarations, "tp->snd_cwnd = deeper(8);").unwrap();
    assert!(done.unwrap_err().contains("more than 8 nested calls"));
}

#[test]
fn maps_storage_messages_and_the_configuration_work() {
    let declarations = r#"
        struct { __uint(type, BPF_MAP_TYPE_HASH); __uint(max_entries, 2);
                 __type(key, __u64); __type(value, __u64); } hash SEC(".maps");
        extern int LINUX_KERNEL_VERSION __kconfig;
        extern void bbr_main(struct sock *sk) __ksym __weak;
        __u64 found; __s32 full; __u32 version; __u8 exists;"#;
    let body = r#"
        for (__u64 key = 5; key < 8; key++) {
            __u64 value = key * 10;
            full = bpf_map_update_elem(&hash, &key, &value, 0);
        }
        __u64 key = 6, *value = bpf_map_lookup_elem(&hash, &key);
        if (value) found = *value;
        version = LINUX_KERNEL_VERSION;
        exists = bpf_ksym_exists(bbr_main);
        bpf_printk("cwnd %u of %s, %d %llx", tp->snd_cwnd, "us", -3, 0x1234567890ULL);"#;
    let Some((flow, program, done)) = run(declarations, body) else {
        return;
    };
    assert_eq!(done, Ok(()));
    let value = |name: &str| {
        let counter = program
            .counters()
            .iter()
            .find(|counter| counter.name == name)
            .unwrap();
        flow.variable(counter)
    };
    assert_eq!(
        [value("found"), value("full"), value("exists")],
        [60, -7, 0]
    );
    assert_eq!(value("version"), 6 << 16 | 12 << 8);
    let messages = flow.environment.messages();
    assert_eq!(messages[0].text, "cwnd 10 of us, -3 1234567890");
}

#[test]
fn what_the_kernel_refuses_is_refused() {
    let good = control("", "");
    let Some(loaded) = load(&good) else { return };
    loaded.unwrap();
    for (from, to, expected) in [
        ("\"GPL\"", "\"MIT\"", "the licence \"MIT\""),
        (
            ".ssthresh = (void *)ssthresh,",
            "",
            "the operation ssthresh is missing",
        ),
        (
            ".cong_avoid = (void *)avoid,",
            "",
            "cong_avoid or cong_control is missing",
        ),
        ("\"tiny\"", "\"\"", "expected 1 to 15 letters"),
        ("\"tiny\"", "\"../x\"", "expected 1 to 15 letters"),
        ("\"tiny\"", "\"my-reno\"", "expected 1 to 15 letters"),
        ("\"tiny\"", "\"cubic\"", "built into Linux"),
        ("\"tiny\"", "\"reno\"", "(EEXIST)"),
        ("\"tiny\"", "\"tiny\", .flags = 8", ".flags = 0x8: expected"),
    ] {
        let bad = good.replace(from, to);
        assert_ne!(bad, good);
        let error = load(&bad).unwrap().unwrap_err();
        assert!(error.contains(expected), "{error}");
    }
    let error = Program::load(b"no object", &Default::default()).unwrap_err();
    assert!(
        error.to_string().contains("the object file is damaged"),
        "{error}"
    );
}

/// The headers that a control includes, as one text.
pub fn kernel_types() -> String {
    let read = |name| std::fs::read_to_string(compile::sources().join(name)).unwrap();
    let types = read("include/vmlinux.h");
    read("kernel.h").replace("#include \"include/vmlinux.h\"", &types)
}

/// The types that come with the package name each member that can be simulated.
#[test]
fn every_simulated_member_is_declared() {
    let types = kernel_types();
    let declared = |name: &str| {
        types
            .split(|c: char| !(c.is_alphanumeric() || c == '_'))
            .any(|word| word == name)
    };
    for name in Member::ALL.iter().map(|member| member.name()) {
        assert!(declared(name), "{name}");
    }
    for (record, name) in Field::ALL.iter().map(|field| field.name()) {
        assert!(declared(record) && declared(name), "{record}.{name}");
    }
}

#[test]
fn a_socket_without_relocations_is_refused() {
    let text = control("", "tp->snd_cwnd++;");
    let kernel = kernel_types();
    let plain: String = kernel
        .split_inclusive('\n')
        .filter(|line| !line.starts_with("#pragma"))
        .collect();
    assert_ne!(plain, kernel);
    let Some(loaded) = load(&text.replace("#include \"kernel.h\"", &plain)) else {
        return;
    };
    let error = loaded.unwrap_err();
    assert!(error.contains("preserve_access_index"), "{error}");
    assert!(error.contains("tp->snd_cwnd++;"), "{error}");
}
