/* SPDX-License-Identifier: GPL-2.0 */
/* Empty: headers_install removes the lines that include this header, too. */
