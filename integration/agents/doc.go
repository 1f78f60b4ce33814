// Package agents runs agent frameworks over a recorder: eino, ADK and fantasy. It is a separate module, since they need
// other versions of the SDKs than integration does.
package agents
