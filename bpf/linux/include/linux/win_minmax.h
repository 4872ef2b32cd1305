/* A minimum or maximum in a window of time; lib/win_minmax.c of the kernel's tree keeps it. */
#ifndef AIRTCP_LINUX_WIN_MINMAX_H
#define AIRTCP_LINUX_WIN_MINMAX_H

struct minmax_sample {
	u32 t;
	u32 v;
} RELOCATED;

struct minmax {
	struct minmax_sample s[3];
} RELOCATED;

static inline u32 minmax_get(const struct minmax *m)
{
	return m->s[0].v;
}

static inline u32 minmax_reset(struct minmax *m, u32 t, u32 value)
{
	for (int i = 0; i < 3; i++) {
		m->s[i].t = t;
		m->s[i].v = value;
	}
	return value;
}

u32 minmax_running_max(struct minmax *m, u32 win, u32 t, u32 meas);
u32 minmax_running_min(struct minmax *m, u32 win, u32 t, u32 meas);

#endif
