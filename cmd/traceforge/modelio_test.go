package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/traceforge/traceforge-go/modelio"
)

// runSession is the command session SIZE, which prints a session with a response of SIZE bytes.
func runSession() {
	size, err := strconv.Atoi(os.Args[1])
	if err == nil {
		session := modelio.NewSession("test", "model")
		session.Append("prompt", strings.Repeat("x", size))
		var text []byte
		if text, err = session.Encode(); err == nil {
			_, err = os.Stdout.Write(text)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
