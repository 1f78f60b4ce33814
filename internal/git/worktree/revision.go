package worktree

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/internal/git"
	"github.com/traceforge/traceforge-go/internal/gotest"
)

// commitOf resolves a revision to a commit in the repository that contains a directory.
func commitOf(ctx context.Context, dir, revision string) (string, error) {
	printed, err := ask(ctx, dir, "rev-parse", "--quiet", "--verify", "--end-of-options", revision+"^{commit}")
	return strings.TrimSuffix(printed, "\n"), err
}

// IsRevision reports whether a name is a revision of the repository that contains dir. Without a repository it is
// false.
func IsRevision(ctx context.Context, name, dir string) (bool, error) {
	above := filepath.Join(dir, "..")
	if _, err := git.Find(above); errors.Is(err, git.ErrNoRepository) && !errors.Is(err, git.ErrForeign) {
		return false, nil
	}
	_, err := commitOf(ctx, above, name)
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return false, nil
	}
	return err == nil, err
}

// unknownRevision returns the error for a revision that git does not know in dir, with the way out.
func unknownRevision(ctx context.Context, dir, revision string) error {
	shallow, err := git.Run(ctx, dir, "rev-parse", "--is-shallow-repository")
	switch {
	case err != nil:
		said := strings.Join(strings.Fields(err.Error()), " ")
		return fmt.Errorf("%s is no directory, and git knows no revision: %s", revision, said)
	case revision == "HEAD":
		return errors.New("HEAD is not known: commit first, or name another state to compare with")
	case shallow == "true":
		return fmt.Errorf("%s is not known here, in a shallow clone: %s", revision, known(ctx, dir, revision, "--unshallow "))
	}
	way := ""
	const most = "--count=5"
	branches, err := git.Run(ctx, dir,
		"for-each-ref", "--sort=-committerdate", most, "--format=%(refname:short)", "refs/heads")
	if err == nil && branches != "" {
		way = ": the branches here are " + strings.Join(strings.Fields(branches), ", ")
	}
	if hint := known(ctx, dir, revision, ""); hint != "" {
		way += ": " + hint
	}
	return fmt.Errorf("%s is neither a directory nor a revision that is known here%s", revision, way)
}

// known returns how to make a revision known that is not, with a flag of git fetch, or "" without a remote. A fetch
// makes no reference for a branch unless it is told to, and none below refs/heads.
func known(ctx context.Context, dir, revision, flag string) string {
	name, ancestor := revision, ""
	if i := strings.IndexAny(strings.ReplaceAll(revision, "@{", "^{"), "~^"); i > 0 {
		name, ancestor = revision[:i], revision[i:]
	}
	printed, _ := git.Run(ctx, dir, "remote")
	remotes := strings.Fields(printed)
	_, unknown := commitOf(ctx, dir, name)
	switch isShort := isAbbreviated(name); {
	case flag != "" && (unknown == nil || isShort || len(remotes) == 0):
		return deepen
	case len(remotes) == 0:
		return ""
	case isShort:
		return "fetch the branch that has it, " + inCI
	}
	ofName := func(remote string) bool { return strings.HasPrefix(name, remote+"/") }
	remote := remotes[max(0, slices.IndexFunc(remotes, ofName))]
	fetch := "fetch it with git fetch " + flag + remote + " "
	if branch, of := strings.CutPrefix(name, remote+"/"); of {
		return fetch + gotest.Quote(branch+":refs/remotes/"+name) + ", " + inCI
	}
	if _, err := commitOf(ctx, dir, remote+"/"+name); err == nil {
		return "name " + gotest.Quote(remote+"/"+revision)
	}
	return fetch + gotest.Quote(name) + ", and name FETCH_HEAD" + ancestor + ", " + inCI
}

// isAbbreviated reports whether a name can be the beginning of a commit's hash, which git fetch does not find.
func isAbbreviated(name string) bool {
	const least, whole = 7, 40
	return least <= len(name) && len(name) < whole &&
		strings.Trim(name, "0123456789abcdef") == "" && strings.ContainsAny(name, "abcdef")
}

// Hints on how to fetch commits that a clone lacks.
const (
	inCI   = "or in CI with fetch-depth: 0 of actions/checkout"
	deepen = "fetch it with git fetch --unshallow, " + inCI
)

// unrelated returns the error for a revision that has no commit in common with HEAD, with the way out.
func unrelated(ctx context.Context, dir, revision string) error {
	if shallow, err := git.Run(ctx, dir, "rev-parse", "--is-shallow-repository"); err == nil && shallow == "true" {
		return fmt.Errorf("where this branch left %s is not known here, in a shallow clone: %s", revision, deepen)
	}
	return errors.New(revision + " and HEAD have no commit in common")
}
