/* The kernel's types and functions that a congestion control uses, and those that each of ours
 * needs. Neither a dump of the kernel's types nor its headers are needed.
 */
#ifndef AIRTCP_KERNEL_H
#define AIRTCP_KERNEL_H

#include "include/vmlinux.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

/* Of a structure that a program declares with members of its own choice, as struct tcp_sock___x. */
#define RELOCATED __attribute__((preserve_access_index))

/* include/net/tcp.h */
#define TCP_CONG_NON_RESTRICTED 1
#define TCP_CA_NAME_MAX 16

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
