package main

import (
	"fmt"
	"path/filepath"

	"github.com/traceforge/traceforge-go/internal/git"
	"github.com/traceforge/traceforge-go/internal/gotest"
	"github.com/traceforge/traceforge-go/internal/store"
)

// needLFS fails where git has no Git LFS: what is recorded then would be committed as it is, and nobody told.
func needLFS(c *call) error {
	if err := git.HasLFS(c.ctx); err != nil {
		return fmt.Errorf("git has no Git LFS here, install git-lfs first: %w", err)
	}
	return nil
}

// useLFS makes the store in dir keep raw answers and media in Git LFS.
func useLFS(c *call, dir string) error {
	s, err := store.Open(dir)
	if err == nil {
		err = s.UseLFS()
	}
	if err != nil {
		return err
	}
	c.say("%s: raw answers and media go to Git LFS from now on", filepath.ToSlash(filepath.Join(dir, ".gitattributes")))
	if _, err := git.Run(c.ctx, dir, "config", "--get", "filter.lfs.clean"); err != nil {
		c.say("git does not use Git LFS yet: run git lfs install, once for each user")
	}
	named := gotest.Quote(filepath.ToSlash(dir))
	if committed, err := git.Run(c.ctx, dir, "ls-files", "--", "*/*/*"); err == nil && committed != "" {
		c.say("what is committed goes there with git add --renormalize %s", named)
	}
	return nil
}
