/* A small neural network of integers that steers the window of Reno, once a monitor interval.
 *
 * python/airtcp/gym/policy.py has the same network, and writes the weights that this file is
 * included after: INPUTS, HIDDEN, hidden_weights, hidden_bias, output_weights, output_bias and
 * factors. All arithmetic is in integers; a right shift rounds down.
 */
#ifndef AIRTCP_POLICY_H
#define AIRTCP_POLICY_H

#include "kernel.h"

/* Weights are in 64ths; an input or a neuron of 256 is 1. */
#define WEIGHT_BITS 6
#define MAX_NEURON 4096
/* An action is in eighths, from -1 to 1: the window is multiplied by 2 to its power. */
#define MAX_ACTION 8
#define ACTION_BITS 5
/* The least interval, as of airtcp.gym, in microseconds. */
#define LEAST_INTERVAL_US 10000

static inline __s32 within(__s32 value, __s32 least, __s32 most)
{
	return value < least ? least : value > most ? most : value;
}

/* The action for an observation, in eighths. */
static inline __s32 decide(const __s32 *inputs)
{
	__s32 sum = 0;

#pragma unroll
	for (int neuron = 0; neuron < HIDDEN; neuron++) {
		__s32 value = 0;

#pragma unroll
		for (int input = 0; input < INPUTS; input++)
			value += hidden_weights[neuron][input] * inputs[input];
		value = (value >> WEIGHT_BITS) + hidden_bias[neuron];
		sum += output_weights[neuron] * within(value, 0, MAX_NEURON);
	}
	sum = (sum >> WEIGHT_BITS) + output_bias;
	return within((sum + (1 << (ACTION_BITS - 1))) >> ACTION_BITS, -MAX_ACTION, MAX_ACTION);
}

/* `part` in units of `whole` / 2^bits, at most 1023. */
static inline __s32 share(__u64 part, __u64 whole, int bits)
{
	__u64 value = (part << bits) / (whole ? whole : 1);

	return value > 1023 ? 1023 : value;
}

/* The state of an interval, in the socket's private bytes. */
struct interval {
	__u64 started_us;
	__u32 delivered;
	__u32 lost;
	__u32 srtt_us;
	__u32 least_rtt_us;
};

static inline void begin_interval(struct sock *sk, struct interval *own)
{
	struct tcp_sock *tp = tcp_sk(sk);

	own->started_us = tp->tcp_mstamp;
	own->delivered = tp->delivered;
	own->lost = tp->lost;
	own->srtt_us = tp->srtt_us >> 3;
	own->least_rtt_us = 0;
}

/* Observes an interval that has ended: the inputs of policy.py, in its order. */
static inline void observe(struct sock *sk, struct interval *own, __s32 *inputs)
{
	struct tcp_sock *tp = tcp_sk(sk);
	__u32 srtt = tp->srtt_us >> 3, least = tp->rtt_min.s[0].v;
	__u32 delivered = tp->delivered - own->delivered, lost = tp->lost - own->lost;
	__u32 trip = own->least_rtt_us ? own->least_rtt_us : srtt;
	__s32 change;

	change = srtt < own->srtt_us ? -share(own->srtt_us - srtt, least, 8)
				     : share(srtt - own->srtt_us, least, 8);
	inputs[0] = srtt > least ? share(srtt - least, least, 8) : 0;
	inputs[1] = within(change, -512, 511);
	inputs[2] = share(lost, (__u64)lost + delivered, 12);
	inputs[3] = share(delivered, tp->snd_cwnd, 8);
	inputs[4] = trip > least ? share(trip - least, least, 8) : 0;
}

/* Multiplies the window, or during a repair the window after it. */
static inline void steer(struct sock *sk, __s32 action)
{
	struct tcp_sock *tp = tcp_sk(sk);
	__u64 place = action + MAX_ACTION;
	__u32 factor;

	/* The compiler knows the bound; the kernel's verifier needs to see it. */
	barrier_var(place);
	if (place > 2 * MAX_ACTION)
		place = 2 * MAX_ACTION;
	factor = factors[place];
	if (BPF_CORE_READ_BITFIELD(&tp->inet_conn, icsk_ca_state) == TCP_CA_Recovery)
		tp->snd_ssthresh = max32((__u64)tp->snd_ssthresh * factor >> 10, 1);
	else
		tp->snd_cwnd = max32((__u64)tp->snd_cwnd * factor >> 10, 1);
}

#endif
