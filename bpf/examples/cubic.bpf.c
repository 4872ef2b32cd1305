/* CUBIC (RFC 9438) without HyStart, in integers as kernels need them: an example of a control with
 * the kernel's configuration, jiffies, a subprogram and counters.
 */
#include "../kernel.h"

char _license[] SEC("license") = "GPL";

/* The window after a loss, in thousandths (RFC 9438 §4.6: 0.7). */
const volatile __u32 beta_thousandths = 700;
/* C in segments per second³, in thousandths (RFC 9438 §5.1: 0.4). */
const volatile __u32 c_thousandths = 400;
/* Whether a loss below the last one's window frees more of it (RFC 9438 §4.7). */
const volatile __u8 fast_convergence = 1;

/* Losses and timeouts of all sockets. */
__u64 losses;
__u64 timeouts;

struct cubic {
	__u32 w_max;
	/* Start of the current growth in jiffies; 0 after a loss. */
	__u32 epoch;
	/* Where the plateau is, and how long after the epoch, in milliseconds. */
	__u32 origin;
	__u32 k_ms;
	/* Reno's window at the same time (RFC 9438 §4.3), and what is acknowledged towards it. */
	__u32 reno;
	__u32 reno_acked;
	__u32 min_rtt_us;
};

/* The cube root by binary search, rounded down: 21 bits are enough for 63. */
static __attribute__((noinline)) __u32 cube_root(__u64 of)
{
	__u32 root = 0;

	for (int bit = 20; bit >= 0; bit--) {
		__u64 more = root | 1U << bit;

		if (more * more * more <= of)
			root = more;
	}
	return root;
}

/* Segments per segment acknowledged: the window grows by one for each `count`. */
static __u32 growth(struct cubic *c, __u32 cwnd, __u32 acked)
{
	__u32 now = tcp_jiffies32;
	__u64 t_ms, distance, step, target, count;

	if (!c->epoch) {
		__u64 below = c->w_max > cwnd ? c->w_max - cwnd : 0;

		c->epoch = now ? now : 1;
		c->origin = below ? c->w_max : cwnd;
		/* K = cbrt(below / C) in s; in ms a factor of 1000 under the root is 10^9. */
		c->k_ms = cube_root(below * 1000000000ULL * 1000 / c_thousandths);
		c->reno = cwnd;
		c->reno_acked = 0;
	}
	/* The window of one round trip ahead (RFC 9438 §4.2). */
	t_ms = (__u64)(now - c->epoch) * 1000 / CONFIG_HZ + c->min_rtt_us / 1000;
	distance = t_ms > c->k_ms ? t_ms - c->k_ms : c->k_ms - t_ms;
	if (distance > 60000)
		distance = 60000;
	/* C · distance³, from ms³ and thousandths. */
	step = distance * distance * distance / 1000 * c_thousandths / 1000000000ULL;
	if (t_ms > c->k_ms)
		target = c->origin + step;
	else
		target = c->origin > step ? c->origin - step : 0;
	/* RFC 9438 §4.2: at most half a window more per round trip. */
	if (target > cwnd + cwnd / 2)
		target = cwnd + cwnd / 2;
	count = target > cwnd ? cwnd / (target - cwnd) : 100ULL * cwnd;

	/* Reno-friendly (RFC 9438 §4.3): alpha = 3 (1 - beta) / (1 + beta) segments per window. */
	c->reno_acked += acked;
	step = (__u64)cwnd * (1000 + beta_thousandths) / (3 * (1000 - beta_thousandths));
	if (step && c->reno_acked >= step) {
		c->reno += c->reno_acked / step;
		c->reno_acked %= step;
	}
	if (c->reno > cwnd && count > cwnd / (c->reno - cwnd))
		count = cwnd / (c->reno - cwnd);
	return count > 2 ? count : 2;
}

SEC("struct_ops")
void BPF_PROG(cubic_init, struct sock *sk)
{
	struct cubic *c = inet_csk_ca(sk);

	c->w_max = c->epoch = c->origin = c->k_ms = c->reno = c->reno_acked = c->min_rtt_us = 0;
}

SEC("struct_ops")
void BPF_PROG(cubic_pkts_acked, struct sock *sk, const struct ack_sample *sample)
{
	struct cubic *c = inet_csk_ca(sk);

	if (sample->rtt_us > 0 && (!c->min_rtt_us || sample->rtt_us < c->min_rtt_us))
		c->min_rtt_us = sample->rtt_us;
}

SEC("struct_ops")
void BPF_PROG(cubic_cong_avoid, struct sock *sk, __u32 ack, __u32 acked)
{
	struct tcp_sock *tp = tcp_sk(sk);

	if (!is_limited_by_window(tp))
		return;
	if (tp->snd_cwnd < tp->snd_ssthresh) {
		acked = tcp_slow_start(tp, acked);
		if (!acked)
			return;
	}
	tcp_cong_avoid_ai(tp, growth(inet_csk_ca(sk), tp->snd_cwnd, acked), acked);
}

SEC("struct_ops")
__u32 BPF_PROG(cubic_ssthresh, struct sock *sk)
{
	__u32 cwnd = tcp_sk(sk)->snd_cwnd;
	struct cubic *c = inet_csk_ca(sk);

	c->epoch = 0;
	if (fast_convergence && cwnd < c->w_max)
		c->w_max = (__u64)cwnd * (1000 + beta_thousandths) / 2000;
	else
		c->w_max = cwnd;
	__sync_fetch_and_add(&losses, 1);
	return max32((__u64)cwnd * beta_thousandths / 1000, 2);
}

SEC("struct_ops")
void BPF_PROG(cubic_set_state, struct sock *sk, __u8 state)
{
	struct cubic *c = inet_csk_ca(sk);

	if (state != TCP_CA_Loss)
		return;
	c->epoch = 0;
	__sync_fetch_and_add(&timeouts, 1);
}

SEC("struct_ops")
__u32 BPF_PROG(cubic_undo_cwnd, struct sock *sk)
{
	return tcp_reno_undo_cwnd(sk);
}

SEC(".struct_ops.link")
struct tcp_congestion_ops cubic = {
	.init = (void *)cubic_init,
	.ssthresh = (void *)cubic_ssthresh,
	.cong_avoid = (void *)cubic_cong_avoid,
	.set_state = (void *)cubic_set_state,
	.pkts_acked = (void *)cubic_pkts_acked,
	.undo_cwnd = (void *)cubic_undo_cwnd,
	.name = "example_cubic",
};
