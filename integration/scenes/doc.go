// Package scenes tests how a pull request shows changes of a store: each test records, changes the program, records
// again and reads git's diff. Other tests cover the problems that stopped the move of public suites to traceforge. The
// problems have numbers:
//
//	K1  HTTP that is no model call is recorded: traceforgetest.TestRecordHosts; passed on: traceforgetest.TestPassThrough
//	K2  no client waits on a drift: integration/scenes.TestDriftIsTriedOnce, traceforgetest.TestClientsThatRetry
//	K3  a test that skips after a call is told: traceforgetest.TestSkipAfterACall; headers: traceforgetest.TestKeepHeaders, traceforgetest.TestDroppedHeadersAreNamed
//	K4  determinism, said once: traceforgetest.TestReasonOfTheRepository, traceforgetest.TestModelsThatTakeNoTemperature, traceforgetest.TestRefusalTeaches
//	K5  a 429 on purpose: integration/scenes.TestRateLimit, traceforgetest.TestAllowRetryableErrors
//	K6  no call is expected: traceforgetest.TestAllowNoCalls, traceforgetest.TestWorkflow/options
//	K7  several agents, one recorder: traceforgetest.TestNewAgain, traceforgetest.TestNewAtOnce
//	K8  equal requests at once: traceforgetest.TestLane, traceforgetest.TestEqualRequestsAtOnce
//	K9  words are marked, causes told once: internal/drift.TestText, traceforgetest.TestWorkflow/causes, cmd/traceforge.TestWorkflow/diff
//	K10 a wording is accepted without keys: traceforgetest.TestRekey, cmd/traceforge.TestWorkflow/rekey
//	K11 files and bytes: integration/moving/suite.TestTable
//	K12 a test module of its own: traceforgetest.TestWorkflow/moving
//	K13 a project's own RoundTrip and Do are nobody's call: traceforgetest.TestSource
//	K14 the line is the caller's: traceforgetest.TestSource, traceforgetest.TestTell
//	K15 uploads from t.TempDir: integration/scenes.TestUploadFromATemporaryDirectory
//	K16 a suite moves without keys: integration/moving.TestMoving, traceforgetest.TestWorkflow/moving, cmd/traceforge.TestWorkflow/import
package scenes
