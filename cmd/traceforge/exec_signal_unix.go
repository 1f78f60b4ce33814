//go:build unix

package main

import (
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/term"
)

// passSignals forwards signals to the program, once it has started, since this process must see the program end. Ctrl-C
// on a terminal reaches both.
func passSignals(started <-chan *os.Process) (stop func()) {
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2)
	if !signal.Ignored(syscall.SIGHUP) { // by nohup, for the program too
		signal.Notify(signals, syscall.SIGHUP)
	}
	go func() {
		to, runs := <-started
		for s := range signals {
			fromKeys := (s == syscall.SIGINT || s == syscall.SIGQUIT) && term.IsTerminal(int(os.Stdin.Fd()))
			if runs && !fromKeys {
				to.Signal(s) // it may have ended already
			}
		}
	}()
	return func() {
		signal.Stop(signals)
		close(signals)
	}
}

// exitCodeOf returns the exit code of a process that ended.
func exitCodeOf(state *os.ProcessState) int {
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal())
	}
	return state.ExitCode()
}
