// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - a flame graph of branches, as SVG
 *
 * A box is a function in a chain of calls: its callers are below it.  Its width
 * is the number of branches that were taken in it and its callees.  The file
 * needs no other files, and can be read without scripting; the script only
 * zooms (flame_script.h).
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/array_size.h>

#include "flame.h"
#include "flame_script.h"
#include "lib/fail.h"
#include "lib/memory.h"
#include "lib/screen.h"
#include "objects.h"
#include "places.h"
#include "stack.h"

/* Sizes in pixels. */
#define WIDTH		1200.0
#define MARGIN		10.0
#define ROW		18.0
#define HEAD		62.0
#define FOOT		34.0
#define CHAR		6.65
/* Narrower boxes are not drawn. */
#define NARROW		0.3

#define INNER		(WIDTH - 2 * MARGIN)

/**
 * struct flame - a graph that is being drawn
 * @file: the file
 * @tree: the tree
 * @totals: weights of nodes with those of their descendants
 * @order: nodes, with the children of a parent in succession
 * @first: index in @order of the first child of each node; has one more element
 *	than there are nodes
 * @ranks: ranks of objects by their weight, 0 for the largest weight
 * @total: weight of all nodes
 * @rows: rows of boxes
 */
struct flame {
	FILE *file;
	const struct tree *tree;
	__u64 *totals;
	unsigned int *order;
	unsigned int *first;
	unsigned int *ranks;
	__u64 total;
	unsigned int rows;
};

static void *array(size_t n, size_t size)
{
	return checked(calloc(n ?: 1, size));
}

static bool is_root(const struct tree *tree, size_t n)
{
	return tree->nodes[n].parent == n;
}

/* A parent has a smaller number than its children. */
static void sum_up(struct flame *flame)
{
	const struct tree *tree = flame->tree;
	size_t n = tree->pairs.n, i;

	flame->totals = array(n, sizeof(*flame->totals));
	for (i = n; i--;) {
		flame->totals[i] += tree->nodes[i].weight;
		if (is_root(tree, i))
			flame->total += flame->totals[i];
		else
			flame->totals[tree->nodes[i].parent] += flame->totals[i];
	}
}

static int compare(const void *a, const void *b, void *data)
{
	const unsigned int *x = a, *y = b;
	const struct flame *flame = data;
	const struct node *m = &flame->tree->nodes[*x], *n = &flame->tree->nodes[*y];

	if (m->parent != n->parent)
		return m->parent < n->parent ? -1 : 1;
	if (flame->totals[*x] != flame->totals[*y])
		return flame->totals[*x] > flame->totals[*y] ? -1 : 1;
	return *x < *y ? -1 : *x > *y;
}

/* Children are drawn side by side, the one with the largest weight first. */
static void sort_children(struct flame *flame)
{
	size_t n = flame->tree->pairs.n, i, parent = 0;

	flame->order = array(n, sizeof(*flame->order));
	flame->first = array(n + 1, sizeof(*flame->first));
	for (i = 0; i < n; i++)
		flame->order[i] = i;
	qsort_r(flame->order, n, sizeof(*flame->order), compare, flame);
	for (i = 0; i < n; i++)
		while (parent <= flame->tree->nodes[flame->order[i]].parent)
			flame->first[parent++] = i;
	while (parent <= n)
		flame->first[parent++] = n;
}

static int compare_ranks(const void *a, const void *b, void *data)
{
	const unsigned int *x = a, *y = b;
	const __u64 *weights = data;

	if (weights[*x] != weights[*y])
		return weights[*x] > weights[*y] ? -1 : 1;
	return *x < *y ? -1 : *x > *y;
}

static unsigned int object_of(const struct flame *flame, unsigned int node)
{
	return function_get(flame->tree->nodes[node].function)->object;
}

static void rank_objects(struct flame *flame)
{
	size_t n = objects_count(), i;
	__u64 *weights = array(n, sizeof(*weights));
	unsigned int *order = array(n, sizeof(*order));

	flame->ranks = array(n, sizeof(*flame->ranks));
	for (i = 0; i < flame->tree->pairs.n; i++)
		weights[object_of(flame, i)] += flame->tree->nodes[i].weight;
	for (i = 0; i < n; i++)
		order[i] = i;
	qsort_r(order, n, sizeof(*order), compare_ranks, weights);
	for (i = 0; i < n; i++)
		flame->ranks[order[i]] = i;
	free(weights);
	free(order);
}

static double width_of(const struct flame *flame, unsigned int node)
{
	return flame->total ? INNER * flame->totals[node] / flame->total : 0;
}

/*
 * Colours of objects by their rank; the last one is for all remaining objects.
 */
static const unsigned char palette[][3] = {
	{ 0xf2, 0xa6, 0x5a }, { 0x7f, 0xb4, 0xe2 }, { 0x93, 0xcb, 0x8b },
	{ 0xd9, 0x9a, 0xd1 }, { 0xe8, 0xd0, 0x6a }, { 0x7f, 0xcf, 0xc7 },
	{ 0xe7, 0x97, 0x92 }, { 0xc3, 0xc3, 0xc3 },
};

static const unsigned char *colour_of(const struct flame *flame,
				      unsigned int object)
{
	unsigned int rank = flame->ranks[object], last = ARRAY_SIZE(palette) - 1;

	if (object < OBJECT_FIRST || rank > last)
		rank = last;
	return palette[rank];
}

/* Vary the colour a little by the name, so that neighbours differ. */
static void print_colour(const struct flame *flame, const struct function *function)
{
	const unsigned char *colour = colour_of(flame, function->object);
	unsigned int hash = 5381, shade;
	const char *c;

	for (c = function->name; *c; c++)
		hash = hash * 33 + (unsigned char)*c;
	shade = 100 - hash % 12;
	fprintf(flame->file, "#%02x%02x%02x", colour[0] * shade / 100,
		colour[1] * shade / 100, colour[2] * shade / 100);
}

/* Print up to @most characters as XML, with "?" for those not printable. */
static void print_text(FILE *file, const char *text, size_t most)
{
	size_t n;

	for (; *text && most; text += n ?: 1, most--) {
		n = printable(text);
		switch (*text) {
		case '<':
			fputs("&lt;", file);
			break;
		case '>':
			fputs("&gt;", file);
			break;
		case '&':
			fputs("&amp;", file);
			break;
		case '"':
			fputs("&quot;", file);
			break;
		default:
			fwrite(n ? text : "?", n ?: 1, 1, file);
		}
	}
}

/* Print the name in the box, shortened to its width. */
static void print_label(FILE *file, const char *name, double width)
{
	size_t room = width > 3 * CHAR ? (width - 6) / CHAR : 0;

	if (characters(name) <= room) {
		print_text(file, name, room);
	} else if (room >= 3) {
		print_text(file, name, room - 2);
		fputs("..", file);
	}
}

static void draw_box(const struct flame *flame, unsigned int node, double x,
		     unsigned int row)
{
	const struct node *n = &flame->tree->nodes[node];
	const struct function *function = function_get(n->function);
	double width = width_of(flame, node);
	double y = HEAD + (flame->rows - 1 - row) * ROW;
	FILE *file = flame->file;

	fputs("<g class=\"b\"><title>", file);
	print_text(file, function->name, 500);
	if (function->object >= OBJECT_FIRST) {
		fputs(" (", file);
		print_text(file, object_name(function->object), 200);
		putc(')', file);
	}
	fprintf(file, "\n%llu branches, %.2f %%", flame->totals[node],
		100.0 * flame->totals[node] / flame->total);
	if (n->weight != flame->totals[node])
		fprintf(file, "; %llu in the function itself", n->weight);
	fprintf(file, "</title><rect x=\"%.2f\" y=\"%.0f\" width=\"%.2f\" "
		"height=\"%.0f\" rx=\"2\" fill=\"", x, y, width, ROW - 1);
	print_colour(flame, function);
	fprintf(file, "\"/><text x=\"%.2f\" y=\"%.1f\">", x + 3, y + 12.5);
	print_label(file, function->name, width);
	fputs("</text></g>\n", file);
}

/* Draw a node and its descendants, or only count their rows. */
static void draw(struct flame *flame, unsigned int node, double x,
		 unsigned int row, bool count)
{
	unsigned int i;

	if (width_of(flame, node) < NARROW)
		return;
	if (count && flame->rows < row + 1)
		flame->rows = row + 1;
	if (!count)
		draw_box(flame, node, x, row);
	for (i = flame->first[node]; i < flame->first[node + 1]; i++) {
		unsigned int child = flame->order[i];

		/* A root is its own parent. */
		if (child == node)
			continue;
		draw(flame, child, x, row + 1, count);
		x += width_of(flame, child);
	}
}

static void draw_all(struct flame *flame, bool count)
{
	double x = MARGIN;
	size_t i;

	for (i = 0; i < flame->tree->pairs.n; i++) {
		if (!is_root(flame->tree, i))
			continue;
		draw(flame, i, x, 0, count);
		x += width_of(flame, i);
	}
}

static void print_head(const struct flame *flame, const char *title)
{
	double height = HEAD + flame->rows * ROW + FOOT;
	FILE *file = flame->file;

	fprintf(file, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" "
		"height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\">\n", WIDTH, height,
		WIDTH, height);
	fputs("<style>text{font:11px 'DejaVu Sans Mono',Menlo,Consolas,monospace;"
	      "fill:#1c1c1c}.h{font:bold 16px sans-serif}"
	      ".s{font:12px sans-serif;fill:#555}.b text{pointer-events:none}"
	      ".b:hover rect{stroke:#333;stroke-width:1}.b{cursor:pointer}"
	      "</style>\n", file);
	fprintf(file, "<rect width=\"100%%\" height=\"100%%\" fill=\"#fdfdfb\"/>\n"
		"<text class=\"h\" x=\"%.0f\" y=\"26\">", MARGIN);
	print_text(file, title, 120);
	fprintf(file, "</text>\n"
		"<text class=\"s\" x=\"%.0f\" y=\"46\">%llu branches. The width "
		"of a function is the number of branches in it and its "
		"callees.</text>\n", MARGIN, flame->total);
}

/* Print the legend of colours and files. */
static void print_foot(const struct flame *flame)
{
	double x = MARGIN, y = HEAD + flame->rows * ROW + 14;
	FILE *file = flame->file;
	unsigned int i, rank;

	for (rank = 0; rank < ARRAY_SIZE(palette) - 1; rank++) {
		for (i = OBJECT_FIRST; i < objects_count(); i++) {
			const unsigned char *colour = colour_of(flame, i);
			const char *name = object_name(i);

			if (flame->ranks[i] != rank || strlen(name) > 60)
				continue;
			if (x + 40 + characters(name) * CHAR > WIDTH)
				return;
			fprintf(file, "<rect x=\"%.0f\" y=\"%.0f\" width=\"11\" "
				"height=\"11\" rx=\"2\" fill=\"#%02x%02x%02x\"/>"
				"<text x=\"%.0f\" y=\"%.0f\">", x, y, colour[0],
				colour[1], colour[2], x + 16, y + 9.5);
			print_text(file, name, 60);
			fputs("</text>\n", file);
			x += 36 + characters(name) * CHAR;
		}
	}
}

/**
 * flame_write() - write a flame graph
 * @path: the file, which is created or emptied
 * @tree: the tree
 * @title: the text above the graph
 *
 * The command ends with a message if the file cannot be written.
 */
void flame_write(const char *path, const struct tree *tree, const char *title)
{
	struct flame flame = { .file = fopen(path, "we"), .tree = tree };

	if (!flame.file)
		fail(path, strerror(errno));
	sum_up(&flame);
	sort_children(&flame);
	rank_objects(&flame);
	draw_all(&flame, true);
	print_head(&flame, title);
	draw_all(&flame, false);
	print_foot(&flame);
	fputs(flame_script, flame.file);
	fputs("</svg>\n", flame.file);
	if (ferror(flame.file) | fclose(flame.file))
		fail(path, strerror(errno));
	free(flame.totals);
	free(flame.order);
	free(flame.first);
	free(flame.ranks);
}
