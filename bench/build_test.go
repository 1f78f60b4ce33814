package bench

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// BenchmarkBuild measures the processor time of a cold build of a test that imports traceforgetest, next to one that
// makes a call by net/http. What that one needs of the standard library is in the cache before. Both tests are in a
// generated module.
func BenchmarkBuild(b *testing.B) {
	root, err := filepath.Abs("..")
	if err != nil {
		b.Fatal(err)
	}
	module := b.TempDir()
	write := func(name, text string) {
		file := filepath.Join(module, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			b.Fatal(err)
		}
	}
	const path = "github.com/traceforge/traceforge-go"
	write("go.mod", fmt.Sprintf("module example.com/build\n\ngo 1.25\n\nrequire %[1]s v0.0.0\n\nreplace %[1]s => %[2]q\n", path, root))
	write("plain/plain_test.go", "package plain\n\nimport (\n\t\"net/http\"\n\t\"testing\"\n)\n\nfunc Test(t *testing.T) { http.Get(\"http://localhost\") }\n")
	write("ours/ours_test.go", "package ours\n\nimport (\n\t\"testing\"\n\n\t\""+path+"/traceforgetest\"\n)\n\nfunc Test(t *testing.T) { traceforgetest.New(t) }\n")
	goCommand := func(cache string, args ...string) time.Duration {
		cmd := exec.Command("go", args...)
		cmd.Dir = module
		cmd.Env = append(os.Environ(), "GOCACHE="+cache, "GOFLAGS=-mod=mod", "GOWORK=off")
		if out, err := cmd.CombinedOutput(); err != nil {
			b.Fatalf("%v: %s", err, out)
		}
		usage := cmd.ProcessState.SysUsage().(*syscall.Rusage)
		return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
	}
	std := b.TempDir()
	goCommand(std, "test", "-c", "-o", filepath.Join(module, "plain.test"), "./plain")
	build := func(name, pkg string) contestant {
		return contestant{name: name, run: func() time.Duration {
			cache := b.TempDir()
			if err := os.CopyFS(cache, os.DirFS(std)); err != nil {
				b.Fatal(err)
			}
			return goCommand(cache, "test", "-c", "-o", filepath.Join(cache, "built.test"), pkg)
		}}
	}
	size := func(name string) float64 {
		info, err := os.Stat(filepath.Join(module, name))
		if err != nil {
			b.Fatal(err)
		}
		return float64(info.Size()) / 1e6
	}
	c := compete(b, build("net/http", "./plain"), build(ours, "./ours"))
	goCommand(std, "test", "-c", "-o", filepath.Join(module, "plain.test"), "./plain")
	goCommand(std, "test", "-c", "-o", filepath.Join(module, "ours.test"), "./ours")
	beyond := size("ours.test") - size("plain.test")
	add(c.row("cold build of the import, processor time", 1, 5).also(beyond, 4.5, "MB of binary above net/http"))
}
