package main

import (
	"math"

	"github.com/spf13/cobra"
)

// A command is a row of the table of commands. The first line of its help is a summary; the rest is in directory help.
type command struct {
	use, short  string
	least, most int  // number of arguments before "--"
	forwards    bool // accepts "--", followed by arguments for go test or a command
	raw         bool // flags are not parsed, but passed as arguments
	flags       []flag
	oneOf       []string // names of mutually exclusive flags
	complete    cobra.CompletionFunc
	words       []string // its names in other tools: a user who types one is referred to this command
	run         func(*call) error
	commands    []command // subcommands, instead of run or in addition to it
}

// A flag is an option of commands. It takes a value if its usage has a word in back quotes.
type flag struct {
	name, usage string
	letter      string   // its short form
	list        bool     // may be repeated
	bare        string   // value if the flag is given without one; empty if a value is required
	values      []string // possible values, for completion; nil for any
}

// Flags that several commands share.
var (
	asJSON  = flag{name: "json", usage: "print one object instead"}
	inJSON  = flag{name: "json", bare: "true", usage: "print one object, or into `FILE.json`"}
	ofStore = flag{name: "dir", usage: "the store, or its module: `DIR`"}
	receipt = flag{name: "receipt",
		usage: "read what a run of the tests left in `DIR`, or its shards each in one", list: true}

	pending = []flag{ofStore, asJSON,
		{name: "all", usage: "all that are pending"}}
)

// ofImport are the flags of both names of import.
var ofImport = []flag{asJSON, ofStore,
	{name: "write", usage: "write what is listed"},
	{name: "run", usage: "run the tests, which record what the recordings answer"},
	{name: "dry-run", letter: "n", usage: "write nothing; so it is without --write"},
	{name: "provider", usage: "whose answers files of sf have that do not say it: `NAME`, such as openai"},
	{name: "package", usage: "the import `PATH` of the package of the test that makes the calls of sf or cassettes"},
	{name: "test", usage: "the `NAME` of the test that makes the calls of sf or cassettes"},
}

// A section is a heading of the overview and the commands below it.
type section struct {
	title    string
	commands []command
}

// table returns all commands.
func table() []section {
	const any = math.MaxInt
	return []section{
		{"Check and read:", []command{
			{use: "test [PACKAGE…] [FLAG…]", short: "run go test, and end with what drifted, by cause",
				words: []string{"replay", "run"}, most: any, raw: true,
				flags: []flag{{name: "json", usage: "write the result into `FILE.json`"}}, run: test},
			{use: "verify [TEST…]", short: "check that the store is what was recorded",
				most: any, flags: []flag{ofStore, asJSON, receipt,
					{name: "changed", usage: "read only what differs from where the branch left `REV`, such as origin/main"},
					{name: "max-stale", usage: "fail if more than `N` answers were adopted for a changed request"},
					{name: "lint", usage: "ask of the traffic too: models that are not pinned, open schemas, budgets"},
					{name: "secrets", usage: "look for credentials: known forms, and values of this process's variables"}},
				oneOf: []string{"changed", "receipt"}, complete: completing(documentNames, cobra.ShellCompDirectiveDefault),
				run: onStore(verify)},
			{use: "show TEST", short: "show recorded conversations",
				words: []string{"inspect", "cat", "view"}, least: 1, most: 1, flags: []flag{ofStore, asJSON,
					{name: "sf", usage: "print records in the format's literal form: whole requests, texts joined"},
					{name: "receipt", usage: "print params, receipt and envelope of the call contract, a line each"},
					{name: "raw", usage: "write exactly the bytes that have a hash, into a file or a pipe"}},
				oneOf:    []string{"json", "sf", "receipt", "raw"},
				complete: completing(documentNames, cobra.ShellCompDirectiveDefault), run: show},
			{use: "ls [FILTER…]", short: "list the tests of the store: calls, models, tokens, age, size",
				words: []string{"list"}, most: any, flags: []flag{ofStore, asJSON,
					{name: "calls", usage: "list each call"},
					{name: "model", usage: "only where a model was asked or answered that matches `REGEXP`"},
					{name: "provider", usage: "only where `NAME` was asked"},
					{name: "stale", usage: "only with answers that were adopted for another request"},
					{name: "scripted", usage: "only with answers that a script gave, and no model"},
					{name: "older", usage: "only with calls recorded longer ago than `AGE`, such as 30d"},
					{name: "larger", usage: "only with more than `SIZE` in all, such as 1MB"},
					{name: "sort", usage: "by `ORDER`: name, tokens, size, age or calls", values: orderNames}},
				run: onStore(list)},
			{use: "diff [FROM [TO]]", short: "show what differs between two states of the store",
				most: 2, flags: []flag{ofStore, asJSON,
					{name: "markdown", usage: "print Markdown, as for a comment on a pull request"},
					{name: "html", usage: "print a page for a browser, in one file, as with > review.html"}},
				oneOf: []string{"html", "json", "markdown"}, run: diff},
			{use: "report --receipt DIR", short: "report what drifted in a run of the tests, and how it used the store",
				words: []string{"join", "merge", "status"}, flags: []flag{asJSON, receipt,
					{name: "dir", usage: "a store, or its module: `DIR`", list: true},
					{name: "markdown", usage: "print Markdown, as for the summary of a job"},
					{name: "since", usage: "show what changed in config.json from where the branch left `REV`"},
					{name: "html", usage: "write the causes into `FILE`, a page for a browser"},
					{name: "junit", usage: "write a JUnit report into `FILE`"},
					{name: "gitlab", usage: "write a Code Quality report of GitLab into `FILE`"},
					{name: "annotations", usage: "tell GitHub Actions of each cause, at the line of its first call"}},
				oneOf: []string{"json", "markdown"}, run: report},
		}},
		{"Record and tidy:", []command{
			{use: "init", short: "make an empty store, and set git up for it",
				flags: []flag{ofStore, {name: "json", usage: "print one object as well"},
					{name: "git", usage: "set up this clone for git diff"},
					{name: "lfs", usage: "keep raw answers and media in Git LFS"},
					{name: "agents", bare: "write", values: agentsWhat,
						usage: "write into AGENTS.md what coding agents need to know, or take it out: `WHAT`"},
					{name: "command", usage: "how git shall call this program: `COMMAND`, such as /opt/bin/traceforge"}},
				run: initialize},
			{use: "update [TEST…] [PACKAGE…] [-- FLAG…]", short: "record the model calls of tests again",
				words:    []string{"record", "rekey", "refresh"},
				complete: completing(testsAndPackages, cobra.ShellCompDirectiveNoFileComp),
				most:     any, forwards: true, flags: []flag{inJSON,
					{name: "run", usage: "run only the tests that match `REGEXP`"},
					{name: "all", usage: "buy every call again"},
					{name: "new", usage: "buy only calls that have no snapshot, and replay the others"},
					{name: "tools", usage: "run the tools again, and record what they return now"},
					{name: "scripted", usage: "list the answers that a script gave, and buy them where the script is gone"},
					{name: "rekey", usage: "buy nothing: adopt stored answers for requests that changed"}},
				oneOf: []string{"all", "new", "tools", "scripted", "rekey"}, run: update},
			{use: "review", short: "show what waits for a decision by cause, and accept or reject it",
				words: []string{"ui", "pending"}, flags: []flag{ofStore, asJSON,
					{name: "pending", usage: "only answers that failed tests have bought"},
					{name: "changed", usage: "only records that are not what git has staged"},
					{name: "accept", usage: "accept a cause, a test or a record: `ID`", list: true},
					{name: "reject", usage: "reject a cause, a test or a record: `ID`", list: true}},
				oneOf: []string{"pending", "changed"}, run: onStore(review)},
			{use: "accept [TEST|CAUSE|ID…]", short: "take over answers that a failed test has bought, or stage what changed",
				words: []string{"approve"},
				most:  any, flags: pending, complete: completing(pendingIDs, cobra.ShellCompDirectiveNoFileComp),
				run: onStore(accept)},
			{use: "reject [TEST|ID…]", short: "throw away answers that a failed test has bought",
				most: any, flags: pending, complete: completing(pendingIDs, cobra.ShellCompDirectiveNoFileComp),
				run: onStore(reject)},
			{use: "mv OLD NEW", short: "rename a test or a package, without recording again",
				least: 2, most: 2, flags: []flag{ofStore, asJSON},
				complete: completing(testsAndPackages, cobra.ShellCompDirectiveNoFileComp), run: onStore(move)},
			{use: "check [TEST…] [PACKAGE…] [-- FLAG…]", short: "ask the live models what is recorded, and compare",
				complete: completing(testsAndPackages, cobra.ShellCompDirectiveNoFileComp),
				most:     any, forwards: true, flags: []flag{inJSON,
					{name: "markdown", usage: "print Markdown, as for an issue"},
					{name: "run", usage: "run only the tests that match `REGEXP`"},
					{name: "repeat", usage: "make each call `N` times, and tell how the answers vary"},
					{name: "sample", usage: "make only `P%` of the calls"},
					{name: "shard", usage: "make only the calls of one of so many parts: `I/N`"},
					{name: "tier", usage: "hold `TIER` and those after it: text, tools, finish, model"},
					{name: "model", usage: "ask another model what a recorded one was asked: `OLD=NEW`", list: true},
					{name: "from", usage: "make only the calls of each test from number `N` on"},
					{name: "live", usage: "run the tests on live answers, once for each --model"},
					{name: "kind", usage: "make the calls of one `KIND`: models, as without it, tools, or all"}},
				oneOf: []string{"json", "markdown"}, run: check},
			{use: "prune [-- FLAG…]", short: "remove the documents that no test uses any more",
				words: []string{"clean", "delete", "gc", "remove", "rm"}, forwards: true, flags: []flag{asJSON, ofStore, receipt,
					{name: "write", usage: "remove what is listed"},
					{name: "dry-run", letter: "n", usage: "remove nothing; so it is without --write"}},
				oneOf: []string{"write", "dry-run"}, run: onStore(prune)},
			{use: "repair", short: "merge documents after a conflict, and finish what was cut short",
				words: []string{"manifest", "fix"}, flags: []flag{ofStore,
					{name: "manifest", usage: "write manifest.json, the list of all records, and nothing else"},
					{name: "theirs", usage: "take theirs of a record, of all records of a document, or of all: `ID`", list: true},
					{name: "take", usage: "use a commit that was cut short, or pending answers, that may be a stranger's"},
					{name: "discard", usage: "remove these"}},
				oneOf: []string{"manifest", "take", "discard"},
				run:   onStore(repair)},
		}},
		{"Other formats and programs:", []command{
			{use: "pack -o DIR [PACKAGE]… [-- FLAG…]", short: "run the tests, and export the run as a pack",
				most: any, forwards: true, flags: []flag{ofStore, asJSON,
					{name: "output", letter: "o", usage: "the `DIR` to write"},
					{name: "run", usage: "the same: the run goes into `DIR`; what selects tests follows --, as in -- -run REGEXP"},
					{name: "receipt", usage: "run nothing: export the run that left its receipts in `DIR`"}},
				oneOf: []string{"output", "run"}, run: packRun, commands: []command{
					{use: "verify DIR", short: "prove a run pack, without the repository that it comes from", least: 1, most: 1,
						flags: []flag{asJSON}, run: verifyPack},
					{use: "replay DIR [-- COMMAND]", short: "serve the calls of a run pack, to tests or under base URLs",
						least: 1, most: 1, forwards: true, flags: []flag{
							{name: "test", usage: "serve the calls of the test `NAME` under base URLs"},
							{name: "package", usage: "the import `PATH` of the test's package, where several have a test of that name"}},
						run: replayPack},
				}},
			{use: "modelio", short: "check, replay and import model_io sessions", commands: []command{
				{use: "verify FILE…", short: "check model_io sessions",
					least: 1, most: any, flags: []flag{
						{name: "json", usage: "print one object a file instead"},
						{name: "no-response-hashes", usage: "do not compare response_hash with response_content (MI7)"},
						{name: "no-size-limits", usage: "allow any number of interactions of any size (MI4, MI11)"}},
					run: verifySessions},
				{use: "hash FILE", short: "print the hash of a model_io session", least: 1, most: 1, run: hashSession},
				{use: "replay FILE", short: "answer prompts from a model_io session", least: 1, most: 1, run: replaySession},
				{use: "import FILE", short: "bring a model_io session into the store, as the calls of a test",
					least: 1, most: 1, flags: []flag{ofStore,
						{name: "prompts", usage: "what was asked: `FILE` with a JSON string a line"},
						{name: "package", usage: "the import `PATH` of the test's package"},
						{name: "test", usage: "the `NAME` of the test"},
						{name: "model", usage: "the `NAME` that the test gives to Recorder.Model: provider/model"}},
					run: importSession},
			}},
			{use: "contract", short: "tell recorded calls in the terms of the call contract (LC)", commands: []command{
				{use: "show TEST", short: "show params, receipt and envelope of each call of a test",
					least: 1, most: 1, flags: []flag{ofStore, asJSON},
					complete: completing(documentNames, cobra.ShellCompDirectiveDefault), run: showContract},
			}},
			{use: "snapshot", short: "bring snapshots of another layout into the store (SF)", commands: []command{
				{use: "migrate --from V --to V [DIR|FILE…]", short: "import --from sf or cassettes, by the versions of the format",
					most: any, flags: append([]flag{
						{name: "from", usage: "the version that the files are of, or \"cassettes\" for those of TraceForge: `V`"},
						{name: "to", usage: "the version that they are brought to: `V`"}}, ofImport...),
					oneOf: []string{"write", "dry-run", "run"}, run: migrate},
			}},
			{use: "import [DIR|FILE…]", short: "bring what other tools recorded into the store",
				most: any, flags: append([]flag{
					{name: "from", usage: "only the layout `KIND`: go-vcr, httprr, vcrpy, sf or cassettes", values: kindNames}},
					ofImport...),
				oneOf: []string{"write", "dry-run", "run"}, run: importForeign},
			{use: "export -o DIR [PACKAGE]… [-- FLAG…]",
				short: "run the tests, and write what they replay as another tool keeps it",
				words: []string{"leave"}, most: any, forwards: true, flags: []flag{ofStore,
					{name: "output", letter: "o", usage: "the `DIR` to write below; . for where tests look for their cassettes"},
					{name: "to", usage: "the `TOOL` that the files are for", values: []string{toGoVCR}}},
				run: export},
			{use: "exec NAME -- COMMAND [ARG…]", short: "record, replay or check the model calls of a program in any language",
				least: 1, most: 1, forwards: true, flags: []flag{ofStore,
					{name: "update", bare: "1", usage: "record what changed or is new; `MODE` is all, new or rekey, see update"},
					{name: "check", usage: "ask the live models what is recorded, and compare"},
					{name: "allow", usage: "let pass `WHAT` is refused otherwise, such as cut-streams", list: true,
						values: allowanceNames},
					{name: "ignore", usage: "leave a part of requests out of the comparison: `POINTER` (RFC 6901)", list: true},
					{name: "keep-headers", usage: "keep headers of answers that the program reads: `NAME`, which may end in *",
						list: true},
					{name: "nondeterministic", usage: "lift the rules of determinism, for a reason that the snapshots keep: `WHY`"},
					{name: "pass-through", usage: "do not record what goes to `HOST`", list: true},
					{name: "record", usage: "record what goes to `HOST` also where it is no model call", list: true},
					{name: "scrub", usage: "keep a placeholder for the value of the environment variable `NAME`", list: true},
					{name: "stream-timing", usage: "record when the events of streams come, and replay them at that pace"}},
				oneOf: []string{"update", "check"}, run: exec},
			{use: "schema [NAME]", short: "print the JSON Schema of what traceforge writes", most: 1,
				complete: cobra.FixedCompletions(schemaNames(), cobra.ShellCompDirectiveNoFileComp), run: schema},
			{use: "git", short: "programs that git calls (see init --git)", commands: []command{
				{use: "textconv FILE", short: "show a document for git diff (see init --git)",
					least: 1, most: 1, run: textconv},
			}},
		}},
		{"", []command{
			{use: "version", short: "print the version of the command and of the format",
				flags: []flag{asJSON}, run: printVersion},
			{use: "man DIR", short: "write manual pages into a directory", least: 1, most: 1, run: writeManual},
		}},
	}
}
