/* The part of the kernel's headers that its congestion controls (net/ipv4/tcp_*.c) use, written for
 * BPF: the modules are compiled as they are in a kernel tree, and run in the interpreter. A module
 * is no BPF program for a kernel: it may write what a program may not.
 *
 * Members of the socket are found by CO-RE. Functions of the kernel that a BPF control may call are
 * the kernel's (__ksym); the others are written here, from their callers and RFC 5681, 6937, 7661.
 */
#ifndef AIRTCP_LINUX_NET_TCP_H
#define AIRTCP_LINUX_NET_TCP_H

typedef unsigned char __u8;
typedef signed char __s8;
typedef unsigned short __u16;
typedef short __s16;
typedef unsigned int __u32;
typedef int __s32;
typedef unsigned long long __u64;
typedef long long __s64;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u32 __wsum;
typedef __u8 u8;
typedef __s8 s8;
typedef __u16 u16;
typedef __s16 s16;
typedef __u32 u32;
typedef __s32 s32;
typedef __u64 u64;
typedef __s64 s64;
typedef _Bool bool;
typedef unsigned long size_t;

enum bpf_map_type { BPF_MAP_TYPE_UNSPEC };

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include <linux/kernel.h>

#define RELOCATED __attribute__((preserve_access_index))

/* States of set_state, and events of cwnd_event and in_ack_event */
enum tcp_ca_state { TCP_CA_Open, TCP_CA_Disorder, TCP_CA_CWR, TCP_CA_Recovery, TCP_CA_Loss };

#define TCPF_CA_Open (1 << TCP_CA_Open)
#define TCPF_CA_Disorder (1 << TCP_CA_Disorder)
#define TCPF_CA_CWR (1 << TCP_CA_CWR)
#define TCPF_CA_Recovery (1 << TCP_CA_Recovery)
#define TCPF_CA_Loss (1 << TCP_CA_Loss)

enum tcp_ca_event {
	CA_EVENT_TX_START,
	CA_EVENT_CWND_RESTART,
	CA_EVENT_COMPLETE_CWR,
	CA_EVENT_LOSS,
	CA_EVENT_ECN_NO_CE,
	CA_EVENT_ECN_IS_CE,
};

enum tcp_ca_ack_event_flags {
	CA_ACK_SLOWPATH = 1,
	CA_ACK_WIN_UPDATE = 2,
	CA_ACK_ECE = 4,
};

enum sk_pacing { SK_PACING_NONE, SK_PACING_NEEDED, SK_PACING_FQ };

#define TCP_CA_NAME_MAX 16
#define TCP_INFINITE_SSTHRESH 0x7fffffff
#define TCP_INIT_CWND 10
#define TCP_CONG_NON_RESTRICTED 1
#define TCP_CONG_NEEDS_ECN 2
#define TCP_ECN_OK 1
#define TCP_ECN_DEMAND_CWR 4
#define TCP_CLOSE 7
#define TCP_LISTEN 10
#define ICSK_ACK_TIMER 2
#define ICSK_ACK_NOW 16
#define ICSK_CA_PRIV_SIZE (13 * sizeof(u64))
#define MAX_TCP_HEADER 320
#define GSO_LEGACY_MAX_SIZE 65536u

struct module_congestion_ops;

struct sock {
	unsigned long sk_pacing_rate;
	unsigned long sk_max_pacing_rate;
	u32 sk_pacing_status;
	u8 sk_pacing_shift;
	u32 sk_gso_max_size;
	u8 sk_state;
} RELOCATED;

struct inet_sock {
	struct sock sk;
} RELOCATED;

struct inet_connection_sock {
	struct inet_sock icsk_inet;
	const struct module_congestion_ops *icsk_ca_ops;
	u8 icsk_ca_state : 5;
	struct {
		u8 pending;
	} icsk_ack;
	u64 icsk_ca_priv[13];
} RELOCATED;

#include <linux/win_minmax.h>

struct tcp_options_received {
	u32 rcv_tsval;
	u32 rcv_tsecr;
} RELOCATED;

struct tcp_sock {
	struct inet_connection_sock inet_conn;
	struct tcp_options_received rx_opt;
	u64 tcp_mstamp;
	u64 tcp_clock_cache;
	u64 tcp_wstamp_ns;
	u64 delivered_mstamp;
	u64 first_tx_mstamp;
	u64 bytes_acked;
	u32 snd_cwnd;
	u32 snd_cwnd_cnt;
	u32 snd_cwnd_stamp;
	u32 snd_ssthresh;
	u32 prior_cwnd;
	u32 packets_out;
	u32 sacked_out;
	u32 lost_out;
	u32 retrans_out;
	u32 lost;
	u32 delivered;
	u32 delivered_ce;
	u32 app_limited;
	u32 snd_una;
	u32 snd_nxt;
	u32 lsndtime;
	u32 mss_cache;
	u32 srtt_us;
	u32 max_packets_out;
	u8 is_cwnd_limited : 1;
	u8 ecn_flags;
	struct minmax rtt_min;
} RELOCATED;

/* A module may write the clamp, a BPF program may not: it has the place of a time that no control
 * uses and the program may write. The receiver's half of DCTCP is never called, its copy of rcv_nxt
 * never read.
 */
#define snd_cwnd_clamp snd_cwnd_stamp
#define rcv_nxt snd_nxt

struct ack_sample {
	u32 pkts_acked;
	s32 rtt_us;
	u32 in_flight;
} RELOCATED;

struct rate_sample {
	u64 prior_mstamp;
	u32 prior_delivered;
	u32 prior_delivered_ce;
	s32 delivered;
	s32 delivered_ce;
	long interval_us;
	u32 snd_interval_us;
	u32 rcv_interval_us;
	long rtt_us;
	int losses;
	u32 acked_sacked;
	u32 prior_in_flight;
	u32 last_end_seq;
	bool is_app_limited;
	bool is_retrans;
	bool is_ack_delayed;
} RELOCATED;

struct tcpvegas_info {
	u32 tcpv_enabled, tcpv_rttcnt, tcpv_rtt, tcpv_minrtt;
};

struct tcp_dctcp_info {
	u16 dctcp_enabled, dctcp_ce_state;
	u32 dctcp_alpha, dctcp_ab_ecn, dctcp_ab_tot;
};

struct tcp_bbr_info {
	u32 bbr_bw_lo, bbr_bw_hi, bbr_min_rtt, bbr_pacing_gain, bbr_cwnd_gain;
};

union tcp_cc_info {
	struct tcpvegas_info vegas;
	struct tcp_dctcp_info dctcp;
	struct tcp_bbr_info bbr;
};

enum { INET_DIAG_VEGASINFO = 3, INET_DIAG_DCTCPINFO = 9, INET_DIAG_BBRINFO = 16 };

/* Before Linux 6.10 cong_control has the sample alone. */
#ifdef AIRTCP_SAMPLE_ALONE
#define CONG_CONTROL void (*cong_control)(struct sock *sk, const struct rate_sample *rs)
#else
#define CONG_CONTROL \
	void (*cong_control)(struct sock *sk, u32 ack, int flag, const struct rate_sample *rs)
#endif

#define OPERATIONS                                                         \
	u32 (*ssthresh)(struct sock *sk);                                  \
	void (*cong_avoid)(struct sock *sk, u32 ack, u32 acked);           \
	void (*set_state)(struct sock *sk, u8 new_state);                  \
	void (*cwnd_event)(struct sock *sk, enum tcp_ca_event ev);         \
	void (*in_ack_event)(struct sock *sk, u32 flags);                  \
	void (*pkts_acked)(struct sock *sk, const struct ack_sample *sample); \
	u32 (*min_tso_segs)(struct sock *sk);                              \
	CONG_CONTROL;                                                      \
	u32 (*undo_cwnd)(struct sock *sk);                                 \
	u32 (*sndbuf_expand)(struct sock *sk);                             \
	size_t (*get_info)(struct sock *sk, u32 ext, int *attr, union tcp_cc_info *info); \
	void (*init)(struct sock *sk);                                     \
	void (*release)(struct sock *sk);                                  \
	char name[TCP_CA_NAME_MAX];                                        \
	void *owner;                                                       \
	u32 flags;

/* The module's table is none of a BPF program. */
struct module_congestion_ops {
	OPERATIONS
};

#define tcp_congestion_ops module_congestion_ops
#define tcp_register_congestion_control(operations) 0
#define tcp_unregister_congestion_control(operations) ((void)0)

extern u32 tcp_reno_ssthresh(struct sock *sk) __ksym;
extern void tcp_reno_cong_avoid(struct sock *sk, u32 ack, u32 acked) __ksym;
extern u32 tcp_reno_undo_cwnd(struct sock *sk) __ksym;
extern u32 tcp_slow_start(struct tcp_sock *tp, u32 acked) __ksym;
extern void tcp_cong_avoid_ai(struct tcp_sock *tp, u32 w, u32 acked) __ksym;
/* No BPF program may call it, and the interpreter refuses it where it is reached (tcp_cdg). */
extern void tcp_enter_cwr(struct sock *sk) __ksym;

static inline struct tcp_sock *tcp_sk(const struct sock *sk)
{
	return (struct tcp_sock *)sk;
}

static inline struct inet_connection_sock *inet_csk(const struct sock *sk)
{
	return (struct inet_connection_sock *)sk;
}

static inline void *inet_csk_ca(const struct sock *sk)
{
	return inet_csk(sk)->icsk_ca_priv;
}

static inline u32 tcp_snd_cwnd(const struct tcp_sock *tp)
{
	return tp->snd_cwnd;
}

static inline void tcp_snd_cwnd_set(struct tcp_sock *tp, u32 segments)
{
	tp->snd_cwnd = segments;
}

static inline bool tcp_in_slow_start(const struct tcp_sock *tp)
{
	return tp->snd_cwnd < tp->snd_ssthresh;
}

/* RFC 7661: a window that was not filled does not grow, but in slow start to twice its use. */
static inline bool tcp_is_cwnd_limited(const struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);

	if (BPF_CORE_READ_BITFIELD(tp, is_cwnd_limited))
		return 1;
	return tcp_in_slow_start(tp) && tp->snd_cwnd < 2 * tp->max_packets_out;
}

static inline u32 tcp_packets_in_flight(const struct tcp_sock *tp)
{
	return tp->packets_out - tp->sacked_out - tp->lost_out + tp->retrans_out;
}

/* The threshold that keeps three quarters of an unused window, but during a reduction. */
static inline u32 tcp_current_ssthresh(const struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	u8 state = inet_csk(sk)->icsk_ca_state;
	u32 kept = (tp->snd_cwnd >> 1) + (tp->snd_cwnd >> 2);

	if (state == TCP_CA_CWR || state == TCP_CA_Recovery || tp->snd_ssthresh > kept)
		return tp->snd_ssthresh;
	return kept;
}

static inline u32 tcp_min_rtt(const struct tcp_sock *tp)
{
	return tp->rtt_min.s[0].v;
}

static inline u32 tcp_stamp_us_delta(u64 later, u64 earlier)
{
	s64 delta = later - earlier;

	return delta > 0 ? delta : 0;
}

static inline bool before(u32 one, u32 other)
{
	return (s32)(one - other) < 0;
}

#define after(one, other) before(other, one)

static inline bool between(u32 middle, u32 low, u32 high)
{
	return high - low >= middle - low;
}

/* A timestamp's unit is a millisecond. */
#define TCP_TS_HZ 1000
#define tcp_time_stamp_ts(tp) ((u32)((tp)->tcp_mstamp / 1000))
#define tcp_time_stamp(tp) tcp_time_stamp_ts(tp)

/* The simulated path is one: protective load balancing (RFC draft) has no other. */
struct tcp_plb_state {
	u8 consec_cong_rounds;
	u32 pause_until;
};

#define TCP_PLB_SCALE 8
#define tcp_plb_init(sk, plb) ((void)(plb))
#define tcp_plb_update_state(sk, plb, ratio) ((void)(plb))
#define tcp_plb_check_rehash(sk, plb) ((void)(plb))
#define tcp_plb_update_state_upon_rto(sk, plb) ((void)(plb))

/* No program of another hook gives a round trip (tcp_nv); acknowledgments are the receiver's. */
#define BPF_SOCK_OPS_BASE_RTT 0
#define tcp_call_bpf(sk, operation, count, arguments) (-1)
#define __tcp_send_ack(sk, ...) ((void)(sk))
#define INET_ECN_dontxmit(sk) ((void)(sk))
#define NET_INC_STATS(...) ((void)0)
#define NET_ADD_STATS(...) ((void)0)

#endif
