// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - sessions of /dev/utrace: structures and arrays of programs
 *
 * A program may be older or newer than the kernel, so its structures may be
 * smaller or larger than the kernel's.
 */
#include <linux/sizes.h>
#include <linux/uaccess.h>
#include <uapi/linux/utrace.h>

#include "../utrace_dev.h"

/*
 * Bytes of the largest argument that a program may pass, with room for later
 * versions of the structures.
 */
#define SESSION_ARG_MAX	SZ_4K

/**
 * utrace_dev_check_size() - check the size of a structure of a program
 * @first: bytes of the structure when it was first published
 * @size: bytes of the program's structure
 *
 * Context: Any.
 * Return: 0, -EINVAL or -E2BIG.
 */
int utrace_dev_check_size(unsigned int first, unsigned int size)
{
	if (size < first)
		return -EINVAL;
	return size > SESSION_ARG_MAX ? -E2BIG : 0;
}

/**
 * utrace_dev_get_struct() - copy a structure from a program
 * @copy: @known bytes, full of zeros
 * @known: bytes of the structure, as this kernel knows it
 * @first: bytes of the structure when it was first published
 * @user: the program's structure
 * @size: bytes of the program's structure
 *
 * The program's structure may be of another version.  A smaller one, down to
 * the first version, is extended with zeros.  A larger one must have zeros in
 * the rest.
 *
 * Context: Process context; sleeps for page faults.
 * Return: 0, -EINVAL, -E2BIG or -EFAULT.
 */
int utrace_dev_get_struct(void *copy, unsigned int known, unsigned int first,
			  const void __user *user, unsigned int size)
{
	int ret = utrace_dev_check_size(first, size);

	return ret ?: copy_struct_from_user(copy, known, user, size);
}

/**
 * utrace_dev_put_struct() - copy a structure to a program
 * @user: the program's structure
 * @size: bytes of the program's structure
 * @copy: the structure
 * @known: bytes of the structure, as this kernel knows it
 *
 * If the program's structure is larger, the rest of it is cleared.
 *
 * Context: Process context; sleeps for page faults.
 * Return: 0 or -EFAULT.
 */
int utrace_dev_put_struct(void __user *user, unsigned int size,
			  const void *copy, unsigned int known)
{
	if (copy_to_user(user, copy, min(size, known)) ||
	    (size > known && clear_user(user + known, size - known)))
		return -EFAULT;
	return 0;
}

/**
 * utrace_dev_check_rows() - check the description of an array
 * @rows: the description that the program has passed
 * @first: bytes of an element when it was first published
 *
 * Context: Any.
 * Return: 0, -EINVAL or -E2BIG.
 */
int utrace_dev_check_rows(const struct utrace_rows *rows, unsigned int first)
{
	return rows->reserved ? -EINVAL :
				utrace_dev_check_size(first, rows->size);
}

/**
 * utrace_dev_put_rows() - copy elements to an array of a program
 * @rows: the array, which utrace_dev_check_rows() has checked
 * @at: index of the first element
 * @elements: the elements
 * @n: number of elements
 * @known: bytes of an element, as this kernel knows it
 *
 * Context: Process context; sleeps for page faults.
 * Return: 0 or -EFAULT.
 */
int utrace_dev_put_rows(const struct utrace_rows *rows, unsigned int at,
			const void *elements, unsigned int n, size_t known)
{
	void __user *to = u64_to_user_ptr(rows->at) + (size_t)at * rows->size;
	int ret = 0;

	if (rows->size == known)
		return copy_to_user(to, elements, n * known) ? -EFAULT : 0;
	for (; n-- && !ret; to += rows->size, elements += known)
		ret = utrace_dev_put_struct(to, rows->size, elements, known);
	return ret;
}
