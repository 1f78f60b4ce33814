package main

import (
	"context"
	"fmt"
	"strings"
)

const introduction = `traceforge checks and shows the golden snapshots of model calls that Go tests recorded.

usage: traceforge COMMAND [ARGUMENT…]

`

const conclusion = `
traceforge help COMMAND says more.

The store is the directory that a command is given, or .ai-snapshots in that, else
$TRACEFORGE_DIR, else .ai-snapshots beside the go.mod that is found from the working
directory upwards.

The answer goes to standard output, all else to standard error. The exit code is
0 where all is well, 1 where something was found, 2 where the command was called
wrongly or could not read or write; modelio has its own.
`

func runHelp(_ context.Context, con *console, args []string) error {
	args, err := arguments(newFlags(), args, 0, 2)
	if err != nil {
		return err
	}
	if len(args) == 0 {
		return writeOverview(con)
	}
	cmd, rest, err := lookup(args)
	if err != nil {
		return err
	}
	if len(rest) > 0 {
		return usagef("unknown command %q", strings.Join(args, " "))
	}
	return writeHelp(con, cmd)
}

func writeOverview(con *console) error {
	fmt.Fprint(con.stdout, introduction)
	for _, c := range commands() {
		fmt.Fprintf(con.stdout, "  %-18s %s\n", c.name, c.summary)
	}
	_, err := fmt.Fprint(con.stdout, conclusion)
	return err
}

func writeHelp(con *console, c command) error {
	usage := strings.TrimSpace("usage: traceforge " + c.name + " " + c.synopsis)
	_, err := fmt.Fprintf(con.stdout, "%s: %s\n\n%s\n%s", c.name, c.summary, usage, c.help)
	return err
}
