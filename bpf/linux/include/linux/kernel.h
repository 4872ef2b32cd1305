/* Modules, arithmetic and time, as congestion controls use them. */
#ifndef AIRTCP_LINUX_KERNEL_H
#define AIRTCP_LINUX_KERNEL_H

#define __init
#define __exit
#define __read_mostly
#define __bpf_kfunc
#define __pure __attribute__((pure))
#define __always_unused __attribute__((unused))
#define noinline_for_stack
#define THIS_MODULE 0
#define KERN_INFO
#define module_init(function)
#define module_exit(function)
#define module_param(name, type, mode)
#define module_param_cb(name, operations, place, mode)
#define MODULE_PARM_DESC(name, text)
#define MODULE_AUTHOR(text)
#define MODULE_LICENSE(text)
#define MODULE_DESCRIPTION(text)
#define MODULE_VERSION(text)
#define MODULE_ALIAS(text)
#define EXPORT_SYMBOL(name)
#define EXPORT_SYMBOL_GPL(name)
#define BUILD_BUG_ON(condition)
#define WARN_ON_ONCE(condition) (condition)
#define WARN_ONCE(condition, ...) (condition)
#define pr_debug(...) ((void)0)
#define pr_info(...) ((void)0)
#define net_info_ratelimited(...) ((void)0)
#define likely(condition) (condition)
#define unlikely(condition) (condition)
#define READ_ONCE(place) (place)
#define WRITE_ONCE(place, value) ((place) = (value))
#define smp_load_acquire(place) (*(place))
#ifndef offsetof
#define offsetof(type, member) __builtin_offsetof(type, member)
#endif
#define memset __builtin_memset
#define true 1
#define false 0
#define NULL ((void *)0)

struct kernel_param;
struct kernel_param_ops {
	int (*set)(const char *value, const struct kernel_param *parameter);
	int (*get)(char *buffer, const struct kernel_param *parameter);
};
#define param_set_uint_minmax(value, parameter, low, high) 0
#define param_get_uint 0

/* Lists of functions for BPF programs: a module is one itself here. */
struct btf_id_set8 {
	u32 none;
};
struct btf_kfunc_id_set {
	void *owner;
	struct btf_id_set8 *set;
};
#define BTF_KFUNCS_START(name) static struct btf_id_set8 name;
#define BTF_KFUNCS_END(name)
#define BTF_SET8_START(name) static struct btf_id_set8 name;
#define BTF_SET8_END(name)
#define BTF_ID_FLAGS(...)
#define register_btf_kfunc_id_set(type, set) 0

#define EINVAL 22
#define ERANGE 34
#define U32_C(number) number##U
#define U8_MAX ((u8)~0U)
#define U16_MAX ((u16)~0U)
#define U32_MAX (~0U)
#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))
#define BITS_PER_LONG 64

#define AIRTCP_CHOICE(one, is, other)            \
	({                                       \
		__auto_type first = (one);       \
		__auto_type second = (other);    \
		first is second ? first : second; \
	})
#define min(one, other) AIRTCP_CHOICE(one, <, other)
#define max(one, other) AIRTCP_CHOICE(one, >, other)
#define min_t(type, one, other) min((type)(one), (type)(other))
#define max_t(type, one, other) max((type)(one), (type)(other))
#define min3(one, other, third) min(min(one, other), third)
#define max3(one, other, third) max(max(one, other), third)
#define clamp(value, low, high) min(max(value, low), high)
#define clamp_t(type, value, low, high) min_t(type, max_t(type, value, low), high)
#define min_not_zero(one, other)                                              \
	({                                                                    \
		__auto_type first_of = (one);                                 \
		__auto_type second_of = (other);                              \
		!first_of ? second_of : !second_of ? first_of : min(first_of, second_of); \
	})
#define abs(value)                            \
	({                                    \
		__auto_type number = (value); \
		number < 0 ? -number : number; \
	})
#define swap(one, other)                    \
	do {                                \
		__auto_type kept = (one);   \
		(one) = (other);            \
		(other) = kept;             \
	} while (0)
#define DIV_ROUND_UP(value, by) (((value) + (by) - 1) / (by))
#define DIV_ROUND_CLOSEST(value, by) (((value) + (by) / 2) / (by))

/* Divides the variable, and returns the remainder. */
#define do_div(variable, by)                        \
	({                                          \
		u64 divided = (variable);           \
		u32 divisor = (by);                 \
		(variable) = divided / divisor;     \
		(u32)(divided % divisor);           \
	})
#define div_u64(value, by) ((u64)(value) / (u32)(by))
#define div64_u64(value, by) ((u64)(value) / (u64)(by))
#define div64_ul(value, by) ((u64)(value) / (unsigned long)(by))
#define div64_long(value, by) ((s64)(value) / (long)(by))
#define div_s64(value, by) ((s64)(value) / (s32)(by))

/* The number of the highest bit set, from 1; 0 for none. */
static inline int fls64(u64 value)
{
	int bits = 0;

	for (int step = 32; step; step /= 2)
		if (value >> step) {
			value >>= step;
			bits += step;
		}
	return value ? bits + 1 : 0;
}

#define is_power_of_2(value) ((value) && !((value) & ((value) - 1)))
#define fls(value) fls64((u32)(value))
#define ilog2(value) (fls64(value) - 1)

/* A jiffy is that of the interpreter's configuration. */
#define HZ 1000
#define USEC_PER_MSEC 1000L
#define USEC_PER_SEC 1000000L
#define NSEC_PER_USEC 1000L
#define NSEC_PER_MSEC 1000000L
#define NSEC_PER_SEC 1000000000L
#define jiffies ((unsigned long)bpf_jiffies64())
#define tcp_jiffies32 ((u32)bpf_jiffies64())
#define msecs_to_jiffies(time) ((u32)(DIV_ROUND_UP((u64)(time) * HZ, 1000)))
#define usecs_to_jiffies(time) ((u32)(DIV_ROUND_UP((u64)(time), USEC_PER_SEC / HZ)))
#define jiffies_to_usecs(time) ((u32)((time) * (USEC_PER_SEC / HZ)))
#define jiffies_to_msecs(time) ((u32)((time) * (1000 / HZ)))
#define time_after(one, other) ((long)((other) - (one)) < 0)
#define time_after_eq(one, other) ((long)((one) - (other)) >= 0)
#define time_before(one, other) time_after(other, one)
#define local_clock() bpf_ktime_get_ns()
#define sched_clock() bpf_ktime_get_ns()

#define get_random_u32() bpf_get_prandom_u32()
#define get_random_u32_below(limit) (bpf_get_prandom_u32() % (limit))
#define prandom_u32_max(limit) (bpf_get_prandom_u32() % (limit))
#define get_random_bytes(place, bytes) (*(u8 *)(place) = bpf_get_prandom_u32())

/* What a module allocates for its socket: one table, as each flow has its own variables. */
#define GFP_NOWAIT 0
#define __GFP_NOWARN 0
static u64 allocated[32];
#define kcalloc(count, size, flags) \
	((count) * (size) <= sizeof(allocated) ? (void *)allocated : NULL)
#define kfree(place) ((void)(place))

/* Changes a place that holds `old`; nobody else does at the same time. */
#define cmpxchg(place, old, new)               \
	({                                     \
		__auto_type was = *(place);    \
		if (was == (old))              \
			*(place) = (new);      \
		was;                           \
	})

#endif
