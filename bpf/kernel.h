/* The kernel's types that the congestion controls touch, with the members that they use alone.
 * The loader finds each member's place in the running kernel by its BTF (CO-RE), so that neither a
 * dump of the kernel's types nor its headers are needed.
 */
#ifndef AIRTCP_KERNEL_H
#define AIRTCP_KERNEL_H

typedef unsigned char __u8;
typedef unsigned short __u16;
typedef unsigned int __u32;
typedef int __s32;
typedef unsigned long long __u64;
typedef long long __s64;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u32 __wsum;

/* include/uapi/linux/bpf.h */
enum bpf_map_type {
	BPF_MAP_TYPE_HASH = 1,
	BPF_MAP_TYPE_ARRAY = 2,
	BPF_MAP_TYPE_SK_STORAGE = 24,
};

#define BPF_F_NO_PREALLOC 1
#define BPF_SK_STORAGE_GET_F_CREATE 1

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#define RELOCATED __attribute__((preserve_access_index))

/* include/net/tcp.h: events of cwnd_event */
enum tcp_ca_event {
	CA_EVENT_TX_START,
	CA_EVENT_CWND_RESTART,
	CA_EVENT_COMPLETE_CWR,
	CA_EVENT_LOSS,
};

#define TCP_CONG_NON_RESTRICTED 1
#define TCP_CA_NAME_MAX 16

/* include/net/tcp.h: states of set_state */
enum tcp_ca_state {
	TCP_CA_Open,
	TCP_CA_Disorder,
	TCP_CA_CWR,
	TCP_CA_Recovery,
	TCP_CA_Loss,
};

/* include/net/sock.h: without it the pacing rate alone changes nothing */
#define SK_PACING_NEEDED 1

struct sock {
	unsigned long sk_pacing_rate;
	__u32 sk_pacing_status;
} RELOCATED;

struct inet_sock {
	struct sock sk;
} RELOCATED;

struct inet_connection_sock {
	struct inet_sock icsk_inet;
	__u8 icsk_ca_state : 5;
	__u64 icsk_ca_priv[13];
} RELOCATED;

struct minmax_sample {
	__u32 t;
	__u32 v;
} RELOCATED;

struct minmax {
	struct minmax_sample s[3];
} RELOCATED;

struct tcp_sock {
	struct inet_connection_sock inet_conn;
	__u32 snd_cwnd;
	__u32 snd_cwnd_cnt;
	__u32 snd_ssthresh;
	__u32 prior_cwnd;
	__u32 packets_out;
	__u32 lost_out;
	/* Every segment ever presumed lost. */
	__u32 lost;
	__u32 sacked_out;
	__u32 snd_una;
	__u32 snd_nxt;
	__u32 mss_cache;
	__u64 bytes_acked;
	__u32 max_packets_out;
	__u8 is_cwnd_limited : 1;
	__u32 srtt_us;
	struct minmax rtt_min;
	__u32 delivered;
	__u64 tcp_mstamp;
} RELOCATED;

struct ack_sample {
	__u32 pkts_acked;
	__s32 rtt_us;
	__u32 in_flight;
} RELOCATED;

struct rate_sample {
	__u64 prior_mstamp;
	__u32 prior_delivered;
	__s32 delivered;
	long interval_us;
	long rtt_us;
	int losses;
	__u32 acked_sacked;
	__u32 prior_in_flight;
	unsigned char is_app_limited;
} RELOCATED;

struct tcp_congestion_ops {
	__u32 (*ssthresh)(struct sock *sk);
	void (*cong_avoid)(struct sock *sk, __u32 ack, __u32 acked);
	void (*set_state)(struct sock *sk, __u8 new_state);
	void (*cwnd_event)(struct sock *sk, enum tcp_ca_event ev);
	void (*in_ack_event)(struct sock *sk, __u32 flags);
	void (*pkts_acked)(struct sock *sk, const struct ack_sample *sample);
	__u32 (*min_tso_segs)(struct sock *sk);
	/* Before Linux 6.10: (sk, rs). */
	void (*cong_control)(struct sock *sk, __u32 ack, int flag, const struct rate_sample *rs);
	__u32 (*undo_cwnd)(struct sock *sk);
	void (*init)(struct sock *sk);
	void (*release)(struct sock *sk);
	char name[TCP_CA_NAME_MAX];
	__u32 flags;
} RELOCATED;

extern unsigned long CONFIG_HZ __kconfig;
extern __u32 tcp_reno_undo_cwnd(struct sock *sk) __ksym;
extern __u32 tcp_slow_start(struct tcp_sock *tp, __u32 acked) __ksym;
extern void tcp_cong_avoid_ai(struct tcp_sock *tp, __u32 w, __u32 acked) __ksym;

static inline struct tcp_sock *tcp_sk(const struct sock *sk)
{
	return (struct tcp_sock *)sk;
}

/* The 104 bytes that a control has for a socket. */
static inline void *inet_csk_ca(const struct sock *sk)
{
	return tcp_sk(sk)->inet_conn.icsk_ca_priv;
}

/* Now, in jiffies. */
#define tcp_jiffies32 ((__u32)bpf_jiffies64())

static inline __u32 max32(__u32 a, __u32 b)
{
	return a > b ? a : b;
}

/* A window that was not filled does not grow (RFC 7661), but in slow start to twice what was in
 * flight (tcp_is_cwnd_limited). A bit has no fixed place in the kernel's structures, and only this
 * macro finds it.
 */
static inline int is_limited_by_window(struct tcp_sock *tp)
{
	if (BPF_CORE_READ_BITFIELD(tp, is_cwnd_limited))
		return 1;
	return tp->snd_cwnd < tp->snd_ssthresh && tp->snd_cwnd < 2 * tp->max_packets_out;
}

/* RFC 5681 §3.1: slow start below ssthresh, then a segment a round trip. */
static inline void grow_as_reno(struct sock *sk, __u32 acked)
{
	struct tcp_sock *tp = tcp_sk(sk);

	if (!is_limited_by_window(tp))
		return;
	if (tp->snd_cwnd < tp->snd_ssthresh) {
		acked = tcp_slow_start(tp, acked);
		if (!acked)
			return;
	}
	tcp_cong_avoid_ai(tp, tp->snd_cwnd, acked);
}

#endif
