#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""utrace selftests - files of 'utrace branches record', and flame graphs

branchfile.py make FOLDER PROGRAM
    write files with known records of PROGRAM, and files that are wrong, each
    named after its kind
branchfile.py types FILE
    print how many records of each type a file has, and other chunks
branchfile.py folded FILE.svg
    print the stacks of a flame graph, and the branches of each

The layout is defined here again, and not taken from the command.
"""
import collections
import functools
import struct
import subprocess
import sys
import xml.etree.ElementTree

ABOUT, OBJECT, SPACE, RECORDS, END = range(1, 6)
TYPES = 'BRANCH TASK START END LOST HIDDEN'.split()
BRANCH, TASK, START, EXIT, LOST, HIDDEN = range(6)
COND, JUMP, IJUMP, CALL, ICALL, RET, SYSCALL, SYSRET = range(1, 9)
PC = 0xfffffffffffff000
ASYNC, SYS, SIGNAL, SIGRETURN, EXEC = (PC + x for x in (2, 0x10, 0x20, 0x21, 0x22))
BASE = 0x10000000
HEIGHT = 18	# of the boxes of a flame graph, with the gap between two


def text(string, size):
    return string.encode().ljust(size, b'\0')


def chunk(kind, data, size=None):
    return struct.pack('<IIQ', kind, 0, len(data) if size is None else size) + data


def record(start, to, kind=0, what=BRANCH):
    return struct.pack('<QQQ', start, to, kind << 8 | what)


def header(magic=b'uTraceBr', version=1):
    return struct.pack('<8sII', magic, version, 16) + \
        chunk(ABOUT, struct.pack('<q', 1700000000) + text('a test', 4096))


def one_object(path, size=0, id_size=0):
    return chunk(OBJECT, struct.pack('<QB31s', size, id_size, b'') + text(path, 4096))


def mapping(start=BASE, end=BASE + (1 << 20), offset=0, number=0):
    return struct.pack('<QQQQ', start, end, offset, number)


def space(path, pid=7, flags=1, maps=None):
    return chunk(SPACE, struct.pack('<II', pid, flags) + text(path, 4096) +
                 (mapping() if maps is None else maps))


def task(tid=7, pid=7, inode=99):
    return record(pid << 32 | tid, inode, what=TASK)


def end(n, lost=0):
    return chunk(END, struct.pack('<QQQ', n, lost, 1500))


def symbols(program):
    """Addresses of functions, where the file is mapped."""
    lines = subprocess.run(['nm', program], capture_output=True, text=True,
                           check=True).stdout.splitlines()
    return {x.split()[2]: BASE + int(x.split()[0], 16)
            for x in lines if len(x.split()) == 3}


def known(at):
    """Known stacks: calls, a tail call, a longjmp(), a signal, recursion."""
    main, outer, inner = at['main'], at['outer'], at['inner']
    r = [task(), record(0, main, what=START)]
    r += [record(main + 4, outer, CALL)]
    for _ in range(3):
        r += [record(outer + 2, inner, CALL)]
        r += [record(inner + 3, inner + 1, COND)] * 5
        r += [record(inner + 6, outer + 7, RET)]
    # outer() goes on as jump(), which calls thrower(), and a longjmp() returns.
    r += [record(outer + 9, at['jump'], JUMP)]
    r += [record(at['jump'] + 3, at['thrower'], CALL)]
    r += [record(at['thrower'] + 2, inner, CALL)]
    r += [record(inner + 8, at['jump'] + 8, IJUMP)]
    # A handler comes in between, and returns by a system call.
    r += [record(SIGNAL, at['handler'], SYSRET)]
    r += [record(at['handler'] + 1, inner, ICALL)]
    r += [record(inner + 6, at['handler'] + 3, RET)]
    r += [record(at['handler'] + 4, SYS, SYSCALL)]
    r += [record(SIGRETURN, at['jump'] + 10, SYSRET)]
    r += [record(at['jump'] + 12, main + 9, RET)]
    # A function calls itself, and returns.
    victim = at['victim']
    r += [record(main + 9, victim, CALL), record(victim + 2, victim, CALL)]
    r += [record(victim + 5, victim + 7, RET), record(victim + 8, main + 14, RET)]
    r += [record(main + 15, SYS, SYSCALL), record(main + 15, 0, what=EXIT)]
    return r


def good(program, kind):
    r = known(symbols(program))
    if kind == 'lost':
        r.insert(9, record(1234, 0, what=LOST))
    if kind == 'hidden':
        r.insert(9, record(0, 0, what=HIDDEN))
    if kind == 'nowhere':
        r.insert(9, record(0x5000, 0x6000, COND))
    path = program if kind != 'gone' else '/no/such/program'
    number = 0 if kind != 'changed' else 20
    data = header() + one_object(path, id_size=number) + space(path)
    if kind == 'newer':
        data += chunk(77, b'x' * 80)
    data += chunk(RECORDS, b''.join(r))
    if kind == 'cut':
        return data[:-30]
    return data + end(len(r), 1234 if kind == 'lost' else 0)


def escape(program):
    name = '/tmp/\033[2J<&">'
    r = known(symbols(program))
    return header() + one_object(name) + space(name) + \
        chunk(RECORDS, b''.join(r)) + end(len(r))


BAD = {
    'empty': lambda p: b'',
    'magic': lambda p: header(magic=b'uTraceXX'),
    'version': lambda p: header(version=2),
    'short-about': lambda p: header() + chunk(ABOUT, b'x' * 16),
    'no-nul': lambda p: header() + chunk(ABOUT, b'x' * 4104),
    'huge-chunk': lambda p: header() + chunk(RECORDS, b'x' * 24, 1 << 62),
    'odd-chunk': lambda p: header() + chunk(99, b'x' * 7),
    'part-record': lambda p: header() + chunk(RECORDS, b'x' * 32),
    'object-size': lambda p: header() + one_object(p, size=1 << 40),
    'object-id': lambda p: header() + one_object(p, id_size=200),
    'no-object': lambda p: header() + space(p),
    'backward': lambda p: header() + one_object(p) +
                space(p, maps=mapping(2, 1)),
    'part-mapping': lambda p: header() + one_object(p) + space(p, maps=b'x' * 8),
    'many-mappings': lambda p: header() + one_object(p) +
                     space(p, maps=mapping() * 70000),
    'wrong-count': lambda p: header() + end(5),
    'short-end': lambda p: header() + chunk(END, b'x' * 8),
}


GOOD = 'known lost hidden nowhere gone changed newer cut'.split()


def make(folder, program):
    files = {kind: good(program, kind) for kind in GOOD}
    files['escape'] = escape(program)
    files.update({kind: data(program) for kind, data in BAD.items()})
    for kind, data in files.items():
        with open(f'{folder}/{kind}', 'wb') as file:
            file.write(data)


def types(path):
    with open(path, 'rb') as file:
        data = file.read()
    counts, at = {}, 16
    while at < len(data):
        kind, _, size = struct.unpack_from('<IIQ', data, at)
        at += 16
        if kind == RECORDS:
            for low, n in collections.Counter(data[at + 16:at + size:24]).items():
                name = TYPES[low & 15]
                counts[name] = counts.get(name, 0) + n
        else:
            name = f'chunk-{kind}'
            counts[name] = counts.get(name, 0) + 1
        at += size
    for name, n in sorted(counts.items()):
        print(name, n)


def folded(path):
    """A box is above the box of its caller."""
    svg = '{http://www.w3.org/2000/svg}'
    boxes = []
    for group in xml.etree.ElementTree.parse(path).iter(svg + 'g'):
        rect = group.find(svg + 'rect')
        lines = group.find(svg + 'title').text.split('\n')
        boxes.append((lines[0].rsplit(' (')[0], *(float(rect.get(x))
                      for x in ('x', 'y', 'width')), int(lines[1].split()[0])))
    rows = {}
    for box in boxes:
        rows.setdefault(round(box[2]), []).append(box)

    @functools.cache
    def stack(box):
        row = round(box[2]) + HEIGHT
        below = [b for b in rows.get(row, []) if
                 b[1] <= box[1] + .01 and box[1] < b[1] + b[3]]
        below = max(below, key=lambda b: b[1], default=None)
        return (stack(below) + ';' if below else '') + box[0]
    for box in boxes:
        print(stack(box), box[4])


if __name__ == '__main__':
    {'make': make, 'types': types, 'folded': folded}[sys.argv[1]](*sys.argv[2:])
