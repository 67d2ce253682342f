// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - a threaded program whose threads throw and catch
 *
 * The program stops itself before that, so that a test can begin there.
 */
#include <csignal>
#include <stdexcept>
#include <thread>

namespace {

struct counted {
	int &n;

	explicit counted(int &number) : n(number) {}
	~counted() { n++; }
};

void dive(int depth, int &n)
{
	counted one(n);

	if (!depth)
		throw std::runtime_error("ground");
	dive(depth - 1, n);
}

void dive_and_come_back(int depth, int &n)
{
	try {
		dive(depth, n);
	} catch (const std::exception &) {
		n *= 2;
	}
}

}

int main()
{
	int n[2] = {};

	raise(SIGSTOP);

	std::thread other(dive_and_come_back, 3, std::ref(n[0]));

	dive_and_come_back(2, n[1]);
	other.join();
	return n[0] != 8 || n[1] != 6;
}
