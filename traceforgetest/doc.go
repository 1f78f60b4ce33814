// Package traceforgetest records the calls that a program makes to language models as golden snapshots, and replays
// them in go test. A test fails when a call drifts from its snapshot.
//
// The one thing to know: go test never calls a model. Only -update does.
//
//	go test ./...                           in CI and everywhere: replays, without a network and without a key
//	go test ./agents -run '^TestX$' -update accepts a change: makes the calls that changed, and records them
//	git diff .ai-snapshots                  shows reviewers the change in the pull request: JSON, one document per test
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
// The example of [New] is a complete file to copy. The other examples are bodies of tests, where t is the test's
// *testing.T. [Getting started] takes two minutes; the glossary next to it explains the terms.
//
// # Stability
//
// The module is at version 0: the API may change between minor versions, and the changelog says what to write instead.
// Recordings are more stable: each document names the version of its format, a format change comes with a migration
// that needs no live call, and an older version never overwrites what a newer one wrote. Failure messages are for
// people and may change.
//
// # Recording
//
// TRACEFORGE_UPDATE=1 go test ./... serves the calls that still match a snapshot, makes the calls that changed or are
// new, and records them under .ai-snapshots next to the go.mod. For a single package there is a flag: go test
// ./agents -update. With ./... go test would also pass the flag to packages that do not import this one and do not
// know it. Snapshots that are no longer called are removed, unless only part of the test ran: with -short, with -skip,
// or with a -run that selects some of its subtests. A line in the test's log says what happened to its snapshots and
// what that cost:
//
//	traceforge: 3 kept, 1 changed (system, answer), 1 new, 412 tokens
//
// TRACEFORGE_UPDATE takes one of these modes. So does -update=MODE, unless the test binary has an -update flag of its
// own:
//
//   - 1 works as described above;
//   - all makes every call again. Use it when the provider has forgotten the ids of a conversation, and for options
//     that were added after recording, such as [KeepHeaders];
//   - new makes only calls that resemble no snapshot, and fails like replay where a call changed;
//   - tools runs the tools again, and calls models only where that changes their requests;
//   - rekey makes no live call: a changed call keeps its stored answer, which is marked stale until the next -update
//     buys a new one. It also applies changed [Scrub] and [Ignore] rules to all snapshots of the test;
//   - check compares with live answers and writes nothing: see below;
//   - live gives the program live answers from models and recorded results from tools. TRACEFORGE_CHECK=kind=tools
//     does the reverse, and kind=all makes every call live. Nothing is written.
//
// A snapshot whose request and answer are unchanged is not rewritten. Ids, times, token counts and the way a stream
// was split into pieces do not count as changes: replay keeps serving the bytes of the first recording.
//
// Nothing is recorded for a test that fails or is skipped, and nothing is bought twice: each answer is written to
// .ai-snapshots/.pending as soon as it is complete, so it survives even if the process is killed. The next -update
// uses it; traceforge accept and traceforge reject decide about it without running the test. Replay never looks there.
//
// Recording refuses whatever would make a golden worthless: a temperature other than 0, or a missing seed where the API
// has one ([Nondeterministic] lifts both), and, unless [Allow] permits them, truncated answers and answers with status
// 408, 429 or 5xx, which ask the client to retry. HTTP requests that do not look like a model call are refused too:
// [Record] records them, and [PassThrough] lets them pass. The test's log (go test -v) says which parts of a recording
// will be missing in replay.
//
// # Options of a package
//
// Put options that every test of a package needs into a helper, which the tests call instead of New:
//
//	func newRecorder(t *testing.T) *traceforgetest.Recorder {
//		t.Helper()
//		return traceforgetest.New(t, traceforgetest.Nondeterministic("our models take no temperature"))
//	}
//
// A setting for the whole repository goes into .ai-snapshots/config.json, for example {"nondeterministic": "our models
// take no temperature"}. A model that is known to take no temperature does not need one, and the record says so.
//
// # Replaying
//
// Without -update no call leaves the process and nothing is written. A call is answered by the first unplayed snapshot
// of its test that has the same provider and the same request. Values that SDKs generate at random, such as tool call
// ids and signatures, are not compared. Independent calls may come in any order; identical calls that run concurrently
// need a [Recorder.Lane] each. A test fails if a call has no matching snapshot, if a recorded call is not made, if the
// test makes no call at all, or if a file in the store is not what was recorded.
//
// # Checking
//
// TRACEFORGE_UPDATE=check go test serves the stored answers, as replay does, and also makes each generating call live
// alongside the test: with the client's own headers and body, or through the live model of [Recorder.Model]. The test
// fails if the live answer differs or is missing; nothing is written. TRACEFORGE_CHECK holds options, joined by "&":
//
//   - repeat=10 makes each call ten times, and fails if the answers vary;
//   - tier=tools compares tool calls, finish reason and answering model, but not the text;
//   - sample=20 makes 20 percent of the calls, and shard=1/4 a quarter of them, the same ones in each run;
//   - model=OLD=NEW calls another model;
//   - kind=tools runs the tools instead of calling models, and kind=all does both;
//   - from=3 leaves out the first two calls of each test.
//
// At most four live calls run at once, and each may take five minutes. Calls that refer to something the provider
// stores and may have forgotten cannot be checked; "traceforge help check" lists them. The command traceforge check
// makes a report of the results.
//
// # Tests of other kinds
//
// A subtest with its own recorder has its own snapshots; subtests may also share the recorder of their parent. A
// benchmark must make its calls before its loop, because the number of iterations is not known. A fuzz target that
// calls a model has snapshots for its seeds: each seed is a test, with a recorder made from that test's t. Inputs that
// go test -fuzz generates have no snapshots.
//
// # Entry points
//
// Use [Recorder.Client] for SDKs that take an *http.Client, [Recorder.URL] for code and child processes that take a
// base URL, [Recorder.Model] for models behind the [modelio.Model] interface, and [Recorder.Tool] for tools.
// [Recorder.Calls] returns the requests and answers, for assertions on what a program did. [Recorder.Fault] makes
// recorded answers fail, for tests of error handling. Function Of in package modelio/session turns the calls into a
// Model IO session.
//
// [Getting started]: https://github.com/traceforge/traceforge-go/blob/main/docs/getting-started.md
package traceforgetest
