// SPDX-License-Identifier: GPL-2.0
/*
 * utrace tests - KUnit suite utrace_words: words in the files of the process
 * tracer
 */
#include <kunit/test.h>
#include <linux/seq_file.h>
#include <linux/string.h>

#include "../../ftrace/words.h"

static const struct process_setting words_setting = { .name = "test" };

/* Prepare to parse words from a copy of @text. */
static struct process_words *words_of(struct kunit *test, const char *text)
{
	struct process_words *words =
		kunit_kzalloc(test, sizeof(*words), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, words);
	words->setting = &words_setting;
	words->text = kunit_kmalloc(test, strlen(text) + 1, GFP_KERNEL);
	words->shown = kunit_kmalloc(test, strlen(text) + 1, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, words->text);
	KUNIT_ASSERT_NOT_NULL(test, words->shown);
	memcpy(words->text, text, strlen(text) + 1);
	memcpy(words->shown, text, strlen(text) + 1);
	words->next = words->text;
	return words;
}

static void expect_word(struct kunit *test, struct process_words *words,
			const char *word, bool remove, size_t at)
{
	KUNIT_ASSERT_EQ(test, utrace_ftrace_next_word(words), 1);
	KUNIT_EXPECT_STREQ(test, words->word, word);
	KUNIT_EXPECT_EQ(test, words->remove, remove);
	KUNIT_EXPECT_EQ(test, words->at, at);
}

static void words_are_split(struct kunit *test)
{
	struct process_words *words = words_of(test, "  one two\tthree\n\nfour");

	expect_word(test, words, "one", false, 2);
	expect_word(test, words, "two", false, 6);
	expect_word(test, words, "three", false, 10);
	expect_word(test, words, "four", false, 17);
	KUNIT_EXPECT_EQ(test, utrace_ftrace_next_word(words), 0);
	KUNIT_EXPECT_EQ(test, utrace_ftrace_next_word(words), 0);
}

static void nothing_has_no_words(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, utrace_ftrace_next_word(words_of(test, "")), 0);
	KUNIT_EXPECT_EQ(test, utrace_ftrace_next_word(words_of(test, " \t\n")), 0);
}

static void words_are_removed(struct kunit *test)
{
	struct process_words *words = words_of(test, "!one two !\"three !\"");

	expect_word(test, words, "one", true, 0);
	expect_word(test, words, "two", false, 5);
	expect_word(test, words, "three !", true, 9);
	KUNIT_EXPECT_EQ(test, utrace_ftrace_next_word(words), 0);
}

static void quotes_keep_blanks(struct kunit *test)
{
	struct process_words *words = words_of(test, "\"a b\" \"!c\" d\"e");

	expect_word(test, words, "a b", false, 0);
	expect_word(test, words, "!c", false, 6);
	expect_word(test, words, "d\"e", false, 11);
	KUNIT_EXPECT_EQ(test, utrace_ftrace_next_word(words), 0);
}

static void bad_syntax_is_refused(struct kunit *test)
{
	static const char * const bad[] = {
		"!", "one ! two", "\"one", "!\"one", "\"\"", "!\"\"", "one \"",
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		struct process_words *words = words_of(test, bad[i]);
		int ret;

		while ((ret = utrace_ftrace_next_word(words)) > 0)
			;
		KUNIT_EXPECT_EQ_MSG(test, ret, -EINVAL, "%s", bad[i]);
	}
}

/* The text that a file shows can be written back to it. */
static void words_come_back(struct kunit *test)
{
	static const char * const word[] = {
		"one", "t wo", "!three", "fo\tur", "a\"b"
	};
	char buf[128] = "";
	struct seq_file m = { .buf = buf, .size = sizeof(buf) - 1 };
	struct process_words *words;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(word); i++)
		utrace_ftrace_show_word(&m, word[i]);
	words = words_of(test, buf);
	for (i = 0; i < ARRAY_SIZE(word); i++) {
		KUNIT_ASSERT_EQ(test, utrace_ftrace_next_word(words), 1);
		KUNIT_EXPECT_STREQ(test, words->word, word[i]);
		KUNIT_EXPECT_FALSE(test, words->remove);
	}
	KUNIT_EXPECT_EQ(test, utrace_ftrace_next_word(words), 0);
}

static struct kunit_case words_cases[] = {
	KUNIT_CASE(words_are_split),
	KUNIT_CASE(nothing_has_no_words),
	KUNIT_CASE(words_are_removed),
	KUNIT_CASE(quotes_keep_blanks),
	KUNIT_CASE(bad_syntax_is_refused),
	KUNIT_CASE(words_come_back),
	{}
};

static struct kunit_suite words_suite = {
	.name = "utrace_words",
	.test_cases = words_cases,
};

kunit_test_suite(words_suite);

MODULE_DESCRIPTION("KUnit suite for the files of the process tracer");
MODULE_LICENSE("GPL");
