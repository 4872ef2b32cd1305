/* NewZag as a congestion control of Linux: Reno's growth, and a reduction to four fifths where the
 * classifier takes a loss for the radio's.
 *
 * Lien, Reeve & Lee, Improving TCP Performance Over Wireless Networks, §II.
 */
#include "kernel.h"
#include "zigzag.h"

char _license[] SEC("license") = "GPL";

/* 1 for the adjusted classifier of §III-B. */
const volatile __u32 adjusted = 0;
/* What a radio's loss leaves of the window, in percent (§II-B: a fifth is taken). */
const volatile __u32 radio_keeps_percent = 80;

/* Rows of counted losses: five are used. A power of two, so that a mask bounds the row for the
 * verifiers of kernels that forget a bound when they store it (Linux 6.1).
 */
#define ROWS 8
/* Losses by their number n (1, 2, 3, 4 and more; 0 is timeouts) and verdict. */
struct {
	__u64 radio;
	__u64 congestion;
} verdicts[ROWS];

struct newzag {
	struct zigzag round_trips;
	/* The last verdict, to be taken back where it turns out to be a timeout's or a full queue's. */
	__u32 lost;
	__u32 radio;
	/* What tcp_sock.lost reaches then, and what congestion leaves of the window. */
	__u32 lost_until;
	__u32 halved;
};

static inline struct newzag *state(struct sock *sk)
{
	return (struct newzag *)tcp_sk(sk)->inet_conn.icsk_ca_priv;
}

static inline void count(__u32 lost, int radio, __s64 by)
{
	__u32 row = lost > 4 ? 4 : lost;

	barrier_var(row);
	row &= ROWS - 1;
	if (radio)
		__sync_fetch_and_add(&verdicts[row].radio, by);
	else
		__sync_fetch_and_add(&verdicts[row].congestion, by);
}

/* tcp_enter_recovery asks after RACK has marked what is lost, so lost_out is the paper's n. */
SEC("struct_ops")
__u32 BPF_PROG(newzag_ssthresh, struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);
	__u32 lost = tp->lost_out ? tp->lost_out : 1;
	struct newzag *newzag = state(sk);
	__u32 most = zigzag_most_for_radio(tp->snd_cwnd);
	int radio = lost <= most && zigzag_is_radio(&newzag->round_trips, adjusted, lost);

	newzag->lost = lost;
	newzag->radio = radio;
	newzag->lost_until = tp->lost - tp->lost_out + most;
	newzag->halved = max32(tp->snd_cwnd >> 1, 2);
	count(lost, radio, 1);
	if (radio)
		return max32(tp->snd_cwnd * radio_keeps_percent / 100, 2);
	return newzag->halved;
}

SEC("struct_ops")
void BPF_PROG(newzag_init, struct sock *sk)
{
	struct newzag *newzag = state(sk);

	newzag->round_trips.latest = newzag->round_trips.mean = newzag->round_trips.deviation = 0;
	newzag->lost = newzag->radio = 0;
	newzag->lost_until = newzag->halved = 0;
}

SEC("struct_ops")
void BPF_PROG(newzag_pkts_acked, struct sock *sk, const struct ack_sample *sample)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct newzag *newzag = state(sk);

	if (sample->rtt_us > 0)
		zigzag_sample(&newzag->round_trips, sample->rtt_us);
	/* Still in the repair that the verdict began, whose threshold is below the window of then. */
	if (newzag->radio && (__s32)(tp->lost - newzag->lost_until) > 0) {
		newzag->radio = 0;
		count(newzag->lost, 1, -1);
		count(newzag->lost, 0, 1);
		if (tp->snd_ssthresh > newzag->halved)
			tp->snd_ssthresh = newzag->halved;
	}
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
	count(state(sk)->lost, state(sk)->radio, -1);
	state(sk)->radio = 0;
	count(0, 0, 1);
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
