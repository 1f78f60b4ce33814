package main

import (
	"context"
	"fmt"
	"runtime/debug"

	"github.com/traceforge/traceforge-go/snapshot"
)

var versionCommand = command{
	name:     "version",
	synopsis: "[--json]",
	summary:  "print the version of the command and of the format",
	help: `
  --json  print one object: traceforge, the version of this command; format, that of the
          snapshot format; go, that of Go which built it; revision, of git; the last two
          only where they are known
`,
	run: runVersion,
}

func runVersion(_ context.Context, con *console, args []string) error {
	flags := newFlags()
	asJSON := flags.Bool("json", false, "")
	if _, err := arguments(flags, args, 0, 0); err != nil {
		return err
	}
	v := struct {
		Traceforge string `json:"traceforge"`
		Format     string `json:"format"`
		Go         string `json:"go,omitempty"`
		Revision   string `json:"revision,omitempty"`
	}{Traceforge: "(unknown)", Format: snapshot.Version}
	if info, ok := debug.ReadBuildInfo(); ok {
		v.Traceforge, v.Go = info.Main.Version, info.GoVersion
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				v.Revision = s.Value
			}
		}
	}
	if *asJSON {
		return con.json(v)
	}
	built := ""
	for _, known := range []string{v.Go, v.Revision} {
		if known != "" {
			built += ", " + known
		}
	}
	_, err := fmt.Fprintf(con.stdout, "traceforge %s (snapshot format %s%s)\n", v.Traceforge, v.Format, built)
	return err
}
