// SPDX-License-Identifier: GPL-2.0
/* Reno, with the window steered by a learned policy once a monitor interval (policy.h).
 * Written by airtcp.gym.policy: change the weights there, not here.
 */
#define INPUTS 5
#define HIDDEN 6

static const short hidden_weights[HIDDEN][INPUTS] = {
	{ -98, 20, 65, -54, -4 },
	{ -65, 3, -8, -13, 33 },
	{ -87, 61, -31, 7, -81 },
	{ -27, -23, -38, -114, 15 },
	{ -51, -28, 8, -3, -125 },
	{ -120, 80, 75, 87, -34 }
};
static const short hidden_bias[HIDDEN] = { 5, 80, 83, -51, 0, -122 };
static const short output_weights[HIDDEN] = { -10, 4, 16, -37, 1, 44 };
static const short output_bias = -28;
/* 1024 times 2 to the power of -1 to 1, by eighths. */
static const unsigned short factors[17] = {
	512, 558, 609, 664, 724, 790, 861, 939, 1024,
	1117, 1218, 1328, 1448, 1579, 1722, 1878, 2048
};

#include "policy.h"

char _license[] SEC("license") = "GPL";

/* Intervals observed, and actions that widened or narrowed the window. */
__u64 intervals, widened, narrowed;

SEC("struct_ops")
void BPF_PROG(learned_init, struct sock *sk)
{
	begin_interval(sk, inet_csk_ca(sk));
}

SEC("struct_ops")
void BPF_PROG(learned_acked, struct sock *sk, const struct ack_sample *sample)
{
	struct interval *own = inet_csk_ca(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	__s32 inputs[INPUTS], action;
	__s32 rtt_us = sample->rtt_us;

	if (rtt_us > 0 && (!own->least_rtt_us || (__u32)rtt_us < own->least_rtt_us))
		own->least_rtt_us = rtt_us;
	if (tp->tcp_mstamp - own->started_us < max32(tp->srtt_us >> 3, LEAST_INTERVAL_US))
		return;
	observe(sk, own, inputs);
	action = decide(inputs);
	steer(sk, action);
	begin_interval(sk, own);
	__sync_fetch_and_add(&intervals, 1);
	if (action > 0)
		__sync_fetch_and_add(&widened, 1);
	if (action < 0)
		__sync_fetch_and_add(&narrowed, 1);
}

SEC("struct_ops")
void BPF_PROG(learned_cong_avoid, struct sock *sk, __u32 ack, __u32 acked)
{
	grow_as_reno(sk, acked);
}

SEC("struct_ops")
__u32 BPF_PROG(learned_ssthresh, struct sock *sk)
{
	return max32(tcp_sk(sk)->snd_cwnd >> 1, 2);
}

SEC("struct_ops")
__u32 BPF_PROG(learned_undo_cwnd, struct sock *sk)
{
	return tcp_reno_undo_cwnd(sk);
}

SEC(".struct_ops.link")
struct tcp_congestion_ops learned = {
	.init = (void *)learned_init,
	.pkts_acked = (void *)learned_acked,
	.cong_avoid = (void *)learned_cong_avoid,
	.ssthresh = (void *)learned_ssthresh,
	.undo_cwnd = (void *)learned_undo_cwnd,
	.name = "learned",
};
