/* Runs the control of SOURCE, whose variable is OPS, through random events (argv[1]: how many), and
 * prints the socket after each call. The test in Rust makes the same events for the interpreter.
 */
#include <stdio.h>
#include <stdlib.h>
#include SOURCE

unsigned long long native_now_ns;
unsigned long CONFIG_HZ = 1000;
int LINUX_KERNEL_VERSION = KERNEL_VERSION(6, 12, 0);
static struct tcp_sock tp;
static __u64 native_state = 88172645463325252ULL;

static __u64 draw(__u64 below)
{
	native_state ^= native_state << 13;
	native_state ^= native_state >> 7;
	native_state ^= native_state << 17;
	return (native_state >> 11) % below;
}

__u32 tcp_slow_start(struct tcp_sock *t, __u32 acked)
{
	__u32 cwnd = t->snd_cwnd + acked < t->snd_ssthresh ? t->snd_cwnd + acked : t->snd_ssthresh;

	acked -= cwnd - t->snd_cwnd;
	t->snd_cwnd = cwnd;
	return acked;
}

void tcp_cong_avoid_ai(struct tcp_sock *t, __u32 w, __u32 acked)
{
	if (t->snd_cwnd_cnt >= w) {
		t->snd_cwnd_cnt = 0;
		t->snd_cwnd++;
	}
	t->snd_cwnd_cnt += acked;
	while (t->snd_cwnd_cnt >= w) {
		t->snd_cwnd_cnt -= w;
		t->snd_cwnd++;
	}
}

__u32 tcp_reno_undo_cwnd(struct sock *sk)
{
	return max32(tp.snd_cwnd, tp.prior_cwnd);
}

static void print(const char *operation, __u32 returned)
{
	const unsigned char *private = (const void *)tp.inet_conn.icsk_ca_priv;
	__u64 hash = 0xcbf29ce484222325ULL;
	struct sock *sk = (void *)&tp;

	for (unsigned int i = 0; i < sizeof(tp.inet_conn.icsk_ca_priv); i++)
		hash = (hash ^ private[i]) * 0x100000001b3ULL;
	printf("%s %u %u %u %u %lu %u %llu\n", operation, returned, tp.snd_cwnd, tp.snd_cwnd_cnt,
	       tp.snd_ssthresh, sk->sk_pacing_rate, sk->sk_pacing_status, hash);
}

#define CALL(operation, ...)                                  \
	do {                                                  \
		if (OPS.operation) {                          \
			OPS.operation(sk, ##__VA_ARGS__);     \
			print(#operation, 0);                 \
		}                                             \
	} while (0)

/* A program of libbpf's macro has named arguments; others get the array, as from the kernel. */
static void cong_control(struct sock *sk, const struct rate_sample *rate)
{
#ifdef ARGUMENTS
	__u64 arguments[] = { (__u64)sk, tp.snd_una, 0, (__u64)rate };

	((int (*)(__u64 *))OPS.cong_control)(arguments);
#else
	OPS.cong_control(sk, tp.snd_una, 0, rate);
#endif
	print("cong_control", 0);
}

int main(int argc, char **argv)
{
	long steps = atol(argv[argc - 1]);
	struct sock *sk = (void *)&tp;

	tp.snd_cwnd = 10;
	tp.snd_ssthresh = 0x7fffffff;
	tp.mss_cache = 1448;
	tp.snd_una = tp.snd_nxt = 0xfffff000;
	CALL(init);
	for (long step = 0; step < steps; step++) {
		struct ack_sample acked = { .pkts_acked = 1, .in_flight = tp.snd_cwnd };
		struct rate_sample rate = { .acked_sacked = 1 };
		__u32 segments = 1 + draw(3), returned;

		native_now_ns = (step + 1) * 1000000ULL;
		tp.tcp_mstamp = native_now_ns / 1000;
		tp.snd_una += 1448 * segments;
		tp.snd_nxt = tp.snd_una + 1448 * tp.snd_cwnd;
		tp.bytes_acked += 1448 * segments;
		tp.delivered += segments;
		tp.max_packets_out = tp.packets_out = tp.snd_cwnd;
		tp.is_cwnd_limited = draw(8) != 0;
		acked.rtt_us = draw(20) ? 20000 + (__s32)draw(1 + step % 60000) : -1;
		if (acked.rtt_us > 0) {
			tp.srtt_us = acked.rtt_us * 8;
			if (!tp.rtt_min.s[0].v || (__u32)acked.rtt_us < tp.rtt_min.s[0].v)
				for (int i = 0; i < 3; i++)
					tp.rtt_min.s[i].v = acked.rtt_us;
		}
		rate.delivered = draw(30) ? 1 + (__s32)draw(40) : -1;
		rate.interval_us = 1000 + draw(40000);
		rate.rtt_us = acked.rtt_us;
		rate.prior_delivered = tp.delivered - draw(50);
		rate.is_app_limited = !draw(10);
		CALL(pkts_acked, &acked);
		if (OPS.cong_control)
			cong_control(sk, &rate);
		CALL(cong_avoid, tp.snd_una, segments);
		switch (draw(700)) {
		case 0 ... 5:
			tp.lost_out = 1 + draw(6);
			tp.lost += tp.lost_out;
			tp.prior_cwnd = tp.snd_cwnd;
			returned = OPS.ssthresh(sk);
			print("ssthresh", returned);
			tp.snd_ssthresh = returned;
			CALL(set_state, TCP_CA_Recovery);
			tp.snd_cwnd = tp.snd_ssthresh;
			tp.snd_cwnd_cnt = 0;
			tp.lost_out = 0;
			break;
		case 6:
			tp.prior_cwnd = tp.snd_cwnd;
			returned = OPS.ssthresh(sk);
			print("ssthresh", returned);
			tp.snd_ssthresh = returned;
			CALL(cwnd_event, CA_EVENT_LOSS);
			CALL(set_state, TCP_CA_Loss);
			tp.snd_cwnd = 1;
			tp.snd_cwnd_cnt = 0;
			break;
		case 7:
			returned = OPS.undo_cwnd(sk);
			print("undo_cwnd", returned);
			tp.snd_cwnd = returned;
			break;
		}
	}
	return 0;
}
