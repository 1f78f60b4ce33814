package main

import (
	"fmt"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/traceforge/traceforge-go/snapshot"
)

func versionCommand(con *console) *cobra.Command {
	c := &cobra.Command{
		Use:   "version",
		Short: "print the version of the command and of the format",
		Long: `Prints the version of the command and of the format.

The object of --json has: traceforge, the version of this command; format, that of the
snapshot format; go, that of Go which built it; revision, of git; the last two only where
they are known.
`,
		Args: arguments(0, 0),
	}
	asJSON := jsonFlag(c)
	c.RunE = func(*cobra.Command, []string) error {
		v := currentVersion()
		if *asJSON {
			return con.json(v)
		}
		_, err := fmt.Fprintln(con.stdout, v)
		return err
	}
	return c
}

func jsonFlag(c *cobra.Command) *bool {
	return c.Flags().Bool("json", false, "print one object instead")
}

// A version says what this command is.
type version struct {
	Traceforge string `json:"traceforge"`
	Format     string `json:"format"`
	Go         string `json:"go,omitempty"`
	Revision   string `json:"revision,omitempty"`
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
	built := ""
	for _, known := range []string{v.Go, v.Revision} {
		if known != "" {
			built += ", " + known
		}
	}
	return fmt.Sprintf("traceforge %s (snapshot format %s%s)", v.Traceforge, v.Format, built)
}
