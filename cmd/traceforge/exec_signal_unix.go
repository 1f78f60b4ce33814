//go:build unix

package main

import (
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/term"
)

// passSignals passes on what would end this process, which has to see the end of the program. Ctrl-C on a terminal
// reaches both.
func passSignals(to *os.Process) (stop func()) {
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	go func() {
		for s := range signals {
			if fromKeys := s == syscall.SIGINT || s == syscall.SIGQUIT; !fromKeys || !term.IsTerminal(int(os.Stdin.Fd())) {
				to.Signal(s) // it may have ended
			}
		}
	}()
	return func() {
		signal.Stop(signals)
		close(signals)
	}
}

// exitCodeOf returns how a process ended.
func exitCodeOf(state *os.ProcessState) int {
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal())
	}
	return state.ExitCode()
}
