package main

import (
	"context"
	"fmt"
	"runtime/debug"

	"github.com/traceforge/traceforge-go/snapshot"
)

var versionCommand = command{
	name:    "version",
	summary: "print the version of the command and of the format",
	run:     runVersion,
}

func runVersion(_ context.Context, con *console, args []string) error {
	if _, err := arguments(newFlags(), args, 0, 0); err != nil {
		return err
	}
	version, built := "(unknown)", ""
	if info, ok := debug.ReadBuildInfo(); ok {
		version, built = info.Main.Version, ", "+info.GoVersion
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				built += ", " + s.Value
			}
		}
	}
	_, err := fmt.Fprintf(con.stdout, "traceforge %s (snapshot format %s%s)\n", version, snapshot.Version, built)
	return err
}
