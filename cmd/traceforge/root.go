package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

const introduction = `traceforge checks, shows and compares the golden snapshots of model calls that Go tests record.

The store is the directory that a command is given, or .ai-snapshots in that, else
$TRACEFORGE_DIR, else .ai-snapshots beside the go.mod that is found from the working
directory upwards.

The answer goes to standard output, all else to standard error. The exit code is
0 where all is well, 1 where something was found, 2 where the command was called
wrongly or could not read or write; modelio has its own.
`

// rootCommand returns the command with all its commands, which use con.
func rootCommand(con *console) *cobra.Command {
	root := group("traceforge", "record, check and compare snapshots of model calls")
	root.Long = introduction
	root.Version = currentVersion().String()
	root.SetVersionTemplate("{{.Version}}\n")
	root.SilenceErrors, root.SilenceUsage = true, true
	root.SetIn(con.stdin)
	root.SetOut(con.stdout)
	root.SetErr(con.stderr)
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{err} })
	root.SetHelpCommand(helpCommand())
	for _, g := range []struct {
		id, title string
		commands  []*cobra.Command
	}{
		{"read", "Check and read:", []*cobra.Command{
			verifyCommand(con), showCommand(con), diffCommand(con), reportCommand(con),
		}},
		{"write", "Record and tidy:", []*cobra.Command{
			initCommand(con), updateCommand(con), pruneCommand(con), repairCommand(con), manifestCommand(con),
		}},
		{"other", "Other formats and programs:", []*cobra.Command{
			packCommand(con), modelioCommand(con), snapshotCommand(con), gitCommand(con),
		}},
	} {
		root.AddGroup(&cobra.Group{ID: g.id, Title: g.title})
		for _, c := range g.commands {
			c.GroupID = g.id
			root.AddCommand(c)
		}
	}
	root.AddCommand(versionCommand(con), manCommand(root))
	return root
}

// group returns a command that only holds others.
func group(use, short string, commands ...*cobra.Command) *cobra.Command {
	c := &cobra.Command{
		Use: use, Short: short,
		Args:                       cobra.ArbitraryArgs, // RunE says which word is wrong
		SuggestionsMinimumDistance: 2,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				return unknownCommand(c, args[0])
			}
			var names []string
			for _, sub := range c.Commands() {
				if sub.IsAvailableCommand() {
					names = append(names, sub.Name())
				}
			}
			return usagef("%s needs a command: %s", c.Name(), strings.Join(names, ", "))
		},
	}
	c.AddCommand(commands...)
	return c
}

func unknownCommand(group *cobra.Command, name string) error {
	near := group.SuggestionsFor(name)
	if len(near) == 0 {
		return usagef("unknown command %q", name)
	}
	return usagef("unknown command %q, did you mean %q?", name, near[0])
}

func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]…",
		Short: "explain a command",
		RunE: func(c *cobra.Command, args []string) error {
			about, rest, err := c.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return unknownCommand(c.Root(), strings.Join(args, " "))
			}
			about.InitDefaultHelpFlag() // as before it is run
			about.InitDefaultVersionFlag()
			return about.Help()
		},
	}
}

func manCommand(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:   "man DIR",
		Short: "write manual pages into a directory",
		Args:  arguments(1, 1),
		RunE: func(_ *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o777); err != nil {
				return err
			}
			root.DisableAutoGenTag = true
			return doc.GenManTree(root, &doc.GenManHeader{Section: "1", Source: "traceforge"}, args[0])
		},
	}
}

// arguments asks for least arguments or more, most or fewer.
func arguments(least, most int) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		switch {
		case len(args) < least:
			return usageError{errors.New("too few arguments")}
		case len(args) > most:
			return usagef("too many arguments, from %q on", args[most])
		}
		return nil
	}
}

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// beforeDash returns the arguments before "--" and those behind it.
func beforeDash(c *cobra.Command, args []string) (before, after []string) {
	if at := c.ArgsLenAtDash(); at >= 0 {
		return args[:at], args[at:]
	}
	return args, nil
}
