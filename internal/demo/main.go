// Command demo shows traceforge's main job on a provider of its own: record, replay offline,
// drift, accept. It needs Go and nothing else. Run it from the root of the checkout.
package main

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/traceforge/traceforge-go/internal/fakeprovider"
)

//go:embed module/summarize.go.txt
var program string

//go:embed module/summarize_test.go.txt
var test string

func main() {
	if err := run(os.Stdout); err != nil {
		fmt.Fprintf(os.Stderr, "demo: %v\n", err)
		os.Exit(1)
	}
}

func run(out io.Writer) error {
	checkout, err := filepath.Abs(".")
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "traceforge-demo-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	d := &demo{dir: dir, out: out}

	if err := d.writeModule(checkout); err != nil {
		return err
	}
	d.say("A test of a program that calls a model:")
	d.quote(test)

	d.say("1. Record. The provider is up:")
	if err := d.startProvider(); err != nil {
		return err
	}
	if _, err := d.goTest(true, "./...", "-update"); err != nil {
		return err
	}
	d.say("The snapshots, for the reviewers of the pull request:")
	if err := d.list(); err != nil {
		return err
	}

	d.say("2. Replay. The provider is gone, and there is no API key:")
	d.stopProvider()
	if _, err := d.goTest(true, "./...", "-count=1"); err != nil {
		return err
	}

	d.say(`3. Drift. Somebody edits the prompt to "Summarize in one line: ":`)
	edited := strings.Replace(program, `"Summarize: "`, `"Summarize in one line: "`, 1)
	if err := d.write("summarize.go", edited); err != nil {
		return err
	}
	failure, err := d.goTest(false, "./...")
	if err != nil {
		return err
	}

	d.say("4. Accept, with the command that the failure names. The provider is up again:")
	accept := regexp.MustCompile(`accept: go test (.*)`).FindStringSubmatch(failure)
	if accept == nil {
		return errors.New("the failure names no command that accepts the change")
	}
	if err := d.startProvider(); err != nil {
		return err
	}
	args := strings.Fields(strings.ReplaceAll(accept[1], "'", ""))
	if _, err := d.goTest(true, args...); err != nil {
		return err
	}
	d.stopProvider()
	if _, err := d.goTest(true, "./...", "-count=1"); err != nil {
		return err
	}
	d.say("Done.")
	return nil
}

type demo struct {
	dir      string
	out      io.Writer
	provider *fakeprovider.Server
}

func (d *demo) say(text string) { fmt.Fprintf(d.out, "\n\033[1m%s\033[0m\n", text) }

func (d *demo) quote(text string) {
	for line := range strings.Lines(text) {
		fmt.Fprintf(d.out, "    %s", line)
	}
}

func (d *demo) write(name, text string) error {
	return os.WriteFile(filepath.Join(d.dir, name), []byte(text), 0o644)
}

// writeModule writes a module of its own that uses the checkout.
func (d *demo) writeModule(checkout string) error {
	sums, err := os.ReadFile(filepath.Join(checkout, "go.sum"))
	if err != nil {
		return fmt.Errorf("the demo runs from the root of the checkout: %w", err)
	}
	module := fmt.Sprintf("module example.com/demo\n\ngo 1.25\n\nrequire github.com/traceforge/traceforge-go v0.0.0\n\nreplace github.com/traceforge/traceforge-go => %s\n", checkout)
	return errors.Join(
		d.write("go.mod", module),
		d.write("go.sum", string(sums)),
		d.write("summarize.go", program),
		d.write("summarize_test.go", test),
	)
}

func (d *demo) startProvider() (err error) {
	if d.provider, err = fakeprovider.Start(); err == nil {
		d.provider.Handle(fakeprovider.Echo())
	}
	return err
}

func (d *demo) stopProvider() {
	d.provider.Close()
	d.provider = nil
}

// goTest runs go test with args and shows it. That it passes, or fails, is part of the demo.
func (d *demo) goTest(passes bool, args ...string) (output string, err error) {
	fmt.Fprintf(d.out, "    $ go test %s\n", strings.Join(args, " "))
	cmd := exec.Command("go", append([]string{"test"}, args...)...)
	cmd.Dir = d.dir
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off", "OPENAI_API_KEY=", "MODEL_URL=", "TRACEFORGE_UPDATE=", "TRACEFORGE_DIR=")
	if d.provider != nil {
		cmd.Env = append(cmd.Env, "MODEL_URL="+d.provider.URL())
	}
	var shown bytes.Buffer
	cmd.Stdout, cmd.Stderr = &shown, &shown
	err = cmd.Run()
	d.quote(shown.String())
	var exit *exec.ExitError
	switch {
	case err != nil && !errors.As(err, &exit):
		return "", err
	case passes != (err == nil):
		return "", fmt.Errorf("go test %s: want pass %t, got %t", strings.Join(args, " "), passes, err == nil)
	}
	return shown.String(), nil
}

func (d *demo) list() error {
	return filepath.WalkDir(filepath.Join(d.dir, ".ai-snapshots"), func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		rel, err := filepath.Rel(d.dir, path)
		fmt.Fprintf(d.out, "    %s\n", filepath.ToSlash(rel))
		return err
	})
}
