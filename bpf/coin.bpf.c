/* A coin in place of a classifier, as a congestion control of Linux: what NewZag's milder reduction
 * reaches when nobody looks at the round trip. The control to which NewZag is compared.
 */
#include "kernel.h"

char _license[] SEC("license") = "GPL";

/* How often a loss is called the radio's, of 1000. */
const volatile __u32 radio_per_mille = 400;
/* What a radio's loss leaves of the window, in percent, as in newzag.bpf.c. */
const volatile __u32 radio_keeps_percent = 80;

SEC("struct_ops")
__u32 BPF_PROG(coin_ssthresh, struct sock *sk)
{
	__u32 cwnd = tcp_sk(sk)->snd_cwnd;

	if (bpf_get_prandom_u32() % 1000 < radio_per_mille)
		return max32(cwnd * radio_keeps_percent / 100, 2);
	return max32(cwnd >> 1, 2);
}

/* A timeout is congestion; tcp_enter_loss tells of it right after it has asked for a threshold. */
SEC("struct_ops")
void BPF_PROG(coin_cwnd_event, struct sock *sk, enum tcp_ca_event event)
{
	struct tcp_sock *tp = tcp_sk(sk);

	if (event == CA_EVENT_LOSS)
		tp->snd_ssthresh = max32(tp->snd_cwnd >> 1, 2);
}

SEC("struct_ops")
void BPF_PROG(coin_cong_avoid, struct sock *sk, __u32 ack, __u32 acked)
{
	grow_as_reno(sk, acked);
}

SEC("struct_ops")
__u32 BPF_PROG(coin_undo_cwnd, struct sock *sk)
{
	return tcp_reno_undo_cwnd(sk);
}

SEC(".struct_ops.link")
struct tcp_congestion_ops coin = {
	.ssthresh = (void *)coin_ssthresh,
	.cong_avoid = (void *)coin_cong_avoid,
	.cwnd_event = (void *)coin_cwnd_event,
	.undo_cwnd = (void *)coin_undo_cwnd,
	.name = "coin",
	.flags = TCP_CONG_NON_RESTRICTED,
};
