package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// The measured steps, in the order of the printed table. Steps with binaries leave out the cost of go test; the others
// run whole commands.
const (
	stepBuild   = "go test -c ./..."
	stepRecord  = "binaries: record"
	stepAgain   = "binaries: record again, unchanged"
	stepChanged = "binaries: record again, every answer changed"
	stepReplay  = "binaries: replay"
	stepReceipt = "binaries: replay, with receipts"
	stepGoTest  = "go test -count=1 ./..."
	stepCached  = "go test ./..., cached"
	stepVerify  = "traceforge verify"
	stepPrune   = "traceforge prune"
)

var steps = []string{stepBuild, stepRecord, stepAgain, stepChanged, stepReplay, stepReceipt, stepGoTest, stepCached,
	stepVerify, stepPrune}

type size struct{ packages, tests, parallel int }

// A repository is a generated module whose tests use one tool.
type repository struct {
	dir, tool, command, provider string
	changeModel                  func() // makes the provider answer differently from now on
	size                         size
}

// generate writes the module with the dependencies of module bench.
func (r *repository) generate(bench string) error {
	goMod, err := os.ReadFile(filepath.Join(bench, "go.mod"))
	if err != nil {
		return err
	}
	goSum, err := os.ReadFile(filepath.Join(bench, "go.sum"))
	if err != nil {
		return err
	}
	const path = "github.com/traceforge/traceforge-go"
	module := strings.Replace(string(goMod), "module "+path+"/bench", "module example.com/repo", 1)
	module = strings.Replace(module, path+" => ../", path+" => "+filepath.Dir(bench), 1)
	module += fmt.Sprintf("\nrequire %[1]s/bench v0.0.0\n\nreplace %[1]s/bench => %[2]q\n", path, bench)
	files := map[string]string{"go.mod": module, "go.sum": string(goSum)}
	for p := range r.size.packages {
		var b strings.Builder
		fmt.Fprintf(&b, "package p%d\n\nimport (\n\t\"testing\"\n\n\t\"%[2]s/bench/client/ask\"\n\tclient \"%[2]s/bench/client/%[3]s\"\n)\n", p, path, r.tool)
		for t := range r.size.tests {
			fmt.Fprintf(&b, "\nfunc TestCall%dOf%d(t *testing.T) { ask.Call(t, client.New(t)) }\n", t, p)
		}
		files[fmt.Sprintf("p%d/p_test.go", p)] = b.String()
	}
	for name, text := range files {
		file := filepath.Join(r.dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			return err
		}
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			return err
		}
	}
	return nil
}

// measure runs all steps and returns their times.
func (r *repository) measure(ctx context.Context, rounds int) (map[string]time.Duration, error) {
	took := map[string]time.Duration{}
	var failed error
	step := func(name string, rounds int, f func() error) {
		if failed == nil {
			var d time.Duration
			if d, failed = median(rounds, f); failed != nil {
				failed = fmt.Errorf("%s: %w", name, failed)
			}
			took[name] = d
		}
	}
	goCommand := func(args ...string) func() error {
		return func() error {
			_, err := r.run(ctx, nil, "go", args...)
			return err
		}
	}
	recording := []string{"MODEL_URL=" + r.provider}

	step(stepBuild, 1, goCommand("test", "-c", "-o", "bin/", "./..."))
	if r.tool != "memory" {
		step(stepRecord, 1, func() error { return r.binaries(ctx, recording, "-update") })
		step(stepAgain, rounds, func() error { return r.binaries(ctx, recording, "-update") })
		step(stepChanged, 1, func() error {
			r.changeModel()
			return r.binaries(ctx, recording, "-update")
		})
	}
	step(stepReplay, rounds, func() error { return r.binaries(ctx, nil, "") })
	if r.tool == "traceforge" {
		receipts := []string{"TRACEFORGE_RECEIPT=" + filepath.Join(r.dir, "receipt")}
		step(stepReceipt, rounds, func() error { return r.binaries(ctx, receipts, "") })
	}
	step(stepGoTest, 1, goCommand("test", "-count=1", "./..."))
	if failed == nil {
		time.Sleep(2 * time.Second) // go test caches no result that depends on a younger file
		failed = goCommand("test", "./...")()
	}
	step(stepCached, rounds, goCommand("test", "./..."))
	if r.tool == "traceforge" {
		for name, subcommand := range map[string]string{stepVerify: "verify", stepPrune: "prune"} {
			step(name, 1, func() error {
				_, err := r.run(ctx, nil, r.command, subcommand)
				return err
			})
		}
	}
	return took, failed
}

// binaries runs the test binaries of all packages, several at once.
func (r *repository) binaries(ctx context.Context, env []string, update string) error {
	var flags []string
	if update != "" && r.tool == "traceforge" {
		flags = []string{update}
	}
	turns := make(chan struct{}, r.size.parallel)
	errs := make([]error, r.size.packages)
	var all sync.WaitGroup
	for p := range r.size.packages {
		all.Go(func() {
			turns <- struct{}{}
			defer func() { <-turns }()
			_, errs[p] = r.runIn(ctx, fmt.Sprintf("p%d", p), env,
				filepath.Join(r.dir, "bin", fmt.Sprintf("p%d.test", p)), flags...)
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

func (r *repository) run(ctx context.Context, env []string, program string, args ...string) (string, error) {
	return r.runIn(ctx, ".", env, program, args...)
}

// runIn runs a program in a directory of the repository and returns its output.
func (r *repository) runIn(ctx context.Context, dir string, env []string, program string,
	args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = filepath.Join(r.dir, dir)
	cmd.Env = append(
		append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off", "TRACEFORGE_UPDATE=", "TRACEFORGE_DIR=", "CI="), env...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s", program, strings.Join(args, " "), err, &out)
	}
	return out.String(), nil
}
