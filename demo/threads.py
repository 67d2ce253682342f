#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Four threads that write, examine, read back and remove files."""
import os
import tempfile
import threading
import time

total = 0
lock = threading.Lock()


def work(folder, me):
    global total
    for n in range(5):
        name = os.path.join(folder, f"{me}.{n}")
        with open(name, "w") as f:
            f.write("x" * 100 * (n + 1))
        with open(name) as f:
            size = len(f.read())
        os.unlink(name)
        with lock:
            total += size


with tempfile.TemporaryDirectory() as folder:
    threads = [threading.Thread(target=work, args=(folder, i)) for i in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()

# A joined thread may still be on its last system calls. If our exit ended it
# during one of them, it would depend on luck which tracer saw the call.
while len(os.listdir("/proc/self/task")) > 1:
    time.sleep(0.01)
print("python3: 4 threads,", total, "bytes")
