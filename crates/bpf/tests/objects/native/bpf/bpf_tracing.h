/* Stands for libbpf's header in a native build: a program is a function. */
#pragma once
#define BPF_PROG(name, ...) name(__VA_ARGS__)
