// SPDX-License-Identifier: GPL-2.0
/*
 * Sample engines in and out of the kernel, by libkmod: as modprobe does it,
 * but without running a program.
 */
#include <errno.h>
#include <libkmod.h>
#include <string.h>

#include "demo.h"

#define MAX_LOADED	16

static struct kmod_ctx *ctx;
/* All that was loaded, dependencies too, in the order of loading. */
static struct kmod_module *loaded[MAX_LOADED];
static unsigned int n_loaded;

static void on_action(struct kmod_module *mod, bool install,
		      const char *options)
{
	(void)install;
	if (n_loaded == MAX_LOADED)
		give_up("more modules than expected");
	step("insmod %s.ko %s", kmod_module_get_name(mod),
	     options ? options : "");
	loaded[n_loaded++] = kmod_module_ref(mod);
}

void module_load(const char *name, const char *options)
{
	struct kmod_list *list = NULL;
	struct kmod_module *mod;
	int ret;

	if (!ctx)
		ctx = kmod_new(NULL, NULL);
	if (!ctx)
		give_up("libkmod does not start");
	ret = kmod_module_new_from_lookup(ctx, name, &list);
	if (ret < 0 || !list)
		give_up("there is no module %s in /lib/modules", name);
	mod = kmod_module_get_module(list);
	ret = kmod_module_probe_insert_module(mod, KMOD_PROBE_FAIL_ON_LOADED,
					      options, NULL, NULL, on_action);
	if (ret == -EEXIST)
		give_up("%s is loaded already; rmmod it first", name);
	if (ret)
		give_up("loading %s: %s", name, strerror(ret < 0 ? -ret : ret));
	kmod_module_unref(mod);
	kmod_module_unref_list(list);
}

void modules_unload(void)
{
	char names[256] = "";
	int ret;

	while (n_loaded) {
		struct kmod_module *mod = loaded[--n_loaded];
		const char *name = kmod_module_get_name(mod);

		ret = kmod_module_remove_module(mod, 0);
		if (ret)
			check(false, "rmmod %s: %s", name, strerror(-ret));
		snprintf(names + strlen(names), sizeof(names) - strlen(names),
			 " %s", name);
		kmod_module_unref(mod);
	}
	step("rmmod%s", names);
	kmod_unref(ctx);
	ctx = NULL;
}
