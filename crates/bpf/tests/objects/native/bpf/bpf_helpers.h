/* Stands for libbpf's header in a native build: the helpers on one simulated socket. */
#pragma once
#include <string.h>

#define SEC(name)
#define __ksym
#define __kconfig
#define KERNEL_VERSION(a, b, c) (((a) << 16) + ((b) << 8) + (c))
#define __weak __attribute__((weak))
#define barrier_var(variable) asm volatile("" : "+r"(variable))
#define __uint(name, value) int(*name)[value]
#define __type(name, value) typeof(value) *name

extern unsigned long long native_now_ns;

/* One value of up to 64 bytes for each of 16 keys of 4 maps. */
static unsigned char native_values[4][16][64];
static const void *native_maps[4];
static int native_has_storage;

static void *native_value(const void *map, unsigned int key)
{
	int i = 0;

	while (native_maps[i] && native_maps[i] != map)
		i++;
	native_maps[i] = map;
	return native_values[i][key];
}

static inline unsigned long long bpf_ktime_get_ns(void) { return native_now_ns; }
static inline unsigned long long bpf_jiffies64(void) { return native_now_ns / 1000000; }

static inline void *bpf_map_lookup_elem(const void *map, const void *key)
{
	return native_value(map, *(const unsigned int *)key);
}

static inline void *bpf_sk_storage_get(const void *map, void *sk, void *value, unsigned long flags)
{
	if (flags)
		native_has_storage = 1;
	return native_has_storage ? native_value(map, 0) : 0;
}

/* SplitMix64 from seed 0, as the interpreter's. */
static inline __u32 bpf_get_prandom_u32(void)
{
	static __u64 state;
	__u64 z = state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return (z ^ z >> 31) >> 32;
}
