//! Stores that the kernel's verifier refuses, by function, instruction and source line, and those
//! that it takes.

use airtcp_bpf::Program;

use crate::compile;
use crate::reading::{control, load, run};

/// Members that are writable, and their bytes.
const WRITABLE: [(&str, &str, u32); 8] = [
    ("sk_pacing_rate", "struct sock", 8),
    ("sk_pacing_status", "struct sock", 4),
    ("snd_cwnd", "struct tcp_sock", 4),
    ("snd_cwnd_cnt", "struct tcp_sock", 4),
    ("snd_cwnd_stamp", "struct tcp_sock___w", 4),
    ("snd_ssthresh", "struct tcp_sock", 4),
    ("ecn_flags", "struct tcp_sock___w", 1),
    ("app_limited", "struct tcp_sock___w", 4),
];

const MORE: &str = "struct tcp_sock___w { __u32 snd_cwnd_stamp, app_limited, snd_cwnd_clamp; \
                    __u8 ecn_flags; } RELOCATED;";

/// Refused with this sentence, function and line.
fn refused(declarations: &str, body: &str, sentence: &str, function: &str) -> Option<()> {
    let error = load(&control(declarations, body))?
        .err()
        .unwrap_or_else(|| panic!("accepted: {body}"));
    for part in [
        sentence,
        "verifier refuses",
        &format!("{function}, instruction"),
        "text.bpf.c:",
    ] {
        assert!(error.contains(part), "{body}: {error}: expected {part}");
    }
    Some(())
}

fn accepted(declarations: &str, body: &str) -> Option<Program> {
    let loaded = load(&control(declarations, body))?;
    Some(loaded.unwrap_or_else(|error| panic!("{body}: {error}")))
}

#[test]
fn a_plain_store_to_a_read_only_member_is_refused_with_its_line() {
    for body in [
        "tp->mss_cache = 1;",
        "tp->lost++;",
        "((struct tcp_sock___w *)tp)->snd_cwnd_clamp = 2;",
    ] {
        if refused(MORE, body, "which is read-only", "avoid").is_none() {
            return;
        }
    }
}

#[test]
fn an_atomic_change_of_a_read_only_member_is_refused() {
    // All but the first came with the third version of the instructions.
    let load = |body: &str| {
        let folder = tempfile::tempdir().unwrap();
        let source = folder.path().join("text.bpf.c");
        std::fs::write(&source, control("", body)).unwrap();
        let object = compile::object(&source, &["-Wno-unused", "-mcpu=v3"])?;
        Some(Program::load(&object, &Default::default()).map_err(|error| error.to_string()))
    };
    for (operation, member) in [
        ("__sync_fetch_and_add", "lost"),
        ("__sync_fetch_and_or", "lost"),
        ("__sync_fetch_and_and", "bytes_acked"),
        ("__sync_fetch_and_xor", "lost"),
        ("tp->snd_cwnd = __sync_fetch_and_add", "lost"),
        ("tp->snd_cwnd = __sync_fetch_and_or", "bytes_acked"),
        ("tp->snd_cwnd = __sync_fetch_and_and", "lost"),
        ("tp->snd_cwnd = __sync_fetch_and_xor", "lost"),
        ("tp->snd_cwnd = __sync_lock_test_and_set", "lost"),
        ("tp->snd_cwnd = __sync_val_compare_and_swap", "lost"),
    ] {
        let arguments = match operation.contains("compare") {
            true => "1, 2",
            false => "1",
        };
        let Some(loaded) = load(&format!("{operation}(&tp->{member}, {arguments});")) else {
            return;
        };
        let error = loaded.unwrap_err();
        let expected = format!("a store to {member}, which is read-only");
        assert!(error.contains(&expected), "{error}");
        assert!(error.contains("avoid, instruction"), "{error}");
    }
    load("__sync_fetch_and_add(&tp->snd_cwnd, 1);")
        .unwrap()
        .unwrap();
}

#[test]
fn a_store_fits_its_member() {
    let types = [(1, "__u8"), (2, "__u16"), (4, "__u32"), (8, "__u64")];
    for (member, structure, size) in WRITABLE {
        for (from, bytes) in [(0, size), (0, size * 2), (size - 1, 1), (1, 1)] {
            let Some((_, ty)) = types.iter().find(|(known, _)| *known == bytes) else {
                continue;
            };
            let body = format!(
                "void *at = (void *)&(({structure} *)tp)->{member}; barrier_var(at);
                *({ty} *)(at + {from}) = 1;"
            );
            let found = if from == 0 && bytes <= size {
                accepted(MORE, &body).map(drop)
            } else {
                refused(MORE, &body, member, "avoid")
            };
            if found.is_none() {
                return;
            }
        }
    }
    let sentence = "a store of 8 bytes to snd_cwnd, which has 4";
    refused("", "*(__u64 *)&tp->snd_cwnd = 1;", sentence, "avoid");
}

#[test]
fn the_controls_own_state_has_104_bytes() {
    let store = |ty: &str, at: i32| {
        format!("void *own = inet_csk_ca(sk); barrier_var(own); *({ty} *)(own + {at}) = 1;")
    };
    for (ty, at) in [
        ("__u64", 96),
        ("__u32", 100),
        ("__u8", 103),
        ("__u32", 2),
        ("__u64", 1),
    ] {
        if accepted("", &store(ty, at)).is_none() {
            return;
        }
    }
    for (ty, at) in [
        ("__u64", 104),
        ("__u64", 128),
        ("__u64", 4_096),
        ("__u64", 100),
        ("__u8", 104),
        ("__u32", -4),
    ] {
        refused("", &store(ty, at), "icsk_ca_priv, which has 104", "avoid");
    }
    // However the program declares it.
    let declared = "struct inet_connection_sock___x { __u64 icsk_ca_priv[40]; } RELOCATED;";
    let body = "((struct inet_connection_sock___x *)sk)->icsk_ca_priv[13] = 1;";
    refused(declared, body, "at byte 104 of icsk_ca_priv", "avoid");
}

#[test]
fn a_place_that_is_not_a_constant_is_refused() {
    let body = "__u64 *own = inet_csk_ca(sk); own[acked & 7] = 1;";
    let sentence = "a store at a place in icsk_ca_priv that is not a constant";
    if refused("", body, sentence, "avoid").is_none() {
        return;
    }
    // Constants, as the kernel finds along the path.
    let body = "__u64 *own = inet_csk_ca(sk);
        _Pragma(\"clang loop unroll(disable)\")
        for (int i = 0; i < 13; i++) { barrier_var(i); own[i] = i; }";
    accepted("", body);
    refused(
        "",
        &body.replace("< 13", "< 14"),
        "at byte 104 of icsk_ca_priv",
        "avoid",
    );
}

#[test]
fn the_type_of_a_pointer_is_followed() {
    let function = "static __attribute__((noinline)) void set(__u32 *at, __u32 to) { *at = to; }";
    let socket = "static __attribute__((noinline)) void set(struct tcp_sock *tp, __u32 to)
        { tp->lost = to; }";
    for (declarations, body, function, sentence) in [
        (function, "set(&tp->lost, acked);", "set", "a store to lost"),
        (socket, "set(tp, acked);", "set", "a store to lost"),
        // Over the stack.
        (
            "",
            "void *volatile kept = &tp->lost; *(__u32 *)kept = 1;",
            "avoid",
            "a store to lost",
        ),
        // Under a condition, which also hides which of two it is.
        (
            "",
            "if (acked > 7) tp->lost = 3;",
            "avoid",
            "a store to lost",
        ),
        (
            "",
            "__u32 *at = acked > 7 ? &tp->snd_cwnd : &tp->lost; barrier_var(at); *at = 3;",
            "avoid",
            "a store to lost",
        ),
        // An address that went through memory is a number.
        (
            "",
            "struct tcp_sock *copy = 0; bpf_probe_read_kernel(&copy, 8, ctx); copy->snd_cwnd = 3;",
            "avoid",
            "a store through a number",
        ),
        (
            "",
            "void **own = inet_csk_ca(sk); own[0] = tp; barrier_var(own);
            ((struct tcp_sock *)own[0])->snd_cwnd = 3;",
            "avoid",
            "a store through a number",
        ),
        (
            "",
            "bpf_probe_read_kernel(&tp->snd_cwnd, 4, ctx);",
            "avoid",
            "that writes to the socket",
        ),
        (
            "",
            "ctx[1] = 1;",
            "avoid",
            "a store to the operation's arguments",
        ),
        (
            "const volatile __u32 fixed = 3;",
            "__u32 *at = (__u32 *)&fixed; barrier_var(at); *at = acked;",
            "avoid",
            "a store to constant data",
        ),
    ] {
        if refused(declarations, body, sentence, function).is_none() {
            return;
        }
    }
    for (declarations, body) in [
        (
            function,
            "set(&tp->snd_cwnd, acked); set(&tp->snd_ssthresh, 7);",
        ),
        (
            "",
            "__u32 here = tp->lost; __u32 *at = &here; barrier_var(at); *at = 3;",
        ),
        (
            "",
            "void *volatile kept = &tp->snd_cwnd; *(__u32 *)kept = 1;",
        ),
    ] {
        accepted(declarations, body);
    }
}

#[test]
fn a_branch_that_constants_exclude_may_hold_any_store() {
    let declarations = "extern int LINUX_KERNEL_VERSION __kconfig; const volatile __u32 on = 0;";
    for condition in [
        "LINUX_KERNEL_VERSION < KERNEL_VERSION(5, 0, 0)",
        "on",
        "bpf_core_field_exists(((struct tcp_sock___none *)tp)->nothing)",
    ] {
        let declarations =
            format!("struct tcp_sock___none {{ __u32 nothing; }} RELOCATED; {declarations}");
        let body = format!("if ({condition}) tp->lost = 1;");
        let Some(mut program) = accepted(&declarations, &body) else {
            return;
        };
        if condition == "on" {
            program.set_constant("on", 1).unwrap();
            let error = program.verify().unwrap_err().to_string();
            assert!(error.contains("a store to lost"), "{error}");
        }
    }
}

#[test]
fn the_run_refuses_what_could_not_be_decided() {
    // A loop longer than is followed.
    let body = "__u64 *own = inet_csk_ca(sk);
        _Pragma(\"clang loop unroll(disable)\")
        for (int i = 0; i < 5000; i++) { barrier_var(i); if (i == 4000) own += 13; }
        *own = 1;";
    let Some((_, _, done)) = run("", body) else {
        return;
    };
    let error = done.unwrap_err();
    assert!(error.contains("at byte 104 of icsk_ca_priv"), "{error}");
    assert!(
        error.contains("avoid, instruction") && error.contains("text.bpf.c:"),
        "{error}"
    );
}

#[test]
fn no_program_of_the_repository_is_refused() {
    let folder = compile::sources();
    let mut seen = 0;
    for folder in [folder.clone(), folder.join("examples")] {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            // The pattern of a queue's and of a link's programs is another kind of program.
            let text = std::fs::read_to_string(&path).unwrap_or_default();
            if !path.to_string_lossy().ends_with(".bpf.c") || !text.contains("struct_ops") {
                continue;
            }
            let Some(object) = compile::object(&path, &[]) else {
                return;
            };
            Program::load(&object, &Default::default())
                .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            seen += 1;
        }
    }
    assert!(seen >= 6, "{seen}");
}

#[test]
fn a_module_of_the_kernels_is_read_by_no_verifier() {
    let body = "__u64 *own = inet_csk_ca(sk); own[acked & 7] = 1;";
    let text = control("", body)
        .replace(
            "tcp_congestion_ops tiny",
            "tcp_congestion_ops airtcp_module",
        )
        .replace("\"tiny\"", "\"cubic\"");
    let Some(loaded) = load(&text) else {
        return;
    };
    assert_eq!(loaded.unwrap().name, "cubic");
    // It has no more of the socket than others.
    let error = load(&text.replace("own[acked & 7]", "tp->lost"))
        .unwrap()
        .unwrap_err();
    assert!(error.contains("a store to lost"), "{error}");
}
