// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - files that are mapped as code
 */
#include <stdio.h>
#include <string.h>

#include "lib/fail.h"
#include "lib/intern.h"
#include "lib/memory.h"
#include "lib/pairs.h"
#include "objects.h"

static struct object *objects;
static size_t nobjects, objects_size;

/* Objects from OBJECT_FIRST on, by their paths and build IDs. */
static struct pairs numbers;

static void append(const char *path, const struct build_id *id)
{
	struct object object = { .path = checked(strdup(path)) };

	if (id)
		object.id = *id;
	objects = grow(objects, nobjects, &objects_size, sizeof(*objects));
	objects[nobjects++] = object;
}

static void begin(void)
{
	if (nobjects)
		return;
	append("[kernel]", NULL);
	append("[unknown]", NULL);
	append("[program]", NULL);
}

/* Return a number for a build ID, 0 for none. */
static __u64 number_of_id(const struct build_id *id)
{
	char text[2 * BUILD_ID_MAX + 1];
	size_t i;

	if (!id || !id->size)
		return 0;
	for (i = 0; i < id->size; i++)
		sprintf(text + 2 * i, "%02x", id->bytes[i]);
	return intern_number(text);
}

/**
 * objects_add() - get the number of an object
 * @path: its path
 * @id: its build ID, or NULL
 *
 * The command ends with a message if there are too many objects.
 *
 * Return: the number, unique for each pair of @path and @id.
 */
unsigned int objects_add(const char *path, const struct build_id *id)
{
	unsigned int n;

	begin();
	n = pairs_add(&numbers, intern_number(path), number_of_id(id));
	if (n < nobjects - OBJECT_FIRST)
		return OBJECT_FIRST + n;
	if (nobjects == OBJECTS_MAX)
		fail(path, "there are too many mapped files");
	append(path, id);
	return nobjects - 1;
}

/* Set the image of an object.  The memory must stay valid. */
void objects_set_image(unsigned int n, const void *image, size_t size)
{
	objects[n].image = image;
	objects[n].image_size = size;
}

/* Return an object, valid until the next one is added. */
const struct object *objects_get(unsigned int n)
{
	begin();
	return &objects[n];
}

unsigned int objects_count(void)
{
	begin();
	return nobjects;
}

/*
 * Return the name of an object for display: the name of its file without the
 * directory.
 */
const char *object_name(unsigned int n)
{
	const char *path = objects_get(n)->path, *slash = strrchr(path, '/');

	return *path == '/' && slash[1] ? slash + 1 : path;
}
