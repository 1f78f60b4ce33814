package main

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

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

// TestSessionFromAPipe: a session that can be read only once answers prompts, as in traceforge modelio replay <(gunzip -c s.gz).
func TestSessionFromAPipe(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no such file names")
	}
	r, w, err := os.Pipe()
	require.NoError(t, err)
	defer r.Close()
	s := session.New("test", "model")
	s.Append("Hello", "Hi")
	text, err := s.Encode()
	require.NoError(t, err)
	_, err = w.Write(text)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	code, told, said := run(`"Hello"`, "modelio", "replay", fmt.Sprint("/dev/fd/", r.Fd()))
	require.Equal(t, exitClean, code, said)
	require.Equal(t, "\"Hi\"\n", told)
}
