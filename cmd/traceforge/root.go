package main

import (
	"cmp"
	"context"
	"embed"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
	"github.com/spf13/pflag"

	"github.com/traceforge/traceforge-go/internal/near"
	"github.com/traceforge/traceforge-go/internal/place"
	"github.com/traceforge/traceforge-go/internal/store"
	"github.com/traceforge/traceforge-go/internal/usage/coverage"
)

// help contains the help of each command after its first line: help/modelio-verify.txt.
//
//go:embed help
var help embed.FS

// rootCommand returns the root command with all subcommands, which use con.
func rootCommand(con *console) *cobra.Command {
	root := &cobra.Command{
		Use: "traceforge", Short: "record, check and compare snapshots of model calls",
		Version: currentVersion().String(), SilenceErrors: true, SilenceUsage: true,
	}
	root.SetVersionTemplate("{{.Version}}\n")
	root.SetIn(con.stdin)
	root.SetOut(con.stdout)
	root.SetErr(con.stderr)
	root.SetFlagErrorFunc(wrongFlag)
	root.SetHelpCommand(helpCommand())
	printHelp := root.HelpFunc()
	root.SetHelpFunc(func(c *cobra.Command, args []string) { // cobra does not call RunE for --help
		if words := c.Flags().Args(); c.HasSubCommands() && len(words) > 0 {
			con.noHelp = unknownCommand(c, words[0])
			return
		}
		printHelp(c, args)
	})
	for _, s := range table() {
		if s.title != "" {
			root.AddGroup(&cobra.Group{ID: s.title, Title: s.title})
		}
		for _, row := range s.commands {
			c := row.build(con)
			c.GroupID = s.title
			root.AddCommand(c)
		}
	}
	setHelp(root)
	return holdOthers(root)
}

// build returns the command that a row of the table describes.
func (row command) build(con *console) *cobra.Command {
	c := &cobra.Command{Use: row.use, Short: row.short, ValidArgsFunction: row.complete, SuggestFor: row.words}
	for _, f := range row.flags {
		switch takesValue := strings.Contains(f.usage, "`"); {
		case f.list:
			c.Flags().StringSliceP(f.name, f.letter, nil, f.usage)
		case takesValue:
			c.Flags().StringP(f.name, f.letter, "", f.usage)
			flag := c.Flags().Lookup(f.name)
			flag.Value = &once{Value: flag.Value}
		default:
			c.Flags().BoolP(f.name, f.letter, false, f.usage)
		}
		c.Flags().Lookup(f.name).NoOptDefVal = cmp.Or(f.bare, c.Flags().Lookup(f.name).NoOptDefVal) // a bool already has one
		if f.values != nil {
			c.RegisterFlagCompletionFunc(f.name, cobra.FixedCompletions(f.values, cobra.ShellCompDirectiveNoFileComp))
		}
	}
	c.MarkFlagsMutuallyExclusive(row.oneOf...)
	c.DisableFlagParsing, c.DisableFlagsInUseLine = row.raw, row.raw
	for _, sub := range row.commands {
		c.AddCommand(sub.build(con))
	}
	if row.run == nil {
		return holdOthers(c)
	}
	c.RunE = func(c *cobra.Command, args []string) (err error) {
		call := &call{console: con, ctx: c.Context(), cmd: c, args: args}
		if at := c.ArgsLenAtDash(); at >= 0 && row.forwards {
			call.args, call.forwarded = args[:at], args[at:]
		}
		switch n := len(call.args); {
		case n < row.least:
			return usagef("too few arguments: %s", row.use)
		case n > row.most && strings.Contains(row.use, " -- COMMAND"):
			return usagef("put -- before the command: %s", row.use)
		case n > row.most:
			return usagef("too many arguments, from %q on", call.args[row.most])
		}
		con.named, _ = c.Flags().GetString("dir") // empty if there is no such flag
		if call.result, err = call.resultFile(); err != nil {
			return err
		}
		return row.run(call)
	}
	return c
}

// A once is the value of a flag that may not be repeated: of two stores, one would be left out silently.
type once struct {
	pflag.Value
	given bool
}

func (o *once) Set(value string) error {
	if o.given && value != o.String() { // completion parses the flags twice
		return errors.New("the flag is given twice")
	}
	o.given = true
	return o.Value.Set(value)
}

// completing returns a completion for shells: names returns candidates from a store, given the words so far.
func completing(names func(s *store.Store, given []string) []string,
	directive cobra.ShellCompDirective) cobra.CompletionFunc {
	return func(c *cobra.Command, given []string, _ string) ([]string, cobra.ShellCompDirective) {
		dir, _ := c.Flags().GetString("dir") // empty if there is no such flag
		s, _, err := place.OpenStore(dir)
		if err != nil {
			return nil, directive
		}
		return names(s, given), directive
	}
}

// setHelp sets the help text of a command and its subcommands.
func setHelp(c *cobra.Command) {
	name := strings.ReplaceAll(strings.TrimPrefix(c.CommandPath(), "traceforge "), " ", "-")
	if text, err := help.ReadFile("help/" + name + ".txt"); err == nil { // groups have no text
		c.Long = string(text)
	}
	if f := c.Flag("json"); f != nil {
		f.Usage += ": traceforge schema " + schemaOfAnswer(name)
	}
	for _, sub := range c.Commands() {
		setHelp(sub)
	}
}

// A call is one use of a command.
type call struct {
	*console
	ctx       context.Context
	cmd       *cobra.Command
	args      []string
	forwarded []string          // arguments after "--", for go test; nil without "--"
	result    string            // file to which the answer is also written, or ""
	code      *coverage.Sources // nil until it is needed
}

// sources returns the tests in the code. It reads the code on first use, and only that call returns an error. Nothing
// is known of the tests of modules that could not be read.
func (c *call) sources() (_ *coverage.Sources, err error) {
	if c.code == nil {
		c.code, err = coverage.OpenSources(c.ctx, "")
	}
	return c.code, err
}

// value returns the value of a flag of the command; "" if it was not given.
func (c *call) value(flag string) string { return c.cmd.Flag(flag).Value.String() }

// is reports whether a flag without a value was given.
func (c *call) is(flag string) bool { return c.value(flag) == "true" }

// values returns the values of a flag that may be repeated.
func (c *call) values(flag string) []string {
	values, _ := c.cmd.Flags().GetStringSlice(flag) // the table defines the flag
	return values
}

// store opens the store of --dir, or the one that is found. dir is its directory, as used in messages.
func (c *call) store() (s *store.Store, dir string, err error) {
	if s, dir, err = place.OpenStore(c.value("dir")); err == nil {
		s.Waiting = c.waits
	}
	return s, dir, err
}

// onStore returns a command that opens the store, like [call.store], and calls do with it.
func onStore(do func(c *call, s *store.Store, dir string) error) func(*call) error {
	return func(c *call) error {
		s, dir, err := c.store()
		if err != nil {
			return err
		}
		return do(c, s, dir)
	}
}

// answer writes v as JSON with --json, and calls text without it. With --json=FILE it calls text and also writes v to
// the file.
func (c *call) answer(v any, text func()) {
	if c.is("json") {
		c.json(v)
		return
	}
	text()
	if c.result != "" {
		c.fail(write(c.result, v))
	}
}

// holdOthers makes a command a group: run by itself, it reports which subcommand is missing or unknown.
func holdOthers(c *cobra.Command) *cobra.Command {
	c.Args = cobra.ArbitraryArgs // RunE reports which word is wrong
	c.SuggestionsMinimumDistance = 2
	c.RunE = func(c *cobra.Command, args []string) error {
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
	}
	return c
}

// wrongFlag is the error for an unknown flag, with a suggestion.
func wrongFlag(c *cobra.Command, err error) error {
	if unknown := (*pflag.NotExistError)(nil); errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() == "" {
		var names []string
		c.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
		if name := near.Name(unknown.GetSpecifiedName(), names); name != "" {
			err = fmt.Errorf("%w, did you mean --%s?", err, name)
		}
	}
	return usageError{err}
}

func unknownCommand(group *cobra.Command, name string) error {
	near := group.SuggestionsFor(name)
	for _, c := range group.Commands() {
		if slices.Contains(c.SuggestFor, name) {
			near = []string{c.Name()} // instead of commands with similar spelling
		}
	}
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
			about.InitDefaultHelpFlag() // as when it runs
			about.InitDefaultVersionFlag()
			return about.Help()
		},
	}
}

func writeManual(c *call) error {
	if err := os.MkdirAll(c.args[0], 0o777); err != nil {
		return err
	}
	root := c.cmd.Root()
	root.DisableAutoGenTag = true
	return doc.GenManTree(root, &doc.GenManHeader{Section: "1", Source: "traceforge"}, c.args[0])
}

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }
