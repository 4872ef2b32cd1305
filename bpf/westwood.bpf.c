/* Westwood+ as a congestion control of Linux, for kernels without the module tcp_westwood.
 *
 * Grieco & Mascolo, Performance Evaluation and Comparison of Westwood+, New Reno, and Vegas TCP
 * Congestion Control, CCR 34(2), 2004: a loss leaves the window that the measured bandwidth fills
 * at the least round trip. One bandwidth sample a round trip, filtered twice.
 */
#include "kernel.h"

char _license[] SEC("license") = "GPL";

/* A sample spans at least this. */
#define MIN_SAMPLE_NS 50000000ULL

struct westwood {
	__u64 began_ns;
	__u64 delivered;
	/* Bytes a second, filtered once and twice; 0 before the first sample. */
	__u64 once;
	__u64 estimate;
	__u32 least_rtt_us;
	__u32 last_rtt_us;
};

static inline struct westwood *state(struct sock *sk)
{
	return (struct westwood *)tcp_sk(sk)->inet_conn.icsk_ca_priv;
}

/* A low-pass filter with gain 1/8. */
static inline __u64 filtered(__u64 before, __u64 sample)
{
	return before - before / 8 + sample / 8;
}

static inline __u32 threshold(struct sock *sk)
{
	struct westwood *w = state(sk);
	__u32 mss = tcp_sk(sk)->mss_cache;
	__u64 bytes = w->estimate * w->least_rtt_us / 1000000;

	if (!mss || w->least_rtt_us == ~0U)
		return 2;
	return max32(bytes / mss, 2);
}

SEC("struct_ops")
void BPF_PROG(westwood_init, struct sock *sk)
{
	struct westwood *w = state(sk);

	w->began_ns = w->delivered = w->once = w->estimate = 0;
	w->least_rtt_us = ~0U;
	w->last_rtt_us = 0;
}

SEC("struct_ops")
void BPF_PROG(westwood_pkts_acked, struct sock *sk, const struct ack_sample *sample)
{
	struct westwood *w = state(sk);
	__u64 now = bpf_ktime_get_ns();
	__u64 span, shortest, rate;

	if (sample->rtt_us > 0) {
		w->last_rtt_us = sample->rtt_us;
		if (w->last_rtt_us < w->least_rtt_us)
			w->least_rtt_us = w->last_rtt_us;
	}
	if (!w->began_ns)
		w->began_ns = now;
	w->delivered += (__u64)sample->pkts_acked * tcp_sk(sk)->mss_cache;
	span = now - w->began_ns;
	shortest = (__u64)w->last_rtt_us * 1000;
	if (shortest < MIN_SAMPLE_NS)
		shortest = MIN_SAMPLE_NS;
	if (span <= shortest)
		return;
	rate = w->delivered * 1000000 / (span / 1000);
	if (!w->once) {
		/* The first sample stands for all before it. */
		w->once = w->estimate = rate;
	} else {
		w->once = filtered(w->once, rate);
		w->estimate = filtered(w->estimate, w->once);
	}
	w->began_ns = now;
	w->delivered = 0;
}

SEC("struct_ops")
void BPF_PROG(westwood_cong_avoid, struct sock *sk, __u32 ack, __u32 acked)
{
	grow_as_reno(sk, acked);
}

SEC("struct_ops")
__u32 BPF_PROG(westwood_ssthresh, struct sock *sk)
{
	return threshold(sk);
}

SEC("struct_ops")
__u32 BPF_PROG(westwood_undo_cwnd, struct sock *sk)
{
	return tcp_reno_undo_cwnd(sk);
}

SEC(".struct_ops.link")
struct tcp_congestion_ops westwood = {
	.init = (void *)westwood_init,
	.ssthresh = (void *)westwood_ssthresh,
	.cong_avoid = (void *)westwood_cong_avoid,
	.pkts_acked = (void *)westwood_pkts_acked,
	.undo_cwnd = (void *)westwood_undo_cwnd,
	.name = "westwood",
	.flags = TCP_CONG_NON_RESTRICTED,
};
