/* Stands for libbpf's header in a native build. */
#pragma once
#define BPF_CORE_READ_BITFIELD(s, field) ((s)->field)
