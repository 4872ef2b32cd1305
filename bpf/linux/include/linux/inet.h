#include <net/tcp.h>
