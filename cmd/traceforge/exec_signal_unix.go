//go:build unix

package main

import (
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/term"
)

// passSignals passes on to a program, once it has started, what would end this process, which has to see its end. Ctrl-C
// on a terminal reaches both.
func passSignals(started <-chan *os.Process) (stop func()) {
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	go func() {
		to, runs := <-started
		for s := range signals {
			fromKeys := (s == syscall.SIGINT || s == syscall.SIGQUIT) && term.IsTerminal(int(os.Stdin.Fd()))
			if runs && !fromKeys {
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
