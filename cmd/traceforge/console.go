package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// A console is what a command reads from and writes to. What it writes to stdout is its answer,
// what it says beside it goes to stderr.
type console struct {
	stdin  io.Reader
	stdout *bufio.Writer
	stderr io.Writer
	color  bool // stdout takes escape sequences
}

func newConsole(stdin io.Reader, stdout, stderr io.Writer) *console {
	return &console{stdin: stdin, stdout: bufio.NewWriter(stdout), stderr: stderr, color: takesColor(stdout, os.Getenv)}
}

// takesColor reports whether out is a terminal whose user wants colour (no-color.org).
func takesColor(out io.Writer, getenv func(string) string) bool {
	file, ok := out.(*os.File)
	if !ok || getenv("NO_COLOR") != "" || getenv("TERM") == "dumb" {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// say writes a line to stderr.
func (c *console) say(format string, args ...any) {
	fmt.Fprintln(c.stderr, printableText(fmt.Sprintf(format, args...)))
}

// complain says what went wrong with the named command.
func (c *console) complain(name string, err error) {
	var e exit
	if errors.As(err, &e) && e.err == nil {
		return
	}
	c.say("%s: %s", name, strings.TrimSuffix(err.Error(), "\n"))
	var usage usageError
	if errors.As(err, &usage) {
		c.say("run %s --help", name)
	}
}
