// Package traceforgetest records the calls that a program makes to language models, as golden snapshots, and replays them
// in go test. A test fails when a call drifts from its snapshot.
//
// The one thing to know: go test never calls a model. Only -update does.
//
//	go test ./...                           in CI and everywhere: replays, without a network and without a key
//	go test ./agents -run '^TestX$' -update accepts a change: makes the calls that changed, and records them
//	git diff .ai-snapshots                  what reviewers read in the pull request: JSON, one document for each test
//
// A test asks for a recorder and gives its client to the code under test:
//
//	func TestSummarize(t *testing.T) {
//		tf := traceforgetest.New(t)
//		client := openai.NewClient(option.WithHTTPClient(tf.Client()), option.WithAPIKey(os.Getenv("OPENAI_API_KEY")))
//		got, err := Summarize(t.Context(), client, "AI is transforming software development")
//		require.NoError(t, err)
//		require.Contains(t, got, "software")
//	}
//
// A failure says what changed and names the command that accepts it:
//
//	--- FAIL: TestSummarize (0.00s)
//	    summarize.go:31: traceforge: openai request drifted from .ai-snapshots/openai/shop-agents-testsummarize-3f9a0c41d2be.json, call 1 (- recorded, + got)
//	          system, line 2
//	        - Never guess.
//	        + Do not guess.
//	        changed: system
//	        accept: go test example.com/shop/agents -run '^TestSummarize$' -update
//
// The example of [New] is a whole file to copy. The other examples are bodies of tests: t is that of the test. [Getting started] takes two minutes; the glossary beside it has the words.
//
// # Stability
//
// The module is at version 0: the API may change between minor versions, and the changelog says what to write instead. Recordings are
// safer than that: each document names the version of its format, a change of the format comes with a migration that needs no
// call, and an older version never overwrites what a newer one wrote. Texts of failures are for people, and may change.
//
// # Recording
//
// TRACEFORGE_UPDATE=1 go test ./... serves the calls that still match a snapshot, makes those that changed or are
// new, and records them under .ai-snapshots beside the go.mod. For one package there is a flag, go test ./agents
// -update; with ./... go would pass it to packages that do not use this one, which do not know it. Snapshots that are
// not called any more go, unless the test was run in part: with -short, with -skip, or with a -run that selects some
// of its subtests. A line in the test's log says what became of its snapshots, and what that cost:
//
//	traceforge: 3 kept, 1 changed (system, answer), 1 new, 412 tokens
//
// TRACEFORGE_UPDATE takes these modes. -update takes them too where the flag is this package's:
//
//   - 1 as above;
//   - all makes every call again. It is for conversations whose ids the provider has forgotten, and for options
//     that snapshots were recorded without, such as [KeepHeaders];
//   - new makes only the calls that are like no snapshot, and fails like replay where a call changed;
//   - tools runs the tools again, and asks models only where that changes their requests;
//   - rekey makes no call: a call that changed adopts the stored answer, which is marked as stale until the next
//     -update buys it. Changed rules of [Scrub] and [Ignore] are applied to all snapshots of a test too;
//   - check compares, and writes nothing: see below;
//   - live gives the program live answers of models, and the recorded ones of tools; TRACEFORGE_CHECK=kind=tools turns
//     that round, kind=all makes all live. Nothing is written.
//
// A snapshot whose request and answer did not change is not rewritten, whatever ids, times, token counts and the
// pieces that a stream came in: replay goes on serving the bytes of the first recording.
//
// Nothing is recorded for a test that fails or is skipped, and nothing is bought twice: each answer is written to
// .ai-snapshots/.pending when it is complete, also if the process is killed later. The next -update uses it;
// traceforge accept and traceforge reject decide without one. Replay never looks there.
//
// Recording refuses what would make a golden worthless: a temperature other than 0 or no seed where the API has one
// ([Nondeterministic] lifts that), and, unless [Allow] says otherwise, an answer that was cut and answers of status
// 408, 429 and 5xx, which ask to try again. HTTP that looks like no call of an API is refused too: [Record] records it,
// [PassThrough] lets it pass. The test's log says which parts of a recording replay will not have: go test -v shows
// it.
//
// # Options of a package
//
// Options that every test of a package needs go into a helper that its tests call instead of New:
//
//	func newRecorder(t *testing.T) *traceforgetest.Recorder {
//		t.Helper()
//		return traceforgetest.New(t, traceforgetest.Nondeterministic("our models take no temperature"))
//	}
//
// A setting of the whole repository stands once in .ai-snapshots/config.json, such as {"nondeterministic": "our
// models take no temperature"}. A model that is known to take no temperature need not be sent one, and the record
// says so.
//
// # Replaying
//
// Without -update no call leaves the process and nothing is written. A call is answered by the
// first snapshot of its test that has the same provider and the same request and was not
// played yet; what SDKs make random (ids of tool calls, signatures) does not count. Independent
// calls may come in any order; equal ones that are made at once need a [Recorder.Lane] each. A test fails if a
// call has no such snapshot, if a recorded call is not made, if it makes no call at all, and if a file of the
// store is not what was recorded.
//
// # Checking
//
// TRACEFORGE_UPDATE=check go test serves what is stored, as replay does, and makes each call that generates
// live as well, beside the test: with the client's own headers and body, or through the live model of
// [Recorder.Model]. The test fails where the live answer is another, or where there is none; nothing is
// written. TRACEFORGE_CHECK holds options, joined by "&":
//
//   - repeat=10 makes each call ten times, and fails on variance;
//   - tier=tools compares tool calls, finish reason and answering model, and not the text;
//   - sample=20 makes a fifth of the calls, and shard=1/4 a quarter, the same in each run;
//   - model=OLD=NEW asks another model;
//   - kind=tools runs the tools instead, and kind=all both;
//   - from=3 leaves out the first two calls of each test.
//
// At most four live calls are made at once, each within five minutes. Calls that name what a provider keeps and
// may have forgotten are not checkable; "traceforge help check" lists them. The command traceforge check makes a
// report of it.
//
// # Tests of other kinds
//
// A subtest with a recorder of its own has its own snapshots; subtests may also share the
// recorder of their parent. A benchmark makes its calls before its loop, since how often that
// runs is not known. A fuzz target that calls a model for its inputs has snapshots of its seeds,
// each a test with a recorder made from the t of the seed; go test -fuzz makes inputs that have none.
//
// # What is used
//
// [Recorder.Client] is for SDKs that take an *http.Client, [Recorder.URL] for code and child processes that take a
// base URL, [Recorder.Model] for models behind the [modelio.Model] interface, [Recorder.Tool] for tools.
// [Recorder.Calls] gives what was asked and answered, for assertions on what a program did, and [Recorder.Fault] lets
// recorded answers go wrong, for tests of what follows. Function Of in package modelio/session makes a Model IO
// session of the calls.
//
// [Getting started]: https://github.com/traceforge/traceforge-go/blob/main/docs/getting-started.md
package traceforgetest
