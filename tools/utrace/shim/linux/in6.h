/* SPDX-License-Identifier: GPL-2.0 */
#include <arpa/inet.h>
#include <netinet/in.h>
