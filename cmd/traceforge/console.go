package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strconv"
	"strings"

	"golang.org/x/term"

	"github.com/traceforge/traceforge-go/internal/gotest"
	"github.com/traceforge/traceforge-go/internal/page"
	"github.com/traceforge/traceforge-go/internal/plaintext"
	"github.com/traceforge/traceforge-go/internal/secret"
	"github.com/traceforge/traceforge-go/snapshot"
)

// A console is a command's input and output. The answer goes to stdout, everything else to stderr. Whether the answer
// could be written is known when the command has ended: an error of stdout is sticky.
type console struct {
	stdin  io.Reader
	stdout *bufio.Writer
	out    io.Writer // the destination of stdout, for programs that this one runs
	stderr io.Writer

	secrets  *secret.Scanner // of this process, never printed
	terminal bool            // stdout is a terminal
	color    bool            // the user wants colour

	named  string // the store that the user names, or ""
	noHelp error  // why the requested help cannot be shown
	failed error  // see fail
}

func newConsole(stdin io.Reader, stdout, stderr io.Writer) *console {
	terminal := isTerminal(stdout)
	secrets := secret.New()
	secrets.Environment(os.Environ())
	return &console{
		secrets: secrets,
		stdin:   stdin, stdout: bufio.NewWriter(stdout), out: stdout, stderr: stderr,
		terminal: terminal, color: terminal && wantsColor(os.Getenv),
	}
}

func isTerminal(out io.Writer) bool {
	file, ok := out.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// wantsColor reports whether a terminal's user wants colour (no-color.org).
func wantsColor(getenv func(string) string) bool {
	return getenv("NO_COLOR") == "" && getenv("TERM") != "dumb"
}

// json writes a value as JSON.
func (c *console) json(v any) {
	text, err := json.Marshal(v)
	c.fail(err)
	fmt.Fprintln(c.stdout, plaintext.Line(string(text)))
}

// fail notes why a part of the answer could not be made or written, if err is not nil. The command tells it when it
// ends.
func (c *console) fail(err error) { c.failed = errors.Join(c.failed, err) }

// say writes a line to stderr, after the answer so far.
func (c *console) say(format string, args ...any) {
	c.stdout.Flush() // an error is sticky
	fmt.Fprintln(c.stderr, plaintext.Text(c.spelled(c.secrets.Mask(fmt.Sprintf(format, args...)))))
}

// waits reports that a command is waiting.
func (c *console) waits(holder string) { c.say("waiting for the store, which %s holds", holder) }

// complain reports an error of the named command, if there is one with a text.
func (c *console) complain(name string, err error) {
	var e exit
	if err == nil || errors.As(err, &e) && e.err == nil {
		return
	}
	c.say("%s: %s", name, strings.TrimSuffix(err.Error(), "\n"))
	var usage usageError
	if errors.As(err, &usage) {
		c.say("run %s --help", name)
	}
}

// line writes lines of the answer, made safe to print.
func (c *console) line(lines ...string) {
	for _, line := range lines {
		fmt.Fprintln(c.stdout, plaintext.Line(c.spelled(c.secrets.Mask(line))))
	}
}

// spelled returns a text whose command lines are adapted to the working directory and the store.
func (c *console) spelled(text string) string {
	wd, _ := os.Getwd() // if it is unknown, its module is unknown too
	return gotest.Spelled(text, wd, c.named)
}

// command writes a workflow command to stderr, where it must start a line unchanged.
func (c *console) command(command string) {
	c.stdout.Flush()
	fmt.Fprintln(c.stderr, c.secrets.Mask(command))
}

// sayAll writes lines to stderr.
func (c *console) sayAll(lines []string) {
	for _, line := range lines {
		c.say("%s", line)
	}
}

// text writes lines of the answer.
func (c *console) text(text string) { fmt.Fprint(c.stdout, plaintext.Text(c.secrets.Mask(text))) }

// table writes a table: for people on a terminal, otherwise for programs.
func (c *console) table(t *page.Table) {
	write := func(line string) bool {
		_, err := fmt.Fprintln(c.stdout, c.secrets.Mask(line))
		return err == nil
	}
	if c.terminal {
		t.Aligned(write, c.width())
	} else {
		t.Tabbed(write)
	}
}

// page returns a page that is written to out, in colour if the user wants it on that terminal.
func (c *console) page(out io.Writer) *page.Page {
	return &page.Page{Out: out, Width: c.width(), Color: c.color && out == io.Writer(c.stdout)}
}

// The default width of a line and the minimum width, in characters.
const usualWidth, leastWidth = 100, 40

// width returns the width of a line in characters: from the shell, otherwise from the terminal.
func (c *console) width() int {
	columns := os.Getenv("COLUMNS")
	width, err := strconv.Atoi(columns)
	if columns == "" && c.terminal {
		width, _, err = term.GetSize(int(os.Stdout.Fd()))
	}
	if err != nil {
		return usualWidth
	}
	return max(width, leastWidth)
}

// lineEnds matches the line breaks of a message that continues on another line, like SF's wording for a rejected
// version.
var lineEnds = regexp.MustCompile(`\s*\n\s*`)

// finding writes a finding as a line of the answer.
func (c *console) finding(f snapshot.Finding) {
	f.Message = lineEnds.ReplaceAllString(strings.TrimSpace(f.Message), "; ")
	c.line(f.String())
}
