/* Treats new connections: a share of them by hash, of one network namespace, towards one network,
 * until a time. Who was treated and who was left as control stands in a map by socket cookie.
 *
 * Attached to a cgroup as sock_ops, so that it sees each of its connections when the handshake
 * ends: before its first data, and before its congestion control begins (tcp_init_transfer).
 */
#include "kernel.h"
#include <bpf/bpf_endian.h>

char _license[] SEC("license") = "GPL";

/* include/uapi/linux/bpf.h: the members up to the ports, which never move. */
struct bpf_sock_ops {
	__u32 op;
	__u32 arguments[4];
	__u32 family;
	__u32 remote_ip4;
	__u32 local_ip4;
	__u32 remote_ip6[4];
	__u32 local_ip6[4];
	__u32 remote_port;
	__u32 local_port;
};

#define BPF_SOCK_OPS_ACTIVE_ESTABLISHED_CB 4
#define BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB 5
#define BPF_MAP_TYPE_LRU_HASH 9
#define BPF_ANY 0
#define AF_INET 2
#define SOL_SOCKET 1
#define SO_MAX_PACING_RATE 47
#define SOL_TCP 6
#define TCP_CONGESTION 13
#define TCP_BPF_IW 1001
#define TCP_BPF_RTO_MIN 1004

/* The network namespace whose connections are treated, by its cookie. */
const volatile __u64 namespace_cookie = 0;
/* On CLOCK_BOOTTIME; 0 for no end. */
const volatile __u64 until_ns = 0;
/* Connections treated, of 10000, and what makes the choice differ between deployments. */
const volatile __u32 share = 10000;
const volatile __u32 salt = 0;
/* The peers, IPv4 as ::ffff:a.b.c.d, in network order. */
const volatile __u32 network[4] = {};
const volatile __u32 mask[4] = {};
/* What a treated connection gets; empty or 0 for nothing. */
const volatile char control[TCP_CA_NAME_MAX] = "";
const volatile __u32 initial_window = 0;
const volatile __u32 least_timeout_us = 0;
const volatile __u64 pacing_rate = 0;

struct treatment {
	__u32 treated;
	/* The first refusal of the kernel's, as a negative errno, or 0. */
	__s32 refused;
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 65536);
	__type(key, __u64);
	__type(value, struct treatment);
} groups SEC(".maps");

struct peers {
	__u32 local[4];
	__u32 remote[4];
};

/* The verifier takes no pointer into this context but the context itself, which a compiler would
 * make of two reads in two branches: each member is read at its own place, whether it is needed or
 * not.
 */
#define READ(member) (*(const volatile __u32 *)&(member))

static inline void addresses(struct bpf_sock_ops *ops, struct peers *peers)
{
	__u32 local_ip4 = READ(ops->local_ip4);
	__u32 remote_ip4 = READ(ops->remote_ip4);

	peers->local[0] = READ(ops->local_ip6[0]);
	peers->local[1] = READ(ops->local_ip6[1]);
	peers->local[2] = READ(ops->local_ip6[2]);
	peers->local[3] = READ(ops->local_ip6[3]);
	peers->remote[0] = READ(ops->remote_ip6[0]);
	peers->remote[1] = READ(ops->remote_ip6[1]);
	peers->remote[2] = READ(ops->remote_ip6[2]);
	peers->remote[3] = READ(ops->remote_ip6[3]);
	if (READ(ops->family) != AF_INET)
		return;
	peers->local[0] = peers->local[1] = peers->remote[0] = peers->remote[1] = 0;
	peers->local[2] = peers->remote[2] = bpf_htonl(0xffff);
	peers->local[3] = local_ip4;
	peers->remote[3] = remote_ip4;
}

static inline int is_meant(const struct peers *peers)
{
	for (int word = 0; word < 4; word++)
		if ((peers->remote[word] & mask[word]) != network[word])
			return 0;
	return 1;
}

/* MurmurHash3's steps over the flow: a bit of a port flips half of the result's. */
static inline __u32 mixed(__u32 hash, __u32 word)
{
	word *= 0xcc9e2d51;
	word = word << 15 | word >> 17;
	hash ^= word * 0x1b873593;
	hash = hash << 13 | hash >> 19;
	return hash * 5 + 0xe6546b64;
}

static inline __u32 hash_of(const struct peers *peers, __u32 ports)
{
	__u32 hash = mixed(salt, ports);

	for (int word = 0; word < 4; word++) {
		hash = mixed(hash, peers->local[word]);
		hash = mixed(hash, peers->remote[word]);
	}
	hash ^= hash >> 16;
	hash *= 0x85ebca6b;
	hash ^= hash >> 13;
	hash *= 0xc2b2ae35;
	return hash ^ hash >> 16;
}

static inline void set(struct bpf_sock_ops *ops, struct treatment *result, int level, int option,
		       void *value, int length)
{
	long refused = bpf_setsockopt(ops, level, option, value, length);

	if (refused && !result->refused)
		result->refused = refused;
}

static inline void treat(struct bpf_sock_ops *ops, struct treatment *result)
{
	if (control[0]) {
		char name[TCP_CA_NAME_MAX];

		for (int letter = 0; letter < TCP_CA_NAME_MAX; letter++)
			name[letter] = control[letter];
		set(ops, result, SOL_TCP, TCP_CONGESTION, name, sizeof(name));
	}
	if (initial_window) {
		int segments = initial_window;

		set(ops, result, SOL_TCP, TCP_BPF_IW, &segments, sizeof(segments));
	}
	if (least_timeout_us) {
		int least = least_timeout_us;

		set(ops, result, SOL_TCP, TCP_BPF_RTO_MIN, &least, sizeof(least));
	}
	if (pacing_rate) {
		__u64 rate = pacing_rate;

		set(ops, result, SOL_SOCKET, SO_MAX_PACING_RATE, &rate, sizeof(rate));
	}
}

SEC("sockops")
int treat_connection(struct bpf_sock_ops *ops)
{
	struct treatment result = {};
	struct peers peers = {};
	__u32 local, remote;
	__u64 cookie;

	if (ops->op != BPF_SOCK_OPS_ACTIVE_ESTABLISHED_CB &&
	    ops->op != BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB)
		return 1;
	if (bpf_get_netns_cookie(ops) != namespace_cookie)
		return 1;
	if (until_ns && bpf_ktime_get_boot_ns() >= until_ns)
		return 1;
	addresses(ops, &peers);
	if (!is_meant(&peers))
		return 1;
	local = ops->local_port;
	remote = bpf_ntohl(ops->remote_port);
	result.treated = hash_of(&peers, local << 16 | remote) % 10000 < share;
	if (result.treated)
		treat(ops, &result);
	cookie = bpf_get_socket_cookie(ops);
	bpf_map_update_elem(&groups, &cookie, &result, BPF_ANY);
	return 1;
}
