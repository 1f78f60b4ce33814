package git

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// Changed returns the files below dir that are not as they were where the branch left a revision: what is committed
// since, staged, changed, removed, or not known to git and not ignored. since is that commit.
func Changed(ctx context.Context, dir, revision string) (since string, files []string, err error) {
	if _, err := Run(ctx, dir, "rev-parse", "--show-toplevel"); err != nil {
		return "", nil, fmt.Errorf("%s %w", dir, ErrNoRepository)
	}
	if _, err := Run(ctx, dir, "rev-parse", "--quiet", "--verify", "--end-of-options", revision+"^{commit}"); err != nil {
		return "", nil, unknownRevision(ctx, dir, revision)
	}
	if since, err = Run(ctx, dir, "merge-base", revision, "HEAD"); err != nil {
		return "", nil, unrelated(ctx, dir, revision)
	}
	changed, err := Run(ctx, dir, "diff", "--name-only", "--no-renames", "--no-ext-diff", "--relative", "-z", since, "--", ".")
	if err != nil {
		return "", nil, err
	}
	others, err := Run(ctx, dir, "ls-files", "--others", "--exclude-standard", "-z", "--", ".")
	files = append(split(changed), split(others)...)
	slices.Sort(files)
	return since, slices.Compact(files), err
}

// InHead returns those of files and directories below dir that the last commit has; none where there is no repository.
func InHead(ctx context.Context, dir string, names []string) (has []string) {
	for some := range slices.Chunk(names, batch) {
		printed, _ := Run(ctx, dir, append([]string{"--literal-pathspecs", "ls-tree", "-z", "--name-only", "HEAD", "--"}, some...)...)
		has = append(has, split(printed)...)
	}
	return has
}

// unrelated says why a revision and HEAD have no commit in common, and what to do.
func unrelated(ctx context.Context, dir, revision string) error {
	if shallow, err := Run(ctx, dir, "rev-parse", "--is-shallow-repository"); err == nil && shallow == "true" {
		return fmt.Errorf("where this branch left %s is not known here, in a shallow clone: fetch it with git fetch --unshallow, "+
			"or in CI fetch with depth 0", revision)
	}
	return errors.New(revision + " and HEAD have no commit in common")
}
