package main

import (
	"path/filepath"

	"github.com/traceforge/traceforge-go/internal/page"
)

func manifest(c *call) error {
	s, dir, err := c.store()
	if err != nil {
		return err
	}
	if err := s.WriteManifest(); err != nil {
		return err
	}
	documents, err := s.List()
	if err != nil {
		return err
	}
	file := filepath.ToSlash(filepath.Join(dir, "manifest.json"))
	c.say("%s: written of %s", file, page.Count(len(documents), "document", "documents"))
	return c.answer(struct {
		File      string `json:"file"`
		Documents int    `json:"documents"`
	}{file, len(documents)}, func() {})
}
