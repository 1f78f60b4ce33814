// Command fake runs a command with a fake provider, so that tests can be recorded without an API key:
//
//	go run github.com/traceforge/traceforge-go/internal/demo/fake go test -update
//
// The fake serves the formats of OpenAI, Anthropic and Gemini on a loopback address. It answers each question with a
// sentence that repeats its words. If a call offers tools, the fake calls the first one, and then answers with the
// tool's result. It sets the variables from which the three SDKs read their base URLs.
package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"

	"github.com/traceforge/traceforge-go/internal/fakeprovider"
)

const key = "no-key-is-needed"

func main() {
	code, err := run(os.Args[1:])
	if err != nil {
		fmt.Fprintf(os.Stderr, "fake: %v\n", err)
	}
	os.Exit(code)
}

// run returns the exit code of the command.
func run(command []string) (int, error) {
	if len(command) == 0 {
		return 2, errors.New("usage: fake COMMAND [ARGUMENT…]")
	}
	provider, err := fakeprovider.Start()
	if err != nil {
		return 2, err
	}
	defer provider.Close()
	provider.Handle(fakeprovider.Agent())

	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Env = append(os.Environ(), "OPENAI_BASE_URL="+provider.URL()+"/v1", "ANTHROPIC_BASE_URL="+provider.URL(),
		"GOOGLE_GEMINI_BASE_URL="+provider.URL(), "OPENAI_API_KEY="+key, "ANTHROPIC_API_KEY="+key, "GEMINI_API_KEY="+key)
	err = cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode(), nil
	}
	if err != nil {
		return 2, err
	}
	return 0, nil
}
