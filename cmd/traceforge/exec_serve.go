package main

import (
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/internal/gotest"
	"github.com/traceforge/traceforge-go/internal/provider"
	"github.com/traceforge/traceforge-go/internal/recorder"
)

// urlVariable is the variable with the root of a provider, for programs whose SDK reads none.
func urlVariable(name string) string {
	return "TRACEFORGE_URL_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
}

// serve starts a server for each variable that says where a provider is, and returns the variables with their values.
// closeAll ends the servers, after answers that are on their way.
func (p *program) serve() (env []string, closeAll func(), err error) {
	var servers []func()
	closeAll = func() {
		for _, closeServer := range servers {
			closeServer()
		}
	}
	err = p.endpoints(func(variable string, e recorder.Endpoint) error {
		base, closeServer, err := p.calls.ServeAt(e)
		if err == nil {
			servers, env = append(servers, closeServer), append(env, variable+"="+base)
		}
		return err
	})
	if err != nil {
		closeAll()
	}
	return env, closeAll, err
}

// endpoints has do serve what each variable stands for, and lends the keys of the providers that are served in replay.
func (p *program) endpoints(do func(variable string, e recorder.Endpoint) error) error {
	for _, of := range provider.Providers() {
		served := len(of.BaseURLs) == 0
		if home, ok := provider.Home(of.Name); ok { // its root, for programs whose SDK reads no variable
			of.BaseURLs = append(slices.Clip(of.BaseURLs), provider.BaseURL{Name: urlVariable(of.Name), Home: home.String()})
		}
		for _, b := range of.BaseURLs {
			e, known, err := p.endpoint(of, b)
			if err == nil && known {
				served, err = true, do(b.Name, e)
			}
			if err != nil {
				return err
			}
		}
		if served && (!p.mode.Live() || p.mode == recorder.Check) { // where one is not, a key would make an SDK's choice ambiguous
			lendKeys(of)
		}
	}
	return nil
}

// endpoint returns what the server of a variable stands for; known is false where that is for the program to say, and it
// says nothing.
func (p *program) endpoint(of provider.Provider, b provider.BaseURL) (e recorder.Endpoint, known bool, err error) {
	e = recorder.Endpoint{Path: b.Path, Keys: of.Keys}
	home := b.Home
	if home == "" && of.Home != "" {
		home = of.Home + b.Path
	}
	home, expanded := p.expand(home)
	if e.Home, err = url.Parse(home); err != nil {
		return e, false, err // unreachable: the facts are URLs
	}
	value := os.Getenv(b.Name)
	if value == "" {
		return e, home != "" && expanded, nil
	}
	if !strings.Contains(value, "://") { // as Ollama has it
		value = "http://" + value
	}
	if e.Upstream, err = url.Parse(value); err != nil || e.Upstream.Host == "" {
		return e, false, usagef("$%s must be a URL, is %s", b.Name, gotest.Quote(value))
	}
	e.Upstream.RawQuery, e.Upstream.Fragment = "", ""
	if at := provider.AtHost(e.Upstream, p.calls.Hosts()); home == "" || at != "" && at != of.Name {
		e.Home, e.Upstream = e.Upstream, nil // the program asks whoever that is
	}
	return e, true, nil
}

// expand puts the region of the program into a home. In replay any does, as it is no identity.
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

// lendKeys sets the keys of a provider that are not there, as tests have them in replay: some SDKs refuse to start
// without one.
func lendKeys(of provider.Provider) {
	for _, names := range of.KeyVariables() {
		if !slices.ContainsFunc(names, func(name string) bool { return os.Getenv(name) != "" }) {
			os.Setenv(names[0], provider.NoKey(names[0]))
		}
	}
}
