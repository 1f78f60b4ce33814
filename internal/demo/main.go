// Command demo shows traceforge's main job with its own provider: record, replay offline, drift, accept, and a
// reviewer's view of the change. It needs Go and a module proxy. Without git or the command it leaves out their steps.
// Run it from the root of the checkout.
package main

import (
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/internal/fakeprovider"
)

//go:embed module/summarize.go.txt
var program string

//go:embed module/summarize_test.go.txt
var test string

func main() {
	if err := run(os.Stdout, "."); err != nil {
		fmt.Fprintf(os.Stderr, "demo: %v\n", err)
		os.Exit(1)
	}
}

func run(out io.Writer, checkout string) error {
	checkout, err := filepath.Abs(checkout)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "traceforge-demo-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	d := &demo{checkout: checkout, module: filepath.Join(dir, "demo"), bin: filepath.Join(dir, "bin"), out: out}
	defer d.stopProvider()

	if err := d.writeModule(); err != nil {
		return err
	}
	d.say("A test of a program that calls a model:")
	d.quote(test)

	d.say("1. Record. The provider is up:")
	if err := d.startProvider(); err != nil {
		return err
	}
	if _, err := d.show(0, "TRACEFORGE_UPDATE=1", "go", "test", "./..."); err != nil {
		return err
	}
	d.say("The snapshots, for the reviewers of the pull request:")
	if err := d.list(); err != nil {
		return err
	}
	noGit := d.commit()

	d.say("2. Replay. The provider is gone, and there is no API key:")
	d.stopProvider()
	if _, err := d.show(0, "go", "test", "./...", "-count=1"); err != nil {
		return err
	}

	d.say(`3. Drift. Somebody edits the prompt to "Summarize in one line: ":`)
	edited := strings.Replace(program, `"Summarize: "`, `"Summarize in one line: "`, 1)
	if err := d.write("summarize.go", edited); err != nil {
		return err
	}
	failure, err := d.show(1, "go", "test", "./...")
	if err != nil {
		return err
	}

	d.say("4. Accept, with the command that the failure names. The provider is up again:")
	accept := regexp.MustCompile(`accept: (.*)`).FindStringSubmatch(failure)
	if accept == nil {
		return errors.New("the failure names no command that accepts the change")
	}
	if err := d.startProvider(); err != nil {
		return err
	}
	if _, err := d.show(0, strings.Fields(strings.ReplaceAll(accept[1], "'", ""))...); err != nil {
		return err
	}
	d.stopProvider()
	if _, err := d.show(0, "go", "test", "./...", "-count=1"); err != nil {
		return err
	}

	d.say("5. Review. The pull request shows the snapshot, and the command what it comes to:")
	if noGit != nil {
		d.quote(fmt.Sprintf("left out, as it needs git: %v\n", noGit))
	} else if err := d.review(); err != nil {
		return err
	}
	d.say("Done.")
	return nil
}

// A demo is a module that uses the checkout, and the environment of its commands.
type demo struct {
	checkout, module, bin string
	out                   io.Writer
	provider              *fakeprovider.Server
}

func (d *demo) say(text string) { fmt.Fprintf(d.out, "\n\033[1m%s\033[0m\n", text) }

func (d *demo) quote(text string) {
	for line := range strings.Lines(text) {
		fmt.Fprintf(d.out, "    %s", line)
	}
}

func (d *demo) write(name, text string) error {
	return os.WriteFile(filepath.Join(d.module, name), []byte(text), 0o644)
}

// writeModule writes the module. It fails if a requirement cannot be downloaded.
func (d *demo) writeModule() error {
	sums, err := os.ReadFile(filepath.Join(d.checkout, "go.sum"))
	if err != nil {
		return fmt.Errorf("the demo runs from the root of the checkout: %w", err)
	}
	const path = "github.com/traceforge/traceforge-go"
	module := fmt.Sprintf("module example.com/demo\n\ngo 1.25\n\nrequire %[1]s v0.0.0\n\nreplace %[1]s => %[2]q\n",
		path, d.checkout)
	if err := os.Mkdir(d.module, 0o777); err != nil {
		return err
	}
	if err := errors.Join(
		d.write("go.mod", module),
		d.write("go.sum", string(sums)),
		d.write("summarize.go", program),
		d.write("summarize_test.go", test),
	); err != nil {
		return err
	}
	if err := d.succeed("go", "list", "-deps", path+"/traceforgetest"); err != nil {
		return fmt.Errorf("a module that it needs is missing, and no proxy has it: %w", err)
	}
	return nil
}

func (d *demo) startProvider() (err error) {
	if d.provider, err = fakeprovider.Start(); err == nil {
		d.provider.Handle(fakeprovider.Echo())
	}
	return err
}

func (d *demo) stopProvider() {
	if d.provider != nil {
		d.provider.Close()
		d.provider = nil
	}
}

// list prints the files of the store.
func (d *demo) list() error {
	return filepath.WalkDir(filepath.Join(d.module, ".ai-snapshots"),
		func(path string, entry os.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			rel, err := filepath.Rel(d.module, path)
			d.quote(filepath.ToSlash(rel) + "\n")
			return err
		})
}

// commit commits the module to a new repository.
func (d *demo) commit() error {
	for _, args := range [][]string{{"init", "-q"}, {"add", "-A"}, {"commit", "-qm", "Test the summary"}} {
		if err := d.succeed(append([]string{"git"}, args...)...); err != nil {
			return err
		}
	}
	return nil
}

// review shows the accepted change as a reviewer sees it.
func (d *demo) review() error {
	if _, err := d.show(0, "git", "diff", ".ai-snapshots"); err != nil {
		return err
	}
	command := filepath.Join(d.checkout, "cmd", "traceforge")
	d.quote("$ go -C cmd/traceforge build\n")
	bin := d.bin + string(filepath.Separator)
	if err := d.succeed("go", "-C", command, "build", "-mod=readonly", "-buildvcs=false", "-o", bin, "."); err != nil {
		d.quote(fmt.Sprintf("traceforge diff is left out, as the command does not build: %v\n", err))
		return nil
	}
	_, err := d.show(1, "traceforge", "diff")
	return err
}

// show runs a command in the module and prints it. The demo shows the exit code too.
func (d *demo) show(want int, command ...string) (output string, err error) {
	d.quote("$ " + strings.Join(command, " ") + "\n")
	output, code, err := d.exec(command)
	d.quote(output)
	if err == nil && code != want {
		err = fmt.Errorf("%s: want exit code %d, got %d", strings.Join(command, " "), want, code)
	}
	return output, err
}

// succeed runs a command in the module. If the command fails, the error is the first line that gives the reason.
func (d *demo) succeed(command ...string) error {
	output, code, err := d.exec(command)
	if err != nil || code == 0 {
		return err
	}
	why := fmt.Sprintf("%s: exit code %d", strings.Join(command, " "), code)
	for line := range strings.Lines(output) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "go: downloading ") {
			why = line
			break
		}
	}
	return errors.New(why)
}

// exec runs a command in the module. The command may begin with variables. The environment's settings of traceforge,
// git and CI are removed.
func (d *demo) exec(command []string) (output string, code int, err error) {
	variables := slices.IndexFunc(command, func(word string) bool { return !strings.Contains(word, "=") })
	program, args := command[variables], command[variables+1:]
	if program == "traceforge" {
		program = filepath.Join(d.bin, program)
	}
	cmd := exec.Command(program, args...)
	cmd.Dir = d.module
	cmd.Env = slices.DeleteFunc(os.Environ(), func(variable string) bool {
		name, _, _ := strings.Cut(variable, "=")
		return name == "CI" || name == "GITHUB_ACTIONS" || strings.HasPrefix(name, "TRACEFORGE_") ||
			strings.HasPrefix(name, "GIT_")
	})
	cmd.Env = append(cmd.Env, "GOFLAGS=-mod=mod", "GOWORK=off", "OPENAI_API_KEY=", "MODEL_URL=", "COLUMNS=",
		"GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=demo", "GIT_AUTHOR_EMAIL=demo@example.com", "GIT_COMMITTER_NAME=demo",
		"GIT_COMMITTER_EMAIL=demo@example.com")
	cmd.Env = append(cmd.Env, command[:variables]...)
	if d.provider != nil {
		cmd.Env = append(cmd.Env, "MODEL_URL="+d.provider.URL())
	}
	text, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return string(text), exit.ExitCode(), nil
	}
	return string(text), 0, err
}
