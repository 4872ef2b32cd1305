/* The classifier of ZigZag and NewZag in integers: is a loss of n segments the radio's?
 *
 * Lien, Reeve & Lee, Improving TCP Performance Over Wireless Networks, §II-A. The same rule as
 * crates/tcp/src/loss_differentiation/zigzag.rs; bpf/cases.csv is run through both. No type and no
 * call of the kernel's: a plain C compiler takes it too.
 */
#ifndef AIRTCP_ZIGZAG_H
#define AIRTCP_ZIGZAG_H

/* Round trips in 1/2^16 µs, so that a smoothed mean loses nothing that decides. Below 2^31 µs. */
#define ZIGZAG_SCALE 16
/* Gain of the mean, 2^-4; the deviation's is 2^-3 (§II-A). */
#define ZIGZAG_MEAN_SHIFT 4
#define ZIGZAG_DEVIATION_SHIFT 3

/* The most segments of a window that may be lost in one repair and be the radio's. The answer takes
 * a fifth off the window: a path that bears less than what is left goes on losing. Ten segments are
 * what a new connection may send without knowing anything (RFC 6928).
 */
static inline unsigned int zigzag_most_for_radio(unsigned int window)
{
	return window / 5 > 10 ? window / 5 : 10;
}

struct zigzag {
	unsigned long long latest;
	unsigned long long mean;
	unsigned long long deviation;
};

/* Halves of the deviation that the threshold lies below the mean; below zero it lies above.
 * NewZag's own (§II-A) are 2, 1, 0, -1 for n = 1, 2, 3 and more; adjusted (§III-B), up to three
 * losses need only be below the mean.
 */
static inline int zigzag_half_deviations(int adjusted, unsigned int lost)
{
	if (lost > 3)
		return -1;
	if (adjusted)
		return 0;
	return lost < 2 ? 2 : 3 - (int)lost;
}

static inline void zigzag_sample(struct zigzag *z, unsigned int rtt_us)
{
	unsigned long long rtt = (unsigned long long)rtt_us << ZIGZAG_SCALE;
	unsigned long long distance;

	z->latest = rtt;
	/* Mean and deviation begin at the first sample and at nothing. */
	if (!z->mean) {
		z->mean = rtt ? rtt : 1;
		return;
	}
	z->mean -= z->mean >> ZIGZAG_MEAN_SHIFT;
	z->mean += rtt >> ZIGZAG_MEAN_SHIFT;
	/* The deviation is from the mean that the sample has moved. */
	distance = rtt > z->mean ? rtt - z->mean : z->mean - rtt;
	z->deviation -= z->deviation >> ZIGZAG_DEVIATION_SHIFT;
	z->deviation += distance >> ZIGZAG_DEVIATION_SHIFT;
}

static inline int zigzag_is_radio(const struct zigzag *z, int adjusted, unsigned int lost)
{
	int halves = zigzag_half_deviations(adjusted, lost);
	unsigned long long half = z->deviation >> 1;

	if (halves < 0)
		return z->latest < z->mean + half * (unsigned int)-halves;
	return z->latest + half * (unsigned int)halves < z->mean;
}

#endif
