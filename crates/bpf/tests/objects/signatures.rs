//! The arguments of `cong_control`: `(sk, rs)` before Linux 6.10, `(sk, ack, flag, rs)` since.

use airtcp_bpf::{CongControlArguments, Options, Program};

use crate::compile;
use crate::reading::{control, kernel_types, load};

const OLD: &str = "const struct rate_sample *rs";
const NEW: &str = "u32 ack, int flag, const struct rate_sample *rs";

/// A control with this member in its types, and a function with these arguments.
fn paced(member: &str, arguments: &str, body: &str) -> String {
    let types = kernel_types().replace(
        &format!("struct sock *sk, {NEW}"),
        &format!("struct sock *sk, {member}"),
    );
    let function = format!(
        "SEC(\"struct_ops\") void BPF_PROG(paced, struct sock *sk, {arguments})
        {{ struct tcp_sock *tp = tcp_sk(sk); {body} }}"
    );
    control(&function, "")
        .replace("#include \"kernel.h\"", &types)
        .replace(".cong_avoid", ".cong_control = (void *)paced, .cong_avoid")
}

#[test]
fn the_use_of_its_arguments_tells_which_cong_control_has() {
    let reads = "tp->snd_cwnd = rs->delivered;";
    for member in [OLD, NEW] {
        for (arguments, expected) in [
            (OLD, CongControlArguments::Sample),
            (NEW, CongControlArguments::AckFlagSample),
        ] {
            let Some(loaded) = load(&paced(member, arguments, reads)) else {
                return;
            };
            let program = loaded.unwrap();
            assert_eq!(program.cong_control, expected, "{member}; {arguments}");
        }
        // Nothing is read: the member's types tell.
        let program = load(&paced(member, NEW, "tp->snd_cwnd = 9;"))
            .unwrap()
            .unwrap();
        let is_new = program.cong_control == CongControlArguments::AckFlagSample;
        assert_eq!(is_new, member == NEW);
    }
    let both = "tp->snd_cwnd = ((struct rate_sample *)(long)ctx[1])->delivered + flag;";
    let error = load(&paced(NEW, NEW, both)).unwrap().unwrap_err();
    assert!(
        error.contains("cong_control takes its second argument"),
        "{error}"
    );
    assert!(error.contains("verifier refuses it"), "{error}");
}

#[test]
fn a_program_for_both_takes_those_of_its_kernel() {
    let source = compile::sources().join("examples/paced.bpf.c");
    let Some(object) = compile::object(&source, &[]) else {
        return;
    };
    for (kernel, expected) in [
        ((6, 1), CongControlArguments::Sample),
        ((6, 12), CongControlArguments::AckFlagSample),
    ] {
        let options = Options {
            kernel,
            ..Options::default()
        };
        let program = Program::load(&object, &options).unwrap();
        assert_eq!(program.cong_control, expected);
    }
}

#[test]
fn an_argument_too_many_is_refused() {
    let body = "__u64 more = ctx[3]; barrier_var(more); tp->snd_cwnd = more;";
    let Some(loaded) = load(&control("", body)) else {
        return;
    };
    let error = loaded.unwrap_err();
    assert!(
        error.contains("argument 4 of cong_avoid, which has 3"),
        "{error}"
    );
}
