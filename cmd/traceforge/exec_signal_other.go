//go:build !unix

package main

import (
	"os"
	"os/signal"
)

// passSignals keeps this process alive until the program has ended: the console notifies both of Ctrl-C.
func passSignals(<-chan *os.Process) (stop func()) {
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, os.Interrupt)
	return func() { signal.Stop(signals) }
}

// exitCodeOf returns the exit code of a process that ended.
func exitCodeOf(state *os.ProcessState) int { return state.ExitCode() }
