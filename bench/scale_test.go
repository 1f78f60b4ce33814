package bench

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// BenchmarkScale prints the size of a store of many tests (-tests) and the time of work on all of it. For programs it
// prints wall-clock time and processor time, which other work on the machine affects little. The second repository
// keeps raw answers in Git LFS, if that is installed.
func BenchmarkScale(b *testing.B) {
	program := command(b)
	for b.Loop() {
		dir, calls := storeOf(b, *tests)
		fmt.Printf("%d tests, %s\n", *tests, weight(b, dir))
		scale(b, dir, "verify", program, "verify", "--dir", filepath.Join(dir, ".ai-snapshots"))
		few, some := storeOf(b, 100)
		for range 3 { // alternate, since other work slows both
			fmt.Printf("replay of a test: %v, in a store of 100 tests %v\n", played(b, dir, calls), played(b, few, some))
		}
		fmt.Printf("memory after all tests in one process: %.1f MB more than after 100\n", grown(b, dir, calls))
		if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module example.com/scale\n"), 0o666); err != nil {
			b.Fatal(err)
		}
		commitAll(b, dir, "git")
		record := time.Now()
		traceforge.record(b, dir, testName(7), []call{{calls[7].body, answered(0, 2<<10), "application/json"}})
		fmt.Printf("one changed answer: %v\n", time.Since(record))
		scale(b, dir, "verify --changed HEAD", program, "verify", "--changed", "HEAD", "--dir", filepath.Join(dir, ".ai-snapshots"))
		if exec.Command("git", "lfs", "version").Run() != nil {
			fmt.Println("git-lfs is not installed: nothing is measured of it")
			continue
		}
		git(b, dir, "checkout", "-q", "HEAD", "--", ".")
		if err := os.RemoveAll(filepath.Join(dir, ".git")); err != nil {
			b.Fatal(err)
		}
		scale(b, dir, "init --lfs", program, "init", "--lfs", "--dir", filepath.Join(dir, ".ai-snapshots"))
		commitAll(b, dir, "git with LFS")
	}
}

// BenchmarkChanged measures verify --changed in a repository with many other files, and in a repository with the store
// only. It counts processor time.
func BenchmarkChanged(b *testing.B) {
	const besides = 200_000
	program := command(b)
	in := func(name string, besides int) contestant {
		dir, calls := storeOf(b, 100)
		git(b, dir, "init", "-q")
		git(b, dir, "add", "-A")
		var index strings.Builder // entries of files that exist only in the index
		for n := range besides {
			fmt.Fprintf(&index, "100644 blob %s\tbeside/%d/%d\n", emptyBlob, n/500, n)
		}
		add := exec.Command("git", "update-index", "--index-info")
		add.Dir, add.Stdin = dir, strings.NewReader(index.String())
		git(b, dir, "hash-object", "-w", os.DevNull)
		if out, err := add.CombinedOutput(); err != nil {
			b.Fatalf("%v: %s", err, out)
		}
		git(b, dir, "-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-qm", "all")
		traceforge.record(b, dir, testName(7), []call{{calls[7].body, answered(0, 2<<10), "application/json"}})
		return contestant{name: name, run: func() time.Duration {
			cmd := exec.Command(program, "verify", "--changed", "HEAD")
			cmd.Dir = dir
			if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module example.com/scale\n"), 0o666); err != nil {
				b.Fatal(err)
			}
			if out, err := cmd.CombinedOutput(); err != nil {
				b.Fatalf("%v: %s", err, out)
			}
			return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
		}}
	}
	c := compete(b, in("the store alone", 0), in(ours, besides))
	add(c.row("verify --changed beside 200,000 files, processor time", 1, 0))
}

// emptyBlob is the git object of an empty file.
const emptyBlob = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"

// played returns the replay time of a test, averaged over 100 tests across a store.
func played(b *testing.B, dir string, calls []call) time.Duration {
	start := time.Now()
	for i := range 100 {
		traceforge.play(b, dir, testName(i*len(calls)/100), nil, calls[i*len(calls)/100])
	}
	return time.Since(start) / 100
}

// commitAll commits dir to a new repository, and measures git.
func commitAll(b *testing.B, dir, name string) {
	b.Helper()
	git(b, dir, "init", "-q")
	git(b, dir, "config", "gc.auto", "0")
	if exec.Command("git", "lfs", "version").Run() == nil {
		git(b, dir, "lfs", "install", "--local")
	}
	scale(b, dir, name+": add all", "git", "add", "-A")
	git(b, dir, "-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-qm", "all")
	scale(b, dir, name+": status", "git", "status", "--porcelain")
	git(b, dir, "gc", "-q")
	fmt.Printf("%s: the repository has %s\n", name, weight(b, filepath.Join(dir, ".git", "objects")))
	clone := filepath.Join(b.TempDir(), "clone")
	os.Setenv("GIT_LFS_SKIP_SMUDGE", "1")
	defer os.Unsetenv("GIT_LFS_SKIP_SMUDGE")
	scale(b, dir, name+": clone, without what is in LFS", "git", "clone", "-q", "--no-local", dir, clone)
}

// scale runs a program and logs its time.
func scale(b *testing.B, dir, name, program string, args ...string) {
	b.Helper()
	cmd := exec.Command(program, args...)
	cmd.Dir = dir
	start := time.Now()
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	peak, err := watched(cmd)
	if err != nil {
		b.Fatalf("%s: %v: %s", name, err, &out)
	}
	fmt.Printf("%s: %.1f s of processors, %.1f s, %.0f MB of memory\n", name,
		(cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds(), time.Since(start).Seconds(), float64(peak)/1e6)
}

func git(b *testing.B, dir string, args ...string) {
	b.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("git %v: %v: %s", args, err, out)
	}
}

// weight describes the number and the size of the files below dir.
func weight(b *testing.B, dir string) string {
	b.Helper()
	files, bytes := 0, int64(0)
	err := filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if err == nil {
			files, bytes = files+1, bytes+info.Size()
		}
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	return fmt.Sprintf("%d files, %.1f MB", files, float64(bytes)/1e6)
}
