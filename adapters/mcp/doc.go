// Package mcptraceforge records and replays the Model Context Protocol over any transport of its Go SDK, such as the
// pipe to a process. Its only function, [Transport], replaces the transport in the test.
//
// Servers that use streamable HTTP do not need this package: their transport takes the test's client, as in
// mcp.StreamableClientTransport{Endpoint: url, HTTPClient: tf.Client()}.
//
// Both are recorded in the same way and together with the test's model calls: tools that are listed and called,
// resources and prompts, and what the server requests from the program in the meantime: sampling, elicitation and
// roots. Notifications from the program, and the roots that it replies with, are passed on while recording, and are not
// recorded.
package mcptraceforge
