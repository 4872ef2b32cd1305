/* A paced model: sends at the largest delivery rate of the last ten seconds, with a window of
 * `gain` bandwidth-delay products. An example of cong_control, of the pacing rate, of storage for a
 * socket and of a map. It takes no loss for congestion, and yields to nobody: not for the Internet.
 */
#include "../kernel.h"

char _license[] SEC("license") = "GPL";

/* The window, in tenths of a bandwidth-delay product. */
const volatile __u32 gain_tenths = 20;
/* The pace after the start, in per cent of the rate, so that more bandwidth is noticed. */
const volatile __u32 probe_percent = 110;

extern int LINUX_KERNEL_VERSION __kconfig;

#define FIRST_PACE 2
#define MEMORY_NS 10000000000ULL

struct model {
	/* Bytes per second, and when it was measured. */
	__u64 rate;
	__u64 measured_at;
	/* Round trips in which the rate did not grow by a quarter: three end the start. */
	__u64 round_ends;
	__u64 full_rate;
	__u32 full_rounds;
};

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct model);
} models SEC(".maps");

enum count { SAMPLES, APP_LIMITED, RESTARTS, COUNTS };

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, COUNTS);
	__type(key, __u32);
	__type(value, __u64);
} counts SEC(".maps");

static void count(__u32 what)
{
	__u64 *counter = bpf_map_lookup_elem(&counts, &what);

	if (counter)
		__sync_fetch_and_add(counter, 1);
}

SEC("struct_ops")
void BPF_PROG(paced_init, struct sock *sk)
{
	bpf_sk_storage_get(&models, sk, 0, BPF_SK_STORAGE_GET_F_CREATE);
	sk->sk_pacing_status = SK_PACING_NEEDED;
}

static void measure(struct model *m, struct tcp_sock *tp, const struct rate_sample *rs)
{
	__u64 now = bpf_ktime_get_ns(), rate;

	if (rs->delivered <= 0 || rs->interval_us <= 0)
		return;
	count(SAMPLES);
	rate = (__u64)rs->delivered * tp->mss_cache * 1000000 / rs->interval_us;
	if (rs->is_app_limited) {
		count(APP_LIMITED);
		if (rate < m->rate)
			return;
	}
	if (rate >= m->rate || now - m->measured_at > MEMORY_NS) {
		m->rate = rate;
		m->measured_at = now;
	}
	if ((__s32)(rs->prior_delivered - (__u32)m->round_ends) < 0)
		return;
	m->round_ends = tp->delivered;
	if (m->rate >= m->full_rate + m->full_rate / 4) {
		m->full_rate = m->rate;
		m->full_rounds = 0;
	} else if (m->full_rounds < 3) {
		m->full_rounds++;
	}
}

/* The sample is the second argument before Linux 6.10, the fourth from then on. The version is a
 * constant for the verifier, which so sees the one branch alone; the barrier keeps two loads.
 */
static inline const struct rate_sample *sample_of(__u64 *arguments)
{
	__u64 sample;

	if (LINUX_KERNEL_VERSION < KERNEL_VERSION(6, 10, 0)) {
		sample = arguments[1];
		asm volatile("" : "+r"(sample));
	} else {
		sample = arguments[3];
	}
	return (const struct rate_sample *)sample;
}

SEC("struct_ops")
int paced_main(__u64 *arguments)
{
	struct sock *sk = (struct sock *)arguments[0];
	const struct rate_sample *rs = sample_of(arguments);
	struct tcp_sock *tp = tcp_sk(sk);
	struct model *m = bpf_sk_storage_get(&models, sk, 0, 0);
	__u64 rtt = tp->rtt_min.s[0].v, window;

	if (!m || !rtt || !tp->mss_cache)
		return 0;
	measure(m, tp, rs);
	if (!m->rate)
		return 0;
	window = m->rate * rtt / 1000000 * gain_tenths / 10 / tp->mss_cache;
	if (m->full_rounds < 3) {
		sk->sk_pacing_rate = m->rate * FIRST_PACE;
		window *= FIRST_PACE;
	} else {
		sk->sk_pacing_rate = m->rate * probe_percent / 100;
	}
	tp->snd_cwnd = max32(window, 10);
	return 0;
}

SEC("struct_ops")
__u32 BPF_PROG(paced_ssthresh, struct sock *sk)
{
	return tcp_sk(sk)->snd_ssthresh;
}

SEC("struct_ops")
void BPF_PROG(paced_event, struct sock *sk, enum tcp_ca_event event)
{
	if (event == CA_EVENT_TX_START)
		count(RESTARTS);
}

SEC("struct_ops")
__u32 BPF_PROG(paced_undo_cwnd, struct sock *sk)
{
	return tcp_sk(sk)->snd_cwnd;
}

SEC(".struct_ops.link")
struct tcp_congestion_ops paced = {
	.init = (void *)paced_init,
	.ssthresh = (void *)paced_ssthresh,
	.cong_control = (void *)paced_main,
	.cwnd_event = (void *)paced_event,
	.undo_cwnd = (void *)paced_undo_cwnd,
	.name = "example_paced",
};
