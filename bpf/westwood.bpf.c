/* Westwood+ as a congestion control of Linux, for kernels without the module tcp_westwood.
 *
 * Grieco & Mascolo, Performance Evaluation and Comparison of Westwood+, New Reno, and Vegas TCP
 * Congestion Control, CCR 34(2), 2004: Reno until a loss is repaired; then the window is the one
 * that the measured bandwidth fills at the least round trip. One bandwidth sample a round trip,
 * filtered twice.
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
	__u32 una;
	/* Bytes counted for duplicates, to be subtracted once they are acknowledged. */
	__u32 accounted;
	/* Microseconds; 0 before the first sample. */
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

/* Segments that the bandwidth fills at the least round trip, at least two. */
static inline __u32 filled(struct sock *sk)
{
	struct westwood *w = state(sk);
	__u32 mss = tcp_sk(sk)->mss_cache;

	if (!mss)
		return 2;
	return max32(w->estimate * w->least_rtt_us / 1000000 / mss, 2);
}

/* Bytes that an acknowledgment stands for: a duplicate for a segment, which the acknowledgment of
 * that segment does not count again.
 */
static inline __u32 counted(struct sock *sk)
{
	struct westwood *w = state(sk);
	__u32 mss = tcp_sk(sk)->mss_cache, una = tcp_sk(sk)->snd_una;
	__u32 advanced = una - w->una;

	w->una = una;
	if (!advanced) {
		w->accounted += mss;
		return mss;
	}
	if (advanced <= mss)
		return advanced;
	if (w->accounted >= advanced) {
		w->accounted -= advanced;
		return mss;
	}
	advanced -= w->accounted;
	w->accounted = 0;
	return advanced;
}

SEC("struct_ops")
void BPF_PROG(westwood_init, struct sock *sk)
{
	struct westwood *w = state(sk);

	w->began_ns = bpf_ktime_get_ns();
	w->delivered = w->once = w->estimate = 0;
	w->una = tcp_sk(sk)->snd_una;
	w->accounted = w->least_rtt_us = w->last_rtt_us = 0;
}

SEC("struct_ops")
void BPF_PROG(westwood_pkts_acked, struct sock *sk, const struct ack_sample *sample)
{
	struct westwood *w = state(sk);
	__u64 now = bpf_ktime_get_ns();
	__u64 span = now - w->began_ns, shortest, rate;

	shortest = (__u64)w->last_rtt_us * 1000;
	if (shortest < MIN_SAMPLE_NS)
		shortest = MIN_SAMPLE_NS;
	if (w->last_rtt_us && span > shortest) {
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
	w->delivered += counted(sk);
	if (sample->rtt_us > 0)
		w->last_rtt_us = sample->rtt_us;
	if (!w->least_rtt_us || w->last_rtt_us < w->least_rtt_us)
		w->least_rtt_us = w->last_rtt_us;
}

SEC("struct_ops")
void BPF_PROG(westwood_cong_avoid, struct sock *sk, __u32 ack, __u32 acked)
{
	grow_as_reno(sk, acked);
}

SEC("struct_ops")
void BPF_PROG(westwood_cwnd_event, struct sock *sk, enum tcp_ca_event event)
{
	struct tcp_sock *tp = tcp_sk(sk);

	if (event == CA_EVENT_COMPLETE_CWR) {
		tp->snd_ssthresh = filled(sk);
		tp->snd_cwnd = tp->snd_ssthresh;
	} else if (event == CA_EVENT_LOSS) {
		tp->snd_ssthresh = filled(sk);
		/* The path may have changed: it is measured anew. */
		state(sk)->least_rtt_us = 0;
	}
}

SEC("struct_ops")
__u32 BPF_PROG(westwood_ssthresh, struct sock *sk)
{
	return max32(tcp_sk(sk)->snd_cwnd / 2, 2);
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
	.cwnd_event = (void *)westwood_cwnd_event,
	.pkts_acked = (void *)westwood_pkts_acked,
	.undo_cwnd = (void *)westwood_undo_cwnd,
	.name = "westwood",
	.flags = TCP_CONG_NON_RESTRICTED,
};
