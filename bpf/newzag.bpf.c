/* NewZag as a congestion control of Linux: Reno's growth, and a reduction to four fifths where the
 * classifier takes a loss for the radio's.
 *
 * Lien, Reeve & Lee, Improving TCP Performance Over Wireless Networks, §III. `newzag` is the
 * paper's own classifier, `newzag_adj` the adjusted one of §V.
 */
#include "kernel.h"
#include "zigzag.h"

char _license[] SEC("license") = "GPL";

/* What a radio's loss leaves of the window, in percent (§III.B: a fifth is taken). */
const volatile __u32 radio_keeps_percent = 80;

#define COUNTED_LOSSES 5
/* Losses by their number n (1, 2, 3, 4 and more; 0 is timeouts) and verdict. */
struct {
	__u64 radio;
	__u64 congestion;
} verdicts[COUNTED_LOSSES];

static inline struct zigzag *state(struct sock *sk)
{
	return (struct zigzag *)tcp_sk(sk)->inet_conn.icsk_ca_priv;
}

static inline void count(__u32 lost, int radio)
{
	__u32 row = lost > 4 ? 4 : lost;

	if (radio)
		__sync_fetch_and_add(&verdicts[row].radio, 1);
	else
		__sync_fetch_and_add(&verdicts[row].congestion, 1);
}

/* tcp_enter_recovery asks after RACK has marked what is lost, so lost_out is the paper's n. */
static inline __u32 threshold(struct sock *sk, int adjusted)
{
	struct tcp_sock *tp = tcp_sk(sk);
	__u32 lost = tp->lost_out ? tp->lost_out : 1;
	int radio = zigzag_is_radio(state(sk), adjusted, lost);

	count(lost, radio);
	if (radio)
		return max32(tp->snd_cwnd * radio_keeps_percent / 100, 2);
	return max32(tp->snd_cwnd >> 1, 2);
}

SEC("struct_ops")
void BPF_PROG(newzag_init, struct sock *sk)
{
	struct zigzag *z = state(sk);

	z->latest = z->mean = z->deviation = 0;
}

SEC("struct_ops")
void BPF_PROG(newzag_pkts_acked, struct sock *sk, const struct ack_sample *sample)
{
	if (sample->rtt_us > 0)
		zigzag_sample(state(sk), sample->rtt_us);
}

SEC("struct_ops")
__u32 BPF_PROG(newzag_ssthresh, struct sock *sk)
{
	return threshold(sk, 0);
}

SEC("struct_ops")
__u32 BPF_PROG(newzag_adjusted_ssthresh, struct sock *sk)
{
	return threshold(sk, 1);
}

/* A timeout is congestion whatever the classifier says. tcp_enter_loss has just asked it and tells
 * of the loss at once, so the answer is put right here.
 */
SEC("struct_ops")
void BPF_PROG(newzag_cwnd_event, struct sock *sk, enum tcp_ca_event event)
{
	struct tcp_sock *tp = tcp_sk(sk);

	if (event != CA_EVENT_LOSS)
		return;
	tp->snd_ssthresh = max32(tp->snd_cwnd >> 1, 2);
	count(0, 0);
}

SEC("struct_ops")
void BPF_PROG(newzag_cong_avoid, struct sock *sk, __u32 ack, __u32 acked)
{
	grow_as_reno(sk, acked);
}

SEC("struct_ops")
__u32 BPF_PROG(newzag_undo_cwnd, struct sock *sk)
{
	return tcp_reno_undo_cwnd(sk);
}

SEC(".struct_ops.link")
struct tcp_congestion_ops newzag = {
	.init = (void *)newzag_init,
	.ssthresh = (void *)newzag_ssthresh,
	.cong_avoid = (void *)newzag_cong_avoid,
	.pkts_acked = (void *)newzag_pkts_acked,
	.cwnd_event = (void *)newzag_cwnd_event,
	.undo_cwnd = (void *)newzag_undo_cwnd,
	.name = "newzag",
	.flags = TCP_CONG_NON_RESTRICTED,
};

SEC(".struct_ops.link")
struct tcp_congestion_ops newzag_adjusted = {
	.init = (void *)newzag_init,
	.ssthresh = (void *)newzag_adjusted_ssthresh,
	.cong_avoid = (void *)newzag_cong_avoid,
	.pkts_acked = (void *)newzag_pkts_acked,
	.cwnd_event = (void *)newzag_cwnd_event,
	.undo_cwnd = (void *)newzag_undo_cwnd,
	.name = "newzag_adj",
	.flags = TCP_CONG_NON_RESTRICTED,
};
