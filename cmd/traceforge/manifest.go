package main

import (
	"path/filepath"

	"github.com/traceforge/traceforge-go/internal/page"
)

// A manifested is a manifest that was written.
type manifested struct {
	File      string `json:"file"`
	Documents int    `json:"documents"` // how many the store has
}

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
	return c.answer(manifested{file, len(documents)}, func() {})
}
