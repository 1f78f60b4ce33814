// Package mcptraceforge records and replays the Model Context Protocol over any transport of its Go SDK, such as the
// pipe to a process. It has one function, [Transport], which takes the place of the transport in the test.
//
// Servers that are reached over streamable HTTP need nothing of it: their transport takes the client of the test,
// as in mcp.StreamableClientTransport{Endpoint: url, HTTPClient: tf.Client()}.
//
// Both ways are recorded alike, and on the tape of the test's model calls: the tools that are listed and called,
// resources and prompts, and what the server asks of the program in the meantime: messages to sample, questions to its
// user, its roots. Notifications of the program are passed on while recording, and no part of the tape.
package mcptraceforge
