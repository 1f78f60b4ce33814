package browser

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/fakeprovider"
)

// A shop is a module in a git repository whose tests call a model, and the command that shows its pages.
type shop struct {
	t       *testing.T
	dir     string
	command string
	env     []string
}

// newShop records the shop's tests and commits them.
func newShop(t *testing.T) *shop {
	t.Helper()
	checkout, err := filepath.Abs("../..")
	require.NoError(t, err)
	provider := fakeprovider.New(t)
	provider.Handle(answer)
	s := &shop{t: t, dir: t.TempDir()}
	s.env = append(os.Environ(), "MODEL_URL="+provider.URL(), "TRACEFORGE_UPDATE=1", "GOFLAGS=-mod=mod -vet=off -ldflags=-w", "GOWORK=off",
		"GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com",
		"GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com", "GITHUB_ACTIONS=")
	s.command = filepath.Join(t.TempDir(), "traceforge")
	s.run(filepath.Join(checkout, "cmd", "traceforge"), "go", "build", "-o", s.command, ".")

	files, err := txtar.ParseFile(filepath.Join("testdata", "shop.txtar"))
	require.NoError(t, err)
	sums, err := os.ReadFile(filepath.Join(checkout, "go.sum"))
	require.NoError(t, err)
	files.Files = append(files.Files, txtar.File{Name: "go.sum", Data: sums}, txtar.File{Name: "go.mod", Data: fmt.Appendf(nil,
		"module example.com/shop\n\ngo 1.25\n\nrequire github.com/traceforge/traceforge-go v0.0.0\n\n"+
			"replace github.com/traceforge/traceforge-go => %q\n", checkout)})
	require.NoError(t, txtar.Write(files, s.dir))
	s.run(s.dir, "git", "init", "--quiet", "--initial-branch=main")
	s.run(s.dir, "go", "test", "./...")
	s.run(s.dir, "git", "add", "--all")
	s.run(s.dir, "git", "commit", "--quiet", "--message=record")
	return s
}

// run runs a program and returns its output.
func (s *shop) run(dir, name string, args ...string) string {
	s.t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = dir, s.env
	out, err := cmd.CombinedOutput()
	require.NoError(s.t, err, "%s %s: %s", name, strings.Join(args, " "), out)
	return string(out)
}

// An edit replaces a text in a file. was is the old text, is the new one.
type edit struct{ file, was, is string }

// review makes edits, records again, and returns the page of the changes. Then it undoes everything.
func (s *shop) review(name string, edits ...edit) (file string) {
	s.t.Helper()
	packages := map[string]bool{}
	for _, e := range edits {
		packages["./"+path.Dir(e.file)] = true
		file := filepath.Join(s.dir, filepath.FromSlash(e.file))
		text, err := os.ReadFile(file)
		require.NoError(s.t, err)
		require.Contains(s.t, string(text), e.was)
		require.NoError(s.t, os.WriteFile(file, []byte(strings.ReplaceAll(string(text), e.was, e.is)), 0o644))
	}
	if packages["./model"] { // all other packages come from it
		packages = map[string]bool{"./...": true}
	}
	s.run(s.dir, "go", append([]string{"test"}, slices.Sorted(maps.Keys(packages))...)...)
	s.run(s.dir, s.command, "prune", "--write")
	cmd := exec.Command(s.command, "diff", "main", "--html")
	cmd.Dir, cmd.Env = s.dir, s.env
	page, err := cmd.Output()
	require.ErrorContains(s.t, err, "exit status 1", "there are differences")
	s.run(s.dir, "git", "reset", "--quiet", "--hard")
	s.run(s.dir, "git", "clean", "--quiet", "-d", "--force")
	file = filepath.Join(s.t.TempDir(), name+".html")
	require.NoError(s.t, os.WriteFile(file, page, 0o644))
	return file
}

// answer answers the shop's calls.
func answer(call fakeprovider.Call) fakeprovider.Reply {
	system, last := "", call.LastUser()
	if i := slices.IndexFunc(call.Messages, func(m fakeprovider.Message) bool { return m.Role == "system" }); i >= 0 {
		system = call.Messages[i].Text
	}
	asksBack := strings.Contains(system, "ask one question")
	var order, lamps int
	if n, _ := fmt.Sscanf(last, "Where is my order %d?", &order); n == 1 {
		return fakeprovider.Text(fmt.Sprintf("Your order %d is on its way.\nYou will get a message when it arrives.", order))
	}
	if n, _ := fmt.Sscanf(last, "restock %d lamps", &lamps); n == 1 {
		if done := len(results(call)); done < lamps {
			return fakeprovider.CallTools(fakeprovider.ToolCall{Name: "stock", Arguments: fmt.Sprintf(`{"lamp": "lamp %d"}`, done+1)})
		}
		most := 40
		if strings.Contains(system, "60") {
			most = 60
		}
		return fakeprovider.Text(fmt.Sprintf("I have ordered %d of lamp 1, since none was left.\n"+
			"Of lamp 51 there were none either: %d.\nOf the others there are enough.", most, most))
	}
	switch {
	case strings.Contains(last, "brass lamp") && asksBack:
		return fakeprovider.Text("Thank you for asking about the brass lamp!\nWhich of its two sizes do you mean?")
	case strings.Contains(last, "brass lamp"):
		return fakeprovider.Text("Thank you for asking about the brass lamp!\nI do not know that, so a colleague will call you.")
	}
	return fakeprovider.Text("Thank you, I will see to it at once.\nIs there anything else that I can do for you?")
}

func results(call fakeprovider.Call) (all []fakeprovider.ToolResult) {
	for _, m := range call.Messages {
		all = append(all, m.ToolResults...)
	}
	return all
}
