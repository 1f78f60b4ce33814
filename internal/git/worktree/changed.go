package worktree

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"github.com/traceforge/traceforge-go/internal/git"
)

// Changed returns the files below dir that have changed since the branch diverged from a revision, and the commit at
// which it did. That includes changes that are committed, staged or only in the work tree, and files that are neither
// tracked nor ignored.
func Changed(ctx context.Context, dir, revision string) (since string, files []string, err error) {
	if since, err = left(ctx, dir, revision); err != nil {
		return "", nil, err
	}
	w := walk{ctx: ctx, revision: since}
	if _, err = w.to(dir); err != nil {
		return "", nil, err
	}
	var changed []string
	if w.elsewhere { // everything has changed
		changed, err = list(ctx, dir, []string{"."}, "ls-files")
	} else {
		changed, err = differ(ctx, dir, since)
	}
	if err != nil {
		return "", nil, err
	}
	others, err := list(ctx, dir, []string{"."}, "ls-files", "--others", "--exclude-standard")
	files = append(changed, others...)
	sort.Strings(files)
	return since, slices.Compact(files), err
}

// differ returns the files below dir whose content differs from a commit. It compares the commit with the index, and
// the index with the work tree, in two calls: git diff, and git diff-index of the work tree, first look at every file
// of the repository.
func differ(ctx context.Context, dir, commit string) (files []string, err error) {
	staged, err := differences(ctx, dir, "diff-index", "--cached", "--ignore-submodules=none", commit)
	if err != nil {
		return nil, err
	}
	changed, err := differences(ctx, dir, "diff-files", "--ignore-submodules")
	if err != nil {
		return nil, err
	}
	was := map[string]string{} // the committed objects of files whose content may be unchanged
	for file, now := range changed {
		if before, ok := staged[file]; ok {
			now.mode, now.object = before.mode, before.object
			now.conflict = now.conflict || before.conflict
			delete(staged, file)
		}
		switch {
		case now.mode == now.becomes && strings.Trim(now.mode, "0") == "": // was staged and then removed
		case now.conflict || now.mode != now.becomes || !strings.HasPrefix(now.mode, "10") ||
			strings.ContainsAny(file, "\"\r\n"):
			files = append(files, file)
		default:
			was[file] = now.object
		}
	}
	files = slices.AppendSeq(files, maps.Keys(staged))
	if len(was) == 0 {
		return files, nil
	}
	r, err := git.Find(dir)
	if err != nil {
		return nil, err
	}
	below, err := r.Rel(dir)
	if err != nil {
		return nil, err
	}
	var names strings.Builder // relative to the top, where git hash-object starts
	touched := slices.Collect(maps.Keys(was))
	for _, file := range touched {
		names.WriteString(path.Join(below, file) + "\n")
	}
	printed, err := Output(ctx, r.Top, strings.NewReader(names.String()), "hash-object", "--stdin-paths")
	for i, object := range strings.Fields(printed) {
		if was[touched[i]] != object {
			files = append(files, touched[i])
		}
	}
	return files, err
}

// A difference describes how a file differs between two trees.
type difference struct {
	mode, becomes, object string
	conflict              bool
}

// differences returns the differences that a git command lists below dir, by file.
func differences(ctx context.Context, dir, command string, options ...string) (map[string]difference, error) {
	options = append([]string{"--no-renames", "--relative"}, options...)
	fields, err := list(ctx, dir, []string{"."}, command, options...)
	if err != nil {
		return nil, err
	}
	all := map[string]difference{}
	for ; len(fields) > 1; fields = fields[2:] {
		info := strings.Fields(fields[0]) // :mode mode object object status
		if len(info) != 5 {
			return nil, fmt.Errorf("git %s: %q is no difference", command, fields[0])
		}
		all[fields[1]] = difference{info[0][1:], info[1], info[2], info[4] == "U"}
	}
	return all, nil
}

// left returns the commit at which the branch in dir diverged from a revision.
func left(ctx context.Context, dir, revision string) (string, error) {
	if _, err := git.Find(dir); err != nil {
		return "", err
	}
	if _, err := commitOf(ctx, dir, revision); err != nil {
		return "", unknownRevision(ctx, dir, revision)
	}
	since, err := git.Run(ctx, dir, "merge-base", revision, "HEAD")
	if err != nil {
		return "", unrelated(ctx, dir, revision)
	}
	return since, nil
}

// Fork returns the commit at which the branch of a revision left another, so that what the other did since does not
// count. to is the revision; "" means HEAD and the work tree. Fork returns from itself if that is the commit, if from
// is newer than to, and if git knows no such commit.
func Fork(ctx context.Context, dir, from, to string) string {
	commit, errFrom := commitOf(ctx, dir, from)
	other, errTo := commitOf(ctx, dir, cmp.Or(to, "HEAD"))
	if errFrom != nil || errTo != nil {
		return from
	}
	base, err := git.Run(ctx, dir, "merge-base", commit, other)
	if err != nil || base == commit || base == other && to != "" {
		return from
	}
	return base
}

// OfSubmodule translates a revision of the repository that contains from into one of the submodule that contains dir.
// It is the submodule's commit at the point where the outer branch diverged from the revision. If dir is in no
// submodule of that repository, it returns the revision unchanged.
func OfSubmodule(ctx context.Context, from, dir, revision string) (string, error) {
	around, errAround := git.Find(from)
	module, errModule := git.Find(dir)
	if errAround != nil || errModule != nil {
		return revision, nil // Changed reports errors
	}
	above, err := git.Find(filepath.Dir(module.Top))
	if err != nil {
		return revision, nil
	}
	name, err := above.Rel(module.Top)
	if err != nil {
		return "", err
	}
	staged, err := git.Output(ctx, above.Top, nil, "--literal-pathspecs", "ls-files", "--stage", "-z", "--", name)
	if err != nil || !strings.HasPrefix(staged, "160000 ") { // the mode of a submodule
		return revision, err
	}
	if within, err := filepath.Rel(around.Top, module.Top); err != nil || within == "." || !filepath.IsLocal(within) {
		return revision, nil
	}
	if revision, err = OfSubmodule(ctx, from, above.Top, revision); err != nil {
		return "", err
	}
	since, err := left(ctx, above.Top, revision)
	if err != nil {
		return "", err
	}
	commit, err := git.Output(ctx, above.Top, nil, "rev-parse", "--quiet", "--verify", since+":"+name)
	if err != nil {
		return "", fmt.Errorf("%s has no submodule %s: verify all of it, without --changed", revision, name)
	}
	return strings.TrimSpace(commit), nil
}

// Hidden returns the files among names, below dir, that attributes hide. Git diff does not show them, hosts collapse
// them, or a filter changes them.
func Hidden(ctx context.Context, dir string, names []string) (hidden []string, err error) {
	if len(names) == 0 {
		return nil, nil
	}
	in := strings.NewReader(strings.Join(names, "\x00") + "\x00")
	printed, err := git.Output(ctx, dir, in, "check-attr", "-z", "--stdin", "diff", "filter", "linguist-generated",
		"gitlab-generated")
	for fields := strings.Split(printed, "\x00"); len(fields) > 3; fields = fields[3:] { // file, attribute, value
		says := !slices.Contains([]string{"unspecified", "unset", "false"}, fields[2]) // hosts treat any other value as true
		if says && fields[1] != "diff" || fields[1] == "diff" && fields[2] == "unset" {
			hidden = append(hidden, fields[0])
		}
	}
	return slices.Compact(hidden), err
}

// InHead returns the files and directories among names, below dir, that the last commit contains; none without a
// repository.
func InHead(ctx context.Context, dir string, names []string) (has []string) {
	has, _ = list(ctx, dir, names, "ls-tree", "--name-only", "HEAD")
	return has
}
