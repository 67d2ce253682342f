// SPDX-License-Identifier: GPL-2.0
/*
 * utrace tests - a machine that generates branches, and its consumers
 *
 * Threads run on emulated processors.  All events are noted in a diary, from
 * which the model computes what each consumer should get.  A step is valid
 * after any other steps, so that steps can be skipped.
 */
#include <linux/array_size.h>
#include <linux/container_of.h>
#include <linux/minmax.h>
#include <linux/string.h>

#include "lab.h"

/* Size of the guard before the window's memory, and its contents. */
#define LAB_GUARD	4
#define LAB_PATTERN	0x5a

/* Entry points of the kernel.  One of them is not in the tracer's table. */
static const struct branch_entry lab_entries[] = {
	{ LAB_KERNEL | 0x010, 0, BRANCH_ENTRY_TRANSPARENT },
	{ LAB_KERNEL | 0x020, UTRACE_PC_EXCEPTION(6), BRANCH_ENTRY_EXCEPTION },
	{ LAB_KERNEL | 0x028, 0, BRANCH_ENTRY_TRANSPARENT },
	{ LAB_KERNEL | 0x030, UTRACE_PC_SYSCALL, BRANCH_ENTRY_SYSCALL },
	{ LAB_KERNEL | 0x040, UTRACE_PC_EXCEPTION(3), BRANCH_ENTRY_EXCEPTION },
};

static const struct branch_entry lab_known[] = {
	{ LAB_KERNEL | 0x010, 0, BRANCH_ENTRY_TRANSPARENT },
	{ LAB_KERNEL | 0x020, UTRACE_PC_EXCEPTION(6), BRANCH_ENTRY_EXCEPTION },
	{ LAB_KERNEL | 0x030, UTRACE_PC_SYSCALL, BRANCH_ENTRY_SYSCALL },
	{ LAB_KERNEL | 0x040, UTRACE_PC_EXCEPTION(3), BRANCH_ENTRY_EXCEPTION },
	{ LAB_NMI, 0, BRANCH_ENTRY_TRANSPARENT },
};

static const struct branch_entries lab_table = {
	lab_known, ARRAY_SIZE(lab_known)
};

/* Readers */

/* Read by copying. */
static unsigned int lab_look(struct lab_consumer *consumer, unsigned int n)
{
	struct branch_cursor cursor;

	n = utrace_branch_buffer_copy(&consumer->buffer,
				      consumer->got + consumer->n, n, &cursor);
	if (n)
		utrace_branch_buffer_take(&consumer->buffer, &cursor);
	return n;
}

/* Read in place. */
static unsigned int lab_peek(struct lab_consumer *consumer, unsigned int n)
{
	const struct utrace_branch *records;

	n = utrace_branch_buffer_peek(&consumer->buffer, &records, n);
	memcpy(consumer->got + consumer->n, records, n * sizeof(*records));
	utrace_branch_buffer_skip(&consumer->buffer, n);
	return n;
}

static void lab_read(struct lab_consumer *consumer, unsigned int n)
{
	bool peeks = !consumer->overwrite && consumer->id % 2;
	unsigned int got = 1, most;

	for (; got && n && consumer->n < LAB_RECORDS; n -= got) {
		most = min(n, LAB_RECORDS - consumer->n);
		got = peeks ? lab_peek(consumer, most) :
			      lab_look(consumer, most);
		consumer->n += got;
	}
}

static void lab_read_prompt(struct lab *lab)
{
	unsigned int i;

	for (i = 0; i < lab->n_consumers; i++)
		if (lab->consumer[i].used && lab->consumer[i].prompt)
			lab_read(&lab->consumer[i], LAB_RECORDS);
}

/* The diary */

static struct branch_event *lab_note(struct lab *lab, unsigned int cpu, u8 type)
{
	struct branch_event *event;

	if (lab->n_events == LAB_EVENTS)
		lab_wrong(lab, "no memory for the diary", cpu,
			  lab->n_events);
	else
		lab->n_events++;
	event = &lab->events[lab->n_events - 1];
	*event = (struct branch_event){
		.type = type,
		.cpu = cpu,
		.thread = lab->cpu[cpu].thread,
	};
	return event;
}

static void lab_note_gap(struct lab *lab, unsigned int cpu, u8 cause,
			 bool threads)
{
	struct branch_event *event = lab_note(lab, cpu, BRANCH_EVENT_GAP);

	event->cause = cause;
	event->threads = threads;
}

static void lab_full(struct branch_fake *fake)
{
	struct lab_cpu *cpu = container_of(fake, struct lab_cpu, fake);
	unsigned int number = cpu - cpu->lab->cpu;

	if (cpu->lab->setup.exact)
		lab_wrong(cpu->lab, "the interrupt comes too late", number,
			  cpu->lab->n_events);
	lab_note_gap(cpu->lab, number, UTRACE_LOSS_HARDWARE, false);
}

/* Find the CPU that has the stream of a consumer; -1: none. */
static int lab_cpu_of(const struct lab *lab,
		      const struct lab_consumer *consumer)
{
	unsigned int i;

	if (consumer->of_cpu)
		return consumer->id;
	for (i = 0; i < LAB_CPUS; i++)
		if (lab->cpu[i].thread == consumer->id)
			return i;
	return -1;
}

/* A running thread continues until a second interrupt. */
static void lab_pause(struct branch_stream *stream)
{
	struct lab_consumer *consumer = container_of(stream,
						     struct lab_consumer,
						     stream);
	struct lab *lab = consumer->lab;
	struct lab_thread *thread = &lab->thread[consumer->id];
	int cpu = lab_cpu_of(lab, consumer);

	if (!thread->notified && cpu >= 0)
		thread->late = (lab->seed + lab->n_events) %
			       (lab->cpu[cpu].fake.window.margin + 1);
	thread->notified = true;
}

/* Check whether the processor must record. */
static bool lab_wants(const struct lab *lab, unsigned int cpu)
{
	const struct lab_consumer *consumer;
	unsigned int i;

	if (lab->cpu[cpu].fake.window.off)
		return false;
	for (i = 0; i < lab->n_consumers; i++) {
		consumer = &lab->consumer[i];
		if (consumer->there &&
		    consumer->id == (consumer->of_cpu ? cpu :
				     lab->cpu[cpu].thread))
			return true;
	}
	return false;
}

/* Branches */

static struct branch_event *lab_branch_once(struct lab *lab, unsigned int cpu,
					    u64 from, u64 to, u64 info)
{
	struct branch_event *event = lab_note(lab, cpu, BRANCH_EVENT_BRANCH);
	struct branch_fake *fake = &lab->cpu[cpu].fake;

	event->record = (struct utrace_branch){ from, to, info };
	if (fake->on != lab_wants(lab, cpu))
		lab_wrong(lab, fake->on ? "the source is on without a stream" :
			  "the source is off", cpu, lab->n_events);
	event->stored = branch_fake_store(fake, &event->record);
	return event;
}

/*
 * Handle the tracer's interrupt before the instruction at @at.  Its own
 * branches are recorded, but cause no other interrupt before the handler has
 * ended.
 */
static void lab_interrupt(struct lab *lab, unsigned int cpu, u64 at)
{
	struct branch_fake *fake = &lab->cpu[cpu].fake;

	fake->masked = true;
	lab_branch_once(lab, cpu, at, LAB_NMI, 0);
	utrace_branch_window_interrupt(&fake->window);
	fake->masked = false;
	lab_read_prompt(lab);
	lab_branch_once(lab, cpu, LAB_NMI | 0x800, at, 0);
}

/*
 * Handle interrupts that are due before the instruction at @at.  A late one
 * finds little in the window, and the branch out of it may reach the threshold.
 * The second one leaves the window empty.
 */
static void lab_interrupts(struct lab *lab, unsigned int cpu, u64 at)
{
	unsigned int n;

	for (n = 0; branch_fake_due(&lab->cpu[cpu].fake) && !lab->wrong; n++) {
		if (n == 2)
			lab_wrong(lab, "the interrupt is raised in a loop",
				  cpu, lab->n_events);
		lab_interrupt(lab, cpu, at);
		lab->counts.interrupts++;
		lab->counts.least += lab->setup.exact &&
				     lab->setup.size[cpu] == BRANCH_WINDOW_MIN;
	}
}

static void lab_branch(struct lab *lab, unsigned int cpu, u64 from, u64 to,
		       u64 info, u64 pc)
{
	struct branch_event *event = lab_branch_once(lab, cpu, from, to, info);

	event->pc = pc;
	event->syscall = pc == UTRACE_PC_SYSCALL;
	lab_interrupts(lab, cpu, to);
}

static struct lab_thread *lab_thread(struct lab *lab, unsigned int cpu)
{
	u8 thread = lab->cpu[cpu].thread;

	return thread == LAB_IDLE ? NULL : &lab->thread[thread];
}

/*
 * Begin an operation of the kernel on a CPU: a thread that runs user code there
 * is interrupted.
 */
static void lab_call(struct lab *lab, unsigned int cpu)
{
	struct lab_thread *thread = lab_thread(lab, cpu);

	if (thread && !thread->kernel)
		lab_branch_once(lab, cpu, thread->at, LAB_KERNEL | 0x10, 0);
}

static void lab_return(struct lab *lab, unsigned int cpu)
{
	struct lab_thread *thread = lab_thread(lab, cpu);

	if (thread && !thread->kernel)
		lab_branch_once(lab, cpu, LAB_KERNEL | 0x800, thread->at, 0);
}

static u64 lab_user(u64 random)
{
	return 0x400000 + (random & 0xffffffffffULL);
}

static u64 lab_kernel(u64 random)
{
	return LAB_KERNEL + 0x1000 + (random & 0xfffff);
}

static u64 lab_info(u64 random)
{
	return random & UTRACE_BRANCH_PREDICTED;
}

/* Make the thread enter the kernel, by an instruction or by another event. */
static void lab_enter(struct lab *lab, unsigned int cpu, u64 seed,
		      const struct branch_entry *entry)
{
	struct lab_thread *thread = lab_thread(lab, cpu);

	/* The second interrupt comes as soon as it is due. */
	if (!thread->notified)
		thread->at += lab_random(&seed) % 40;
	thread->left = thread->at;
	thread->by_insn = entry->pc;
	thread->kernel = true;
	thread->at = entry->address + 4;
	lab_branch(lab, cpu, thread->left, entry->address,
		   lab_info(lab_random(&seed)), entry->pc);
}

static void lab_run_one(struct lab *lab, unsigned int cpu, u64 *seed)
{
	struct lab_thread *thread = lab_thread(lab, cpu);
	u64 *at = thread ? &thread->at : &lab->cpu[cpu].idle_at;
	u64 from, to;

	/* The second interrupt of a thread that must resume its streams. */
	if (thread && !thread->kernel && thread->notified && !thread->late--)
		lab_enter(lab, cpu, *seed, &lab_entries[0]);
	from = *at + lab_random(seed) % 40;
	to = thread && !thread->kernel ? lab_user(lab_random(seed)) :
	     lab_kernel(lab_random(seed));
	*at = to;
	lab_branch(lab, cpu, from, to, lab_info(lab_random(seed)), 0);
}

static void lab_step_enter(struct lab *lab, const struct lab_step *step)
{
	struct lab_thread *thread = lab_thread(lab, step->cpu);
	u64 seed = step->seed, at;

	if (thread && !thread->kernel) {
		lab_enter(lab, step->cpu, seed, &lab_entries[step->n % 5]);
		return;
	}
	/* An interrupt of the kernel. */
	at = (thread ? thread->at : lab->cpu[step->cpu].idle_at) +
	     lab_random(&seed) % 40;
	lab_branch(lab, step->cpu, at, LAB_KERNEL | 0x10, 0, 0);
	lab_branch(lab, step->cpu, LAB_KERNEL | 0x800, at, 0, 0);
}

/* Check that no stream is full, so that the thread may leave the kernel. */
static bool lab_resume(struct lab *lab, const struct lab_step *step,
		       struct lab_thread *thread)
{
	struct branch_window *window = &lab->cpu[step->cpu].fake.window;
	struct lab_consumer *consumer;
	bool resumed = true;
	unsigned int i;

	for (i = 0; i < lab->n_consumers; i++) {
		consumer = &lab->consumer[i];
		if (!consumer->there || consumer->of_cpu ||
		    &lab->thread[consumer->id] != thread)
			continue;
		if (consumer->stream.paused && (step->seed & 3))
			lab_read(consumer, step->seed >> 8 & LAB_BUFFER);
		if (!utrace_branch_window_resume(window, &consumer->stream))
			resumed = false;
	}
	/* Another stream may have been paused in between. */
	for (i = 0; i < lab->n_consumers; i++)
		if (lab->consumer[i].there && !lab->consumer[i].of_cpu &&
		    &lab->thread[lab->consumer[i].id] == thread &&
		    lab->consumer[i].stream.paused)
			resumed = false;
	return resumed;
}

static void lab_step_leave(struct lab *lab, const struct lab_step *step)
{
	struct lab_thread *thread = lab_thread(lab, step->cpu);
	u64 seed = step->seed, to, from;

	if (!thread || !thread->kernel)
		return;
	if (thread->notified && !lab_resume(lab, step, thread))
		return;
	thread->notified = false;
	to = thread->left;
	if (thread->by_insn && step->n % 4)
		to += 2;
	else if (!(step->n % 8))
		to = lab_user(lab_random(&seed));
	from = thread->at + lab_random(&seed) % 40;
	thread->kernel = false;
	thread->at = to;
	lab_branch(lab, step->cpu, from, to, lab_info(lab_random(&seed)), 0);
}

static void lab_step_switch(struct lab *lab, const struct lab_step *step)
{
	struct lab_cpu *cpu = &lab->cpu[step->cpu];
	struct lab_thread *old = lab_thread(lab, step->cpu), *new = NULL;
	u8 id = step->n % (LAB_THREADS + 1);
	const struct utrace_branch task = {
		.from = id == LAB_THREADS ? 0 : id + 100,
		.to = 4026531836ULL + id,
		.info = UTRACE_BRANCH_TASK,
	};

	if (id == LAB_THREADS)
		id = LAB_IDLE;
	else
		new = &lab->thread[id];
	if (old == new || (old && !old->kernel) || (new && new->running))
		return;
	utrace_branch_window_switch(&cpu->fake.window,
				    new ? &new->streams : NULL, &task);
	if (old)
		old->running = false;
	if (new)
		new->running = true;
	cpu->thread = id;
	lab_note(lab, step->cpu, BRANCH_EVENT_TASK)->record = task;
	if (cpu->fake.window.off)
		lab_note_gap(lab, step->cpu, UTRACE_LOSS_OFF, true);
}

/* Consumers */

static bool lab_make(struct lab_consumer *consumer)
{
	return !utrace_branch_buffer_init(&consumer->buffer, consumer->records,
					  consumer->size, consumer->overwrite,
					  consumer->of_cpu) &&
	       !utrace_branch_stream_init(&consumer->stream, consumer->level,
					  &lab_table, &consumer->buffer,
					  consumer->wait ? lab_pause : NULL);
}

static void lab_add(struct lab *lab, struct lab_consumer *consumer)
{
	struct list_head *thread = consumer->of_cpu ? NULL :
				   &lab->thread[consumer->id].streams;
	int cpu = lab_cpu_of(lab, consumer);
	bool added;

	if (consumer->used || consumer->out)
		return;
	consumer->used = true;
	added = lab_make(consumer);
	if (cpu >= 0) {
		lab_call(lab, cpu);
		added &= !utrace_branch_window_add(&lab->cpu[cpu].fake.window,
						   &consumer->stream, thread);
	} else {
		list_add_tail(&consumer->stream.list, thread);
	}
	if (!added)
		lab_wrong(lab, "a consumer cannot be added",
			  consumer - lab->consumer, 0);
	consumer->there = true;
	consumer->wanted = (struct branch_wanted){
		.level = consumer->level,
		.of_cpu = consumer->of_cpu,
		.id = consumer->id,
		.begin = lab->n_events,
		.off = cpu >= 0 && lab->cpu[cpu].fake.window.off,
	};
	if (cpu >= 0)
		lab_return(lab, cpu);
}

static void lab_remove(struct lab *lab, struct lab_consumer *consumer)
{
	int cpu = lab_cpu_of(lab, consumer);

	if (!consumer->there)
		return;
	if (cpu >= 0) {
		lab_call(lab, cpu);
		utrace_branch_window_remove(&lab->cpu[cpu].fake.window,
					    &consumer->stream);
	} else {
		list_del_init(&consumer->stream.list);
	}
	consumer->there = false;
	consumer->wanted.end = lab->n_events;
	if (cpu >= 0)
		lab_return(lab, cpu);
}

/* Steps */

static void lab_step_off(struct lab *lab, const struct lab_step *step)
{
	struct branch_window *window = &lab->cpu[step->cpu].fake.window;
	bool off = step->op == LAB_OFF;
	bool was = window->off;

	lab_call(lab, step->cpu);
	utrace_branch_window_off(window, off);
	if (off && !was)
		lab_note_gap(lab, step->cpu, UTRACE_LOSS_OFF, false);
	lab_return(lab, step->cpu);
}

/* Handle an interrupt with another cause; the tracer is called, too. */
static void lab_step_interrupt(struct lab *lab, const struct lab_step *step)
{
	struct lab_thread *thread = lab_thread(lab, step->cpu);
	u64 at = thread ? thread->at : lab->cpu[step->cpu].idle_at;

	lab_interrupt(lab, step->cpu, at);
	lab_interrupts(lab, step->cpu, at);
}

static void lab_step(struct lab *lab, const struct lab_step *step)
{
	struct lab_consumer *consumer = &lab->consumer[step->n %
						       lab->n_consumers];
	struct lab_cpu *cpu = &lab->cpu[step->cpu];
	u64 seed = step->seed;
	unsigned int i;

	switch (step->op) {
	case LAB_RUN:
		for (i = 0; i < step->n; i++)
			lab_run_one(lab, step->cpu, &seed);
		break;
	case LAB_ENTER:
		lab_step_enter(lab, step);
		break;
	case LAB_LEAVE:
		lab_step_leave(lab, step);
		break;
	case LAB_SWITCH:
		lab_step_switch(lab, step);
		break;
	case LAB_READ:
		if (consumer->used)
			lab_read(consumer, step->seed % 300);
		break;
	case LAB_ADD:
		lab_add(lab, consumer);
		break;
	case LAB_REMOVE:
		lab_remove(lab, consumer);
		break;
	case LAB_DRAIN:
		lab_call(lab, step->cpu);
		utrace_branch_window_drain(&cpu->fake.window);
		lab_return(lab, step->cpu);
		break;
	case LAB_INTERRUPT:
		lab_step_interrupt(lab, step);
		break;
	case LAB_OFF:
	case LAB_ON:
		lab_step_off(lab, step);
		break;
	}
	lab_read_prompt(lab);
}

/* Runs */

static void lab_begin_cpu(struct lab *lab, unsigned int i)
{
	struct lab_cpu *cpu = &lab->cpu[i];
	void *records = cpu->records + LAB_GUARD;

	memset(cpu->records, LAB_PATTERN, sizeof(cpu->records));
	branch_fake_init(&cpu->fake, records + lab->setup.shift[i],
			 lab->setup.size[i]);
	cpu->fake.skid = lab->setup.skid;
	cpu->fake.off_os = lab->setup.off_os;
	cpu->fake.off_usr = lab->setup.off_usr;
	cpu->fake.by_target = lab->setup.by_target;
	cpu->fake.forgets = lab->setup.forgets;
	cpu->fake.full = lab_full;
	cpu->lab = lab;
	cpu->thread = LAB_IDLE;
	cpu->idle_at = LAB_KERNEL;
}

static void lab_begin(struct lab *lab)
{
	unsigned int i;

	lab->n_events = 0;
	lab->wrong = NULL;
	for (i = 0; i < LAB_CPUS; i++)
		lab_begin_cpu(lab, i);
	for (i = 0; i < LAB_THREADS; i++) {
		lab->thread[i] = (struct lab_thread){
			.kernel = true,
			.by_insn = true,
			.at = LAB_KERNEL,
			.left = lab_user(i),
		};
		INIT_LIST_HEAD(&lab->thread[i].streams);
	}
	for (i = 0; i < lab->n_consumers; i++) {
		lab->consumer[i].lab = lab;
		lab->consumer[i].n = 0;
		lab->consumer[i].got = lab->got[i];
		lab->consumer[i].used = false;
		lab->consumer[i].there = false;
		if (!lab->consumer[i].late)
			lab_add(lab, &lab->consumer[i]);
	}
}

/* Check that nothing around the window was written. */
static void lab_check_guard(struct lab *lab, unsigned int i)
{
	const u8 *byte = (const u8 *)lab->cpu[i].records;
	const struct branch_store *store = &lab->cpu[i].fake.store;
	const u8 *end = byte + sizeof(lab->cpu[i].records);

	for (; byte < end; byte++)
		if (((unsigned long)byte < store->base ||
		     (unsigned long)byte >= store->max) &&
		    *byte != LAB_PATTERN)
			lab_wrong(lab, "a write missed the window", i, 0);
}

/* Read the rest, and the pending losses of the ring. */
static void lab_read_rest(struct lab *lab, unsigned int i)
{
	struct lab_consumer *consumer = &lab->consumer[i];

	do {
		lab_read(consumer, LAB_RECORDS);
	} while (!utrace_branch_buffer_write_losses(&consumer->buffer) &&
		 consumer->n < LAB_RECORDS);
	lab_read(consumer, LAB_RECORDS);
	if (consumer->n == LAB_RECORDS)
		lab_wrong(lab, "no memory for a stream", i,
			  consumer->n);
}

/* End all threads, and read everything. */
static void lab_end(struct lab *lab)
{
	struct lab_consumer *consumer;
	unsigned int i;

	for (i = 0; i < lab->n_consumers; i++) {
		consumer = &lab->consumer[i];
		if (!consumer->used)
			continue;
		if (consumer->there && !consumer->of_cpu) {
			lab_remove(lab, consumer);
			utrace_branch_stream_finish(&consumer->stream);
			consumer->wanted.finished = true;
		}
		lab_remove(lab, consumer);
		lab_read_prompt(lab);
	}
	for (i = 0; i < lab->n_consumers; i++)
		if (lab->consumer[i].used)
			lab_read_rest(lab, i);
	for (i = 0; i < LAB_CPUS; i++)
		lab_check_guard(lab, i);
}

/**
 * lab_run() - make all steps, and read what the consumers get
 * @lab: setup, steps and consumers are filled in
 */
void lab_run(struct lab *lab)
{
	unsigned int i;

	lab_begin(lab);
	for (i = 0; i < lab->n_steps && !lab->wrong; i++)
		if (!lab->steps[i].out)
			lab_step(lab, &lab->steps[i]);
	lab_end(lab);
}
