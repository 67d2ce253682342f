// SPDX-License-Identifier: GPL-2.0
//
// utrace selftests - the program that the debugger of Go works on
//
// "goroutines FILE" writes the pid to FILE, and calls work() in two goroutines for
// ever.
package main

import (
	"os"
	"strconv"
	"syscall"
	"time"
)

// A debugger has a breakpoint here, and strace sees the system call.
//
//go:noinline
func work(n int) int {
	return n + syscall.Getppid()
}

func worker() {
	for n := 0; ; n++ {
		work(n)
		time.Sleep(10 * time.Millisecond)
	}
}

func main() {
	pid := []byte(strconv.Itoa(os.Getpid()))
	if os.WriteFile(os.Args[1], pid, 0644) != nil {
		os.Exit(1)
	}
	go worker()
	worker()
}
