#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
#
# Usage: signals.py TRACER SLEEPER FOLDER [CASE...]
# Send signals to strace or utrace and to the program that it traces, and print
# how both end. TRACER is a command with options; -e, -o FILE, -p PID and the
# program are added. One line a case, which begins with its name:
#
#   run|attach -o|err SIGNAL tty|kill ACTION: tracer END, program END, LAST
#
# -o stands for a log, err for standard error. The signal comes by kill(2) to the
# tracer only, or from the terminal, whose foreground group has the tracer and,
# unless the tracer was attached to it, the program. ACTION is what the program
# does at the signal. If the tracer goes on for a second the program is killed,
# and END also says how the tracer ends then. LAST is the last line of the log;
# without a log, or of attach, whether the tracer said that it has detached, but
# "in any order" if a signal from the terminal ends the program as well.
import ctypes
import fcntl
import os
import pty
import re
import shlex
import signal
import sys
import termios
import time

PATIENCE = int(os.environ.get('PATIENCE', '1'))
KEYS = {'INT': b'\x03', 'QUIT': b'\x1c', 'TSTP': b'\x1a'}
PR_SET_CHILD_SUBREAPER = 36


def number(name):
    return getattr(signal, 'SIG' + name)


def text_of(status):
    """A wait status as text."""
    if os.WIFSIGNALED(status):
        return signal.Signals(os.WTERMSIG(status)).name
    return f'exit {os.WEXITSTATUS(status)}'


def await_true(test, seconds=20):
    end = time.monotonic() + seconds * PATIENCE
    while not test():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def read(path):
    try:
        with open(path, 'rb') as file:
            return file.read().decode(errors='replace')
    except OSError:
        return ''


def state(pid):
    """The letter of the state of a process, '' if there is none."""
    found = re.search(r'^State:\t(.)', read(f'/proc/{pid}/status'), re.M)
    return found[1] if found else ''


def start(command, said, terminal=None):
    """Start a command in a group of its own, the foreground of a terminal."""
    pid = os.fork()
    if pid:
        return pid
    os.setpgid(0, 0)
    if terminal is not None:
        os.tcsetpgrp(terminal, os.getpid())
    os.dup2(os.open(said, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666), 2)
    for name in ('INT', 'QUIT', 'HUP', 'PIPE', 'TTOU'):
        signal.signal(number(name), signal.SIG_DFL)
    os.execvp(command[0], command)


class Children:
    """The ends of children; orphans of the tracer become children, too."""

    def __init__(self):
        self.ends = {}

    def ended(self, pid):
        while pid not in self.ends:
            try:
                got, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                break
            if not got:
                break
            self.ends[got] = text_of(status)
        return pid in self.ends


def seen(pid):
    """Does a tracer see what the process does?"""
    if not re.search(r'^TracerPid:\t0$', read(f'/proc/{pid}/status'), re.M):
        return True
    return bool(re.search(r'^dev .* (clone|exec|exit|syscall)',
                          read(f'/proc/{pid}/utrace'), re.M))


class Case:
    def __init__(self, name, tracer, sleeper, folder, terminal):
        (self.mode, self.output, self.signal, self.source,
         self.action) = name.split()
        self.tracer = shlex.split(tracer)
        self.sleeper = sleeper
        self.ready = folder + '/ready'
        self.log = folder + '/log'
        self.said = folder + '/said'
        self.terminal = terminal
        self.children = Children()

    def program(self):
        arguments = [self.sleeper, self.ready]
        if self.action != 'default':
            arguments += [str(int(number(self.signal))), self.action]
        return arguments

    def start(self):
        """Start tracer and program; return whether the one sees the other."""
        for path in (self.ready, self.log, self.said):
            if os.path.exists(path):
                os.unlink(path)
        command = self.tracer + ['-e', 'trace=pause,exit_group']
        if self.output == '-o':
            command += ['-o', self.log]
        if self.mode == 'attach':
            self.pid = start(self.program(), self.said)
            await_true(lambda: '\n' in read(self.ready))
            command += ['-p', str(self.pid)]
        else:
            command += self.program()
        self.job = start(command, self.said, self.terminal[1])
        if not await_true(lambda: '\n' in read(self.ready)):
            return False
        self.pid = int(read(self.ready).split()[0])
        if not await_true(lambda: seen(self.pid)):
            return False
        # The tracer has to see pause() before the signal.
        time.sleep(0.3 * PATIENCE)
        return True

    def send(self):
        if self.source == 'tty' and self.signal in KEYS:
            os.write(self.terminal[0], KEYS[self.signal])
        elif self.source == 'tty':
            os.killpg(self.job, number(self.signal))
        else:
            os.kill(self.job, number(self.signal))

    def end_of(self, pid, seconds=1):
        """How a child, or a child of the tracer, has ended a second later."""
        def has_ended():
            return self.children.ended(pid) or state(pid) in ('Z', '')

        if not await_true(has_ended, seconds):
            return 'goes on'
        self.children.ended(pid)
        # Two that get a signal from the terminal end in any order, so either
        # the tracer or this test has the status of the program.
        if pid != self.job and self.source == 'tty':
            return 'ends'
        return self.children.ends.get(pid, 'ends')

    def last_line(self):
        # A program that ends by a signal from the terminal may have ended
        # before the tracer of the same group detaches.
        if (self.mode, self.output, self.source) == ('run', 'err', 'tty') and \
                self.action != 'note':
            return 'in any order'
        if self.output != '-o' or self.mode == 'attach':
            return 'detached' if 'detached\n' in read(self.said) else 'nothing'
        line = (read(self.log).splitlines() or [''])[-1]
        return re.sub(r'^.*<detached ...>$', 'detached', line)

    def run(self):
        if not self.start():
            return 'did not start: ' + read(self.said)
        self.send()
        tracer = self.end_of(self.job)
        # The program has had the second for which the tracer goes on.
        program = self.end_of(self.pid, 0 if tracer == 'goes on' else 1)
        if 'noted' in read(self.ready):
            program += ' (noted)'
        if state(self.pid) not in ('Z', ''):
            os.kill(self.pid, signal.SIGKILL)
        if tracer == 'goes on':
            tracer += ', then ' + self.end_of(self.job)
        if not await_true(lambda: self.children.ended(self.job), 5):
            os.kill(self.job, signal.SIGKILL)
        await_true(lambda: self.children.ended(self.pid), 0)
        return f'tracer {tracer}, program {program}, {self.last_line()}'


def cases():
    for output in ('-o', 'err'):
        for name in ('INT', 'QUIT', 'TERM', 'HUP', 'PIPE'):
            for source in ('tty', 'kill'):
                for action in ('default', 'exit', 'note'):
                    yield f'run {output} {name} {source} {action}'
            for source in ('tty', 'kill'):
                yield f'attach {output} {name} {source} default'


def main():
    # A child, as the leader of a group cannot begin a session.
    if pid := os.fork():
        sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
    os.setsid()
    terminal = pty.openpty()
    fcntl.ioctl(terminal[1], termios.TIOCSCTTY, 0)
    signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)
    for name in sys.argv[4:] or cases():
        case = Case(name, *sys.argv[1:4], terminal)
        print(f'{name}: {case.run()}', flush=True)


main()
