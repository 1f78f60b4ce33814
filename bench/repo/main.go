// Command repo generates a repository of many packages whose tests call a model, and prints how long they take. It
// compares traceforge with go-vcr, and with answers from memory, which are the limit. Run it from the directory of
// module bench:
//
//	go run ./repo [-packages 60] [-tests 50] [-parallel 16] [-rounds 3]
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"text/tabwriter"
	"time"

	"github.com/traceforge/traceforge-go/internal/fakeprovider"
)

func main() {
	var size size
	flag.IntVar(&size.packages, "packages", 60, "packages of the repository")
	flag.IntVar(&size.tests, "tests", 50, "tests of a package, each with a call of its own")
	flag.IntVar(&size.parallel, "parallel", 16, "packages that are tested at once")
	rounds := flag.Int("rounds", 3, "how often what can be repeated is; the median is printed")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, size, *rounds); err != nil {
		fmt.Fprintln(os.Stderr, "repo:", err)
		os.Exit(1)
	}
}

// run measures all tools and prints a table.
func run(ctx context.Context, size size, rounds int) error {
	provider, err := fakeprovider.Start()
	if err != nil {
		return err
	}
	defer provider.Close()
	var version atomic.Int64 // of the model; each version answers differently
	provider.Handle(func(fakeprovider.Call) fakeprovider.Reply {
		return fakeprovider.Text(strings.Repeat(fmt.Sprintf("Answer %d. ", version.Load()), 90)) // 1 KB
	})
	dir, err := os.MkdirTemp("", "traceforge-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	bench, err := filepath.Abs(".")
	if err != nil {
		return err
	}
	command := filepath.Join(dir, "bin", "traceforge")
	build := &repository{dir: filepath.Dir(bench)}
	if _, err := build.run(ctx, nil, "go", "-C", "cmd/traceforge", "build", "-o", command, "."); err != nil {
		return err
	}

	var results []map[string]time.Duration
	tools := []string{"memory", "traceforge", "vcr"}
	for _, tool := range tools {
		r := &repository{dir: filepath.Join(dir, tool), tool: tool, command: command, provider: provider.URL(),
			changeModel: func() { version.Add(1) }, size: size}
		if err := r.generate(bench); err != nil {
			return err
		}
		took, err := r.measure(ctx, rounds)
		if err != nil {
			return fmt.Errorf("%s: %w", tool, err)
		}
		results = append(results, took)
		if err := os.RemoveAll(r.dir); err != nil {
			return err
		}
	}

	fmt.Printf("%d packages, %d tests, 1 call each\n\n", size.packages, size.packages*size.tests)
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(table, "\t%s\t\n", strings.Join(tools, "\t"))
	for _, step := range steps {
		fmt.Fprint(table, step, "\t")
		for _, took := range results {
			if d, ok := took[step]; ok {
				fmt.Fprint(table, d.Round(time.Millisecond), "\t")
			} else {
				fmt.Fprint(table, "–\t")
			}
		}
		fmt.Fprintln(table)
	}
	return table.Flush()
}

// median returns the median time of f.
func median(rounds int, f func() error) (time.Duration, error) {
	var took []time.Duration
	for range max(rounds, 1) {
		start := time.Now()
		if err := f(); err != nil {
			return 0, err
		}
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	return took[len(took)/2], nil
}
