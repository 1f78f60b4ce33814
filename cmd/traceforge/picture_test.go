//go:build unix

package main // a pseudo-terminal is a thing of Unix

import (
	goflag "flag"
	"fmt"
	"html"
	"os"
	osexec "os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/creack/pty"
	"github.com/hinshun/vt10x"
	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/fakeprovider"
	"github.com/traceforge/traceforge-go/internal/tbtest/toy"
)

var takePicture = goflag.Bool("picture", false, "write the README's picture of a terminal again")

const (
	pictureFile    = "../../docs/images/terminal.svg"
	pictureColumns = 100 // at 7.8 pixels each, and a margin, they fit the 830 pixels that GitHub shows
)

// TestPicture holds that the README's picture of a terminal says what the commands print: those of docs/getting-started.md, run in
// a terminal, with the fake provider in place of a real one. With -picture it takes the picture again.
func TestPicture(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("runs go test many times")
	}
	p, err := newPage("../../docs/getting-started.md")
	require.NoError(t, err)
	dir := toy.Dir(t)
	program := p.file("summarize.go")
	require.NoError(t, writeFiles(dir, map[string]string{
		"go.mod": "module example.com/hello\n\ngo 1.25\n", "summarize.go": program, "summarize_test.go": p.file("summarize_test.go"),
	}))
	require.NoError(t, requireOpenAI(dir))
	provider, err := fakeprovider.Start()
	require.NoError(t, err)
	defer provider.Close()
	provider.Handle(fakeprovider.Echo())
	live := []string{"OPENAI_BASE_URL=" + provider.URL() + "/v1", "OPENAI_API_KEY=sk-not-a-key"}

	goEnv, err := toy.Env()
	require.NoError(t, err)
	s := &shooting{t: t, dir: dir, env: append(append(os.Environ(), goEnv...), "TERM=xterm-256color", "CI=", "COLUMNS=", "NO_COLOR=",
		"OPENAI_API_KEY=", "OPENAI_BASE_URL=", "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")}
	s.hidden(live, "go test -update")
	s.hidden(nil, "git init -q && git add -A && git -c user.name=a -c user.email=a@example.com commit -qm first")
	const edit = `sed -i.before 's/Never guess/Do not guess/' summarize.go`
	require.Contains(t, p.commands, edit)
	s.hidden(nil, edit) // as an editor does, which leaves the line to show
	s.shown(nil, "git diff -U0 summarize.go | tail -2")
	failure := s.shown(live, "go test") // of somebody who has a key
	accept := regexp.MustCompile(`accept: (go test .*\S)`).FindStringSubmatch(failure)
	require.NotNil(t, accept, failure)
	s.shown(live, accept[1])
	s.shown(nil, "traceforge diff HEAD")
	s.shown(nil, "go test")

	if *takePicture {
		require.NoError(t, os.MkdirAll(filepath.Dir(pictureFile), 0o755))
		require.NoError(t, os.WriteFile(pictureFile, []byte(s.svg()), 0o644))
	}
	picture, err := os.ReadFile(pictureFile)
	require.NoError(t, err)
	require.Equal(t, textOf(s.svg()), textOf(string(picture)), "the README's picture says something else: make images")
}

// textOf returns the text of a picture. How long something took is no part of it.
func textOf(svg string) string {
	text := regexp.MustCompile(`<title>[^<]*</title>|<style>[^<]*</style>`).ReplaceAllString(svg, "")
	text = html.UnescapeString(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(text, ""))
	return elapsed.ReplaceAllString(text, "0.00s")
}

// A shooting runs commands, and keeps what a terminal shows of them.
type shooting struct {
	t    *testing.T
	dir  string
	env  []string
	rows [][]vt10x.Glyph
}

func (s *shooting) command(env []string, line string) *osexec.Cmd {
	cmd := osexec.Command("sh", "-c", line)
	cmd.Dir = s.dir
	cmd.Env = append(s.env[:len(s.env):len(s.env)], env...)
	return cmd
}

// hidden runs a command that is no part of the picture.
func (s *shooting) hidden(env []string, line string) {
	s.t.Helper()
	out, err := s.command(env, line).CombinedOutput()
	require.NoError(s.t, err, string(out))
}

// shown runs a command in a terminal, behind a prompt. It returns what was printed.
func (s *shooting) shown(env []string, line string) string {
	s.t.Helper()
	term := vt10x.New(vt10x.WithSize(pictureColumns, 60))
	fmt.Fprintf(term, "\x1b[1m$ %s\x1b[0m\r\n", line)
	cmd := s.command(env, line)
	file, err := pty.StartWithSize(cmd, &pty.Winsize{Cols: pictureColumns, Rows: 60})
	require.NoError(s.t, err)
	defer file.Close()
	var printed strings.Builder
	for buf := make([]byte, 4096); ; {
		n, err := file.Read(buf)
		printed.Write(buf[:n])
		if err != nil {
			break // the command has ended
		}
	}
	_ = cmd.Wait() // that it fails is shown
	text := elapsed.ReplaceAllString(printed.String(), "0.01s")
	fmt.Fprint(term, text)
	last := term.Cursor().Y
	require.Less(s.t, last, 59, "it fits the terminal")
	for y := range last {
		row := make([]vt10x.Glyph, pictureColumns)
		for x := range row {
			row[x] = term.Cell(x, y)
		}
		s.rows = append(s.rows, row)
	}
	s.rows = append(s.rows, nil)
	return text
}

// svg draws a dark terminal, which can be read on a light page and on a dark one. Lines of differences and verdicts that the
// programs print without a colour get one, as editors give them.
func (s *shooting) svg() string {
	const width, height, margin = 7.8, 17.0, 14.0
	rows := s.rows[:len(s.rows)-1]
	w, h := pictureColumns*width+2*margin, float64(len(rows))*height+2*margin
	var out strings.Builder
	fmt.Fprintf(&out, `<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%.0f" viewBox="0 0 %.0f %.0f" role="img">`+"\n", w, h, w, h)
	out.WriteString("<title>Drift and accept, in a terminal</title>\n<style>\n" +
		"text { font: 13px ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace; fill: #e6edf3; white-space: pre; }\n" +
		".b { font-weight: bold; fill: #ffffff; }\n.r { fill: #ff7b72; }\n.g { fill: #7ee787; }\n.d { fill: #9da7b3; }\n</style>\n")
	fmt.Fprintf(&out, `<rect width="%.0f" height="%.0f" rx="8" fill="#0d1117" stroke="#444c56"/>`+"\n", w, h)
	for i, row := range rows {
		line := strings.TrimRight(string(runes(row)), " ")
		if line == "" {
			out.WriteString("\n") // an empty line of what is said
			continue
		}
		fmt.Fprintf(&out, `<text x="%.0f" y="%.1f" textLength="%.1f" xml:space="preserve">`, margin, margin+(float64(i)+0.8)*height, float64(len([]rune(line)))*width)
		for from := 0; from < len([]rune(line)); {
			to := from + 1
			for to < len([]rune(line)) && class(row[to], line) == class(row[from], line) {
				to++
			}
			text := html.EscapeString(string(runes(row[from:to])))
			if c := class(row[from], line); c != "" {
				text = fmt.Sprintf(`<tspan class="%s">%s</tspan>`, c, text)
			}
			out.WriteString(text)
			from = to
		}
		out.WriteString("</text>\n")
	}
	return out.String() + "</svg>\n"
}

func runes(row []vt10x.Glyph) []rune {
	var all []rune
	for _, g := range row {
		if g.Char == 0 {
			g.Char = ' '
		}
		all = append(all, g.Char)
	}
	return all
}

// class returns the style of a character: what the program asked for, or else by its line.
func class(g vt10x.Glyph, line string) string {
	const bold = 1 << 2 // vt10x does not export it
	switch g.FG {
	case vt10x.Red, vt10x.LightRed:
		return "r"
	case vt10x.Green, vt10x.LightGreen:
		return "g"
	case vt10x.DarkGrey, vt10x.LightGrey:
		return "d"
	}
	if g.Mode&bold != 0 {
		return "b"
	}
	trimmed := strings.TrimLeft(line, " ")
	for _, c := range []struct{ begins, class string }{
		{"--- FAIL", "r"}, {"FAIL", "r"}, {"- ", "r"}, {"+ ", "g"}, {"ok ", "g"}, {"PASS", "g"}, {"?  ", "d"},
	} {
		if strings.HasPrefix(trimmed, c.begins) {
			return c.class
		}
	}
	return ""
}
