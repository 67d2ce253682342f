/* SPDX-License-Identifier: GPL-2.0 */
#include <sys/epoll.h>
