package main

import (
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/traceforge/traceforge-go/internal/page"
	"github.com/traceforge/traceforge-go/internal/place"
)

func manifestCommand(con *console) *cobra.Command {
	c := &cobra.Command{
		Use:   "manifest [DIR]",
		Short: "write the manifest of the documents",
		Long: `Writes manifest.json, the list of all records that other programs may want (traceforge
reads it nowhere). Documents that are not valid are named, and then nothing is written.

The object of --json has: file, the path of the manifest from the working directory;
documents, how many it is made of.
`,
		Args: arguments(0, 1),
	}
	asJSON := jsonFlag(c)
	c.RunE = func(_ *cobra.Command, args []string) error {
		s, dir, err := place.OpenStore(strings.Join(args, ""))
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
		con.say("%s: written of %s", file, page.Count(len(documents), "document", "documents"))
		if !*asJSON {
			return nil
		}
		return con.json(struct {
			File      string `json:"file"`
			Documents int    `json:"documents"`
		}{file, len(documents)})
	}
	return c
}
