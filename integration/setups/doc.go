// Package setups runs the real SDKs as people set their tests up: in a bubble of testing/synctest, behind a company's
// gateway, on a host of Azure's.
package setups
