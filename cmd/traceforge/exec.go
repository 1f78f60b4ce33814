package main

import (
	"cmp"
	"errors"
	"maps"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/traceforge/traceforge-go/internal/commandline"
	"github.com/traceforge/traceforge-go/internal/gotest"
	"github.com/traceforge/traceforge-go/internal/page"
	"github.com/traceforge/traceforge-go/internal/place"
	"github.com/traceforge/traceforge-go/internal/provider"
	"github.com/traceforge/traceforge-go/internal/recorder"
	"github.com/traceforge/traceforge-go/internal/scrub"
	"github.com/traceforge/traceforge-go/internal/usage"
	"github.com/traceforge/traceforge-go/snapshot"
)

// A program is a command whose model calls are stored in a document, like those of a test.
type program struct {
	*call
	name   string
	mode   recorder.Mode
	root   string // directory of the module, or else the working directory
	dir    string // of the store
	source snapshot.Source
	calls  *recorder.Recorder
	failed atomic.Bool
	told   sync.Map // texts

	servers []func() // functions that close the servers
}

// exec runs a program with base URLs that record or replay its model calls.
func exec(c *call) error {
	p := &program{call: c, name: c.args[0]}
	if len(c.forwarded) == 0 {
		return usagef("name the command behind --, as in traceforge exec %s -- node app.mjs", gotest.Quote(p.name))
	}
	if err := checkTest(p.name); err != nil {
		return usagef("%s is no name of a document: letters and digits, with _ or - for a space", gotest.Quote(p.name))
	}
	o, err := p.options()
	if err != nil {
		return err
	}
	p.dir = o.Dir
	if p.calls, err = recorder.Open(o); err != nil {
		return usageError{err}
	}
	ended := 0
	env, err := p.serve()
	if err == nil {
		if ended, err = p.runCommand(p.forwarded, append(env, withoutProxy()...)...); err != nil {
			err = usageError{err} // it did not start
		}
	}
	for _, closeServer := range p.servers { // waits for answers in progress
		closeServer()
	}
	if err != nil {
		return err
	}
	if note := p.calls.Finish(recorder.TestEnd{Failed: ended != 0}); note != "" {
		p.tell(note)
	}
	if err := new(usage.ReceiptWriter).Leave(p.root, func() usage.Receipt { return p.receipt(ended) }); err != nil {
		return err
	}
	if p.failed.Load() {
		p.sayMasked()
		return exit{code: exitFindings}
	}
	return exitWith(ended)
}

// sayMasked lists the values that the user must insert in the printed commands, which contain no secrets.
func (p *program) sayMasked() {
	kept, _ := commandline.Words(p.masked(commandline.Join(p.words())))
	kept = slices.DeleteFunc(kept, func(word string) bool { return !strings.Contains(word, masked) })
	if len(kept) > 0 {
		p.tell("in the command to copy, put your own value where it says " + strings.Join(kept, " and ") +
			": credentials are not printed")
	}
}

// masked is the beginning of a placeholder for a secret in a command.
const masked = "[the value of "

// tell prints a text once: a damaged document, for one, fails each call in the same way.
func (p *program) tell(text string) {
	if _, again := p.told.LoadOrStore(text, true); !again {
		p.say("traceforge: %s", strings.ReplaceAll(text, "\n", "\n    "))
	}
}

// options returns the options of the recorder.
func (p *program) options() (o recorder.Options, err error) {
	if p.mode, err = p.modeOf(); err != nil {
		return o, err
	}
	wd, module, err := gotest.Here()
	if err != nil {
		return o, err
	}
	p.root = cmp.Or(module, wd)
	o.Dir, err = place.StoreDir(p.value("dir"))
	if errors.Is(err, place.ErrNoModule) { // and no store, as for the first recording in another language
		o.Dir, err = gotest.StoreName, nil
	}
	if err != nil {
		return o, err
	}
	o.Shown = filepath.ToSlash(o.Dir)
	if o.Dir, err = filepath.Abs(o.Dir); err != nil {
		return o, err
	}
	if o.Allowed, err = allowances(p.values("allow")); err != nil {
		return o, err
	}
	for _, variable := range p.values("scrub") {
		o.Scrub = append(o.Scrub, scrub.Value(strings.ToLower(variable), os.Getenv(variable)))
	}
	if p.mode == recorder.Check {
		if o.Checking, err = usage.ParseCheckOptions(os.Getenv(usage.CheckEnv)); err != nil {
			return o, usageError{err}
		}
	}
	p.source = p.sourceIn(filepath.Dir(o.Dir))
	o.Package, o.Test, o.Mode = snapshot.ProgramPackage, p.name, p.mode
	o.Accept, o.Program, o.Masked = p.again(""), p.again, p.masked
	o.Source = func() snapshot.Source { return p.source }
	o.Fail = func() { p.failed.Store(true) }
	o.Tell = func(f *recorder.Failure) { p.tell(f.Text) }
	o.Waiting = p.waits
	o.Ignored, o.Recorded, o.PassThrough = p.values("ignore"), p.values("record"), p.values("pass-through")
	o.KeptHeaders, o.Timing = p.values("keep-headers"), p.is("stream-timing")
	o.Nondeterministic, o.Lifted = p.value("nondeterministic"), p.cmd.Flag("nondeterministic").Changed
	return o, nil
}

// modeOf returns the mode from the flags, or else from the variable that also controls go test.
func (p *program) modeOf() (recorder.Mode, error) {
	said, value := "--update=", p.value("update")
	switch {
	case p.is("check"):
		return recorder.Check, nil
	case !p.cmd.Flag("update").Changed:
		said, value = gotest.UpdateEnv+"=", os.Getenv(gotest.UpdateEnv)
	}
	mode, err := recorder.ParseMode(value)
	if mode == recorder.Mixed {
		err = errors.New("a program gets live answers without traceforge exec; --check compares them")
	}
	if err != nil {
		return mode, usagef("%s%s: %w", said, value, err)
	}
	return mode, nil
}

// allowances returns the allowances with the given names.
func allowances(names []string) (all recorder.Allowance, err error) {
	for _, name := range names {
		i := slices.Index(allowanceNames, name)
		if i < 0 {
			return 0, usagef("--allow %s is not known: use %s", gotest.Quote(name), strings.Join(allowanceNames, ", "))
		}
		all |= 1 << i
	}
	return all, nil
}

// allowanceNames are the names of the bits of recorder.Allowance, in order.
var allowanceNames = []string{"cut-streams", "transport-errors", "retryable-errors", "no-calls"}

// sourceIn returns the source of a program's calls. The file is the first file in the command below the directory of
// the store, or else the program; the function is the command itself.
func (p *program) sourceIn(root string) snapshot.Source {
	file := path.Base(filepath.ToSlash(p.forwarded[0]))
	for _, word := range p.forwarded {
		info, err := os.Stat(word)
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		whole, _ := filepath.Abs(word) // the working directory is known: see options
		if rel, _ := filepath.Rel(root, whole); filepath.IsLocal(rel) {
			file = filepath.ToSlash(rel)
			break
		}
	}
	return snapshot.Source{File: file, Line: 1, Function: p.command()}
}

// words returns the words of the program's command, after the flags that it needs, if any.
func (p *program) words() (words []string) {
	for _, name := range slices.Sorted(maps.Keys(page.RunFlags)) {
		f := p.cmd.Flag(name)
		switch {
		case !f.Changed:
		case f.Value.Type() == "bool":
			words = append(words, "--"+name)
		case f.Value.Type() == "stringSlice":
			for _, value := range p.values(name) {
				words = append(words, "--"+name, value)
			}
		default:
			words = append(words, "--"+name, f.Value.String())
		}
	}
	if words != nil {
		words = append(words, "--")
	}
	return append(words, p.forwarded...)
}

// command returns the program's command for a shell, without secrets.
func (p *program) command() string { return commandline.Join(commandline.Masked(p.words(), p.secrets)) }

// masked returns a command that is safe to store and print: without secrets, and without values that the rules replace
// in a call.
func (p *program) masked(command string) string {
	words, ok := commandline.Words(command)
	if !ok {
		return command
	}
	return commandline.Join(commandline.Masked(p.calls.Stored(words)))
}

// again returns the command that runs the program in another mode.
func (p *program) again(mode string) string { return page.ProgramAgain(p.name, p.command(), mode) }

// receipt returns a record of what the program did.
func (p *program) receipt(ended int) usage.Receipt {
	left := p.calls.Receipt()
	left.Store, left.Command = filepath.ToSlash(p.dir), p.masked(commandline.Join(p.words()))
	if rel, _ := filepath.Rel(p.root, p.dir); filepath.IsLocal(rel) {
		left.Store = filepath.ToSlash(rel)
	}
	if ended != 0 || p.failed.Load() {
		left.Outcome = "fail"
	}
	return left
}

// withoutProxy returns the variables that keep calls to the servers on this machine away from a proxy. Most programs
// send calls to a loopback address to the proxy too.
func withoutProxy() (env []string) {
	for _, names := range [][2]string{{"NO_PROXY", "no_proxy"}, {"no_proxy", "NO_PROXY"}} {
		hosts := cmp.Or(os.Getenv(names[0]), os.Getenv(names[1]))
		if hosts != "*" { // which stands for all hosts only if it is alone
			hosts = strings.TrimPrefix(hosts+",127.0.0.1", ",")
		}
		env = append(env, names[0]+"="+hosts)
	}
	return env
}

// A baseURL is an environment variable from which official SDKs read the URL of a provider. docs/exec.md lists the
// SDKs.
type baseURL struct {
	name string
	path string // path after the provider's host that ends its value, or ""
	// home is the root that the variable refers to, if it is not the provider's; $NAME in it is an environment
	// variable. If it is empty, it is the provider's home; if the provider has none, the variable must be set.
	home string
}

// baseURLs are the variables of all providers, by provider name.
var baseURLs = map[string][]baseURL{
	"anthropic": {{name: "ANTHROPIC_BASE_URL"}},
	"azure":     {{name: "AZURE_OPENAI_ENDPOINT"}},
	"bedrock": {
		{name: "AWS_ENDPOINT_URL_BEDROCK_RUNTIME", home: "https://bedrock-runtime.$AWS_REGION.amazonaws.com"},
		{name: "AWS_ENDPOINT_URL_BEDROCK_AGENT_RUNTIME", home: "https://bedrock-agent-runtime.$AWS_REGION.amazonaws.com"},
	},
	"cohere":     {{name: "CO_API_URL"}},
	"google":     {{name: "GOOGLE_GEMINI_BASE_URL"}},
	"groq":       {{name: "GROQ_BASE_URL"}},
	"ollama":     {{name: "OLLAMA_HOST"}},
	"openai":     {{name: "OPENAI_BASE_URL", path: "/v1"}},
	"openrouter": {{name: "OPENROUTER_BASE_URL", path: "/api/v1"}},
	"together":   {{name: "TOGETHER_BASE_URL", path: "/v1"}},
	"vertex":     {{name: "GOOGLE_VERTEX_BASE_URL"}},
}

// urlVariable returns the variable with the root of a provider, for programs whose SDK reads none.
func urlVariable(name string) string {
	return "TRACEFORGE_URL_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
}

// serve starts a server for each base URL variable, and returns the variables with their values. In replay it sets
// placeholder keys for the providers that are served.
func (p *program) serve() (env []string, err error) {
	for _, of := range provider.Providers() {
		variables := baseURLs[of.Name]
		served := len(variables) == 0
		if of.Home != "" { // for programs whose SDK reads no variable
			variables = append(slices.Clip(variables), baseURL{name: urlVariable(of.Name), home: of.Home})
		}
		for _, b := range variables {
			e, known, err := p.endpoint(of, b)
			if err != nil {
				return nil, err
			}
			if !known {
				continue
			}
			base, closeServer, err := p.calls.ServeAt(e)
			if err != nil {
				return nil, err
			}
			served, env, p.servers = true, append(env, b.name+"="+base), append(p.servers, closeServer)
		}
		if served && p.mode.Serves() { // if one is not, a key would make an SDK's choice ambiguous
			lendKeys(of, p.mode.Live())
		}
	}
	return env, nil
}

// endpoint returns the endpoint that the server of a variable represents. known is false if the program must provide it
// but does not.
func (p *program) endpoint(of provider.Provider, b baseURL) (e recorder.Endpoint, known bool, err error) {
	e = recorder.Endpoint{Path: b.path, Keys: slices.Concat(of.Keys, of.Tokens)}
	home, expanded := p.expand(cmp.Or(b.home, of.Home+b.path)) // only providers with a home have variables with a path
	if e.Home, err = url.Parse(home); err != nil {
		return e, false, err // unreachable: the facts are URLs
	}
	value := os.Getenv(b.name)
	if value == "" {
		return e, home != "" && expanded, nil
	}
	if !strings.Contains(value, "://") { // the form that Ollama uses
		value = "http://" + value
	}
	if e.Upstream, err = url.Parse(value); err != nil || e.Upstream.Host == "" {
		return e, false, usagef("$%s must be a URL, is %s", b.name, gotest.Quote(value))
	}
	e.Upstream.RawQuery, e.Upstream.Fragment = "", ""
	if at := provider.AtHost(e.Upstream, p.calls.Hosts()); home == "" || at != "" && at != of.Name {
		e.Home, e.Upstream = e.Upstream, nil // the program addresses whichever host that is
	}
	return e, true, nil
}

// expand inserts the program's region in a home. In replay any region will do, since it is not part of the identity.
func (p *program) expand(home string) (expanded string, ok bool) {
	ok = true
	return os.Expand(home, func(name string) string {
		for _, variable := range []string{name, "AWS_DEFAULT_REGION"} {
			if value := os.Getenv(variable); value != "" {
				return value
			}
		}
		ok = !p.mode.Live()
		return "us-east-1"
	}), ok
}

// lendKeys sets missing keys of a provider to the values that tests have in replay: some SDKs do not start without a
// key. Live calls use the token that is set in place of a key.
func lendKeys(of provider.Provider, live bool) {
	isSet := func(name string) bool { return os.Getenv(name) != "" }
	for _, names := range of.KeyVariables() {
		if !slices.ContainsFunc(names, isSet) && !(live && slices.ContainsFunc(of.Tokens, isSet)) {
			os.Setenv(names[0], provider.NoKey(names[0]))
		}
	}
}
