// Package agents runs frameworks of agents over a recorder: eino, ADK and fantasy. It is a module of its own, since they
// need versions of the SDKs that others of integration do not.
package agents
