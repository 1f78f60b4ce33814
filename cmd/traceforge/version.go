package main

import (
	"fmt"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/snapshot"
)

func printVersion(c *call) error {
	v := currentVersion()
	c.answer(v, func() { fmt.Fprintln(c.stdout, v) })
	return nil
}

// A version describes this command.
type version struct {
	Traceforge string `json:"traceforge"`         // the version of the command
	Format     string `json:"format"`             // the version of the format
	Go         string `json:"go,omitempty"`       // the version of Go that built the command, if known
	Revision   string `json:"revision,omitempty"` // the git revision, if known
}

func currentVersion() version {
	v := version{Traceforge: "(unknown)", Format: snapshot.Version}
	if info, ok := debug.ReadBuildInfo(); ok {
		v.Traceforge, v.Go = info.Main.Version, info.GoVersion
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				v.Revision = s.Value
			}
		}
	}
	return v
}

func (v version) String() string {
	known := []string{"snapshot format " + v.Format, v.Go, v.Revision}
	known = slices.DeleteFunc(known, func(word string) bool { return word == "" })
	return fmt.Sprintf("traceforge %s (%s)", v.Traceforge, strings.Join(known, ", "))
}
