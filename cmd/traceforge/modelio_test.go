package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/traceforge/traceforge-go/modelio/session"
)

// runSession is the command session SIZE, which prints a session with a response of SIZE bytes.
func runSession() {
	size, err := strconv.Atoi(os.Args[1])
	if err == nil {
		s := session.New("test", "model")
		s.Append("prompt", strings.Repeat("x", size))
		var text []byte
		if text, err = s.Encode(); err == nil {
			_, err = os.Stdout.Write(text)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
