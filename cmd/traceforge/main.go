package main

import (
	"context"
	"errors"
	"flag"
	"io"
	"os"
)

func main() {
	os.Exit(exec(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// exec runs the command that args name and returns its exit code.
func exec(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	con := newConsole(stdin, stdout, stderr)
	cmd, args, err := lookup(args)
	if err != nil {
		con.complain("traceforge", err)
		return exitTrouble
	}
	err = cmd.run(ctx, con, args)
	if errors.Is(err, flag.ErrHelp) {
		err = writeHelp(con, cmd)
	}
	if flushErr := con.stdout.Flush(); flushErr != nil && !errors.Is(err, flushErr) {
		err = flushErr
	}
	if err != nil {
		con.complain("traceforge "+cmd.name, err)
	}
	return exitCode(err)
}
