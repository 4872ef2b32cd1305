/* TCP Veno as a congestion control of Linux, for kernels without the module tcp_veno.
 *
 * Fu & Liew, TCP Veno: TCP Enhancement for Transmission over Wireless Access Networks, JSAC 21(2),
 * 2003, §II: the backlog N = cwnd × (RTT − BaseRTT)/RTT tells random losses from congestion; the
 * window grows at every second acknowledgment while there is a backlog.
 */
#include "kernel.h"

char _license[] SEC("license") = "GPL";

/* A backlog of this many thousandths of a segment is congestion (§II.B: 3 segments). */
const volatile __u32 beta_thousandths = 3000;

struct veno {
	__u32 base_us;
	__u32 least_us;
	__u32 last_us;
	__u32 round_ends;
	__u32 skipped;
};

static inline struct veno *state(struct sock *sk)
{
	return (struct veno *)tcp_sk(sk)->inet_conn.icsk_ca_priv;
}

static inline int is_congested(struct sock *sk)
{
	struct veno *v = state(sk);
	__u64 queued;

	if (!v->last_us)
		return 0;
	queued = (__u64)tcp_sk(sk)->snd_cwnd * (v->last_us - v->base_us);
	return queued * 1000 >= (__u64)beta_thousandths * v->last_us;
}

SEC("struct_ops")
void BPF_PROG(veno_init, struct sock *sk)
{
	struct veno *v = state(sk);

	v->base_us = v->least_us = ~0U;
	v->last_us = v->skipped = 0;
	v->round_ends = tcp_sk(sk)->snd_nxt;
}

SEC("struct_ops")
void BPF_PROG(veno_pkts_acked, struct sock *sk, const struct ack_sample *sample)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct veno *v = state(sk);
	__u32 rtt;

	if (sample->rtt_us <= 0)
		return;
	rtt = sample->rtt_us;
	if (rtt < v->base_us)
		v->base_us = rtt;
	if (rtt < v->least_us)
		v->least_us = rtt;
	if ((__s32)(tp->snd_una - v->round_ends) > 0 || !v->last_us) {
		v->last_us = v->least_us;
		v->least_us = ~0U;
		v->round_ends = tp->snd_nxt;
	}
}

SEC("struct_ops")
void BPF_PROG(veno_cong_avoid, struct sock *sk, __u32 ack, __u32 acked)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct veno *v = state(sk);

	if (tp->snd_cwnd >= tp->snd_ssthresh && is_congested(sk)) {
		v->skipped = !v->skipped;
		if (v->skipped)
			return;
	}
	grow_as_reno(sk, acked);
}

SEC("struct_ops")
__u32 BPF_PROG(veno_ssthresh, struct sock *sk)
{
	__u32 cwnd = tcp_sk(sk)->snd_cwnd;

	return max32(is_congested(sk) ? cwnd >> 1 : cwnd * 4 / 5, 2);
}

SEC("struct_ops")
__u32 BPF_PROG(veno_undo_cwnd, struct sock *sk)
{
	return tcp_reno_undo_cwnd(sk);
}

SEC(".struct_ops.link")
struct tcp_congestion_ops veno = {
	.init = (void *)veno_init,
	.ssthresh = (void *)veno_ssthresh,
	.cong_avoid = (void *)veno_cong_avoid,
	.pkts_acked = (void *)veno_pkts_acked,
	.undo_cwnd = (void *)veno_undo_cwnd,
	.name = "veno",
	.flags = TCP_CONG_NON_RESTRICTED,
};
