package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/contract"
)

// A journal is the output of contract show --json: recorded calls in the terms of the call contract (LC).
type journal struct {
	Calls []*contract.Recorded `json:"calls"`
}

// journalOf returns the journal of the chosen calls. It omits calls that are not generations unless one is chosen
// alone, and says so if there are no others. With an error it returns the calls before.
func (c *call) journalOf(chosen []selection) (journal, error) {
	all := journal{Calls: []*contract.Recorded{}}
	for _, s := range chosen {
		if s.Name == "" {
			return all, errNotInStore
		}
		for i, record := range s.calls() {
			call, err := recordedCall(s.Doc, i)
			if errors.Is(err, contract.ErrUnsupported) && s.call < 0 {
				continue
			}
			if err != nil {
				return all, fmt.Errorf("%s: %w", record.ID, err)
			}
			all.Calls = append(all.Calls, call)
		}
	}
	if len(all.Calls) == 0 {
		c.say("no call of %s is a generation: the call contract has no words for it", c.args[0])
	}
	return all, nil
}

// errNotInStore is the error for a document outside a store whose raw answers are needed.
var errNotInStore = usagef("the raw answers beside a document are needed: name one of a store")

// showContract prints the params, the receipt and the envelope of each call of a test.
func showContract(c *call) error {
	chosen, broken := selectCalls(c, c.args[0])
	if len(chosen) == 0 {
		return broken
	}
	all, err := c.journalOf(chosen)
	if err != nil {
		return err
	}
	c.answer(all, func() {
		for i, call := range all.Calls {
			if i > 0 {
				c.text("\n")
			}
			c.text(contractText(call))
		}
	})
	return broken
}

// contractText returns a call for people: each object below the hash by which show prints it.
func contractText(call *contract.Recorded) string {
	var b bytes.Buffer
	fmt.Fprintf(&b, "call      %s\n", call.Call)
	word := func(name string, text *string) {
		if text != nil {
			fmt.Fprintf(&b, "%-9s %s\n", name, *text)
		}
	}
	word("run", call.RunID)
	word("step", call.StepID)
	word("config", (*string)(call.ConfigHash))
	object := func(name string, ref canon.Hash, v any) {
		text, _ := json.MarshalIndent(v, "  ", "  ") // only params without a value of a sum type fail, which no record has
		fmt.Fprintf(&b, "%-9s %s\n  %s\n", name, ref, text)
	}
	object("params", call.ParamsRef, call.Params)
	object("receipt", call.ReceiptRef, call.Receipt)
	object("envelope", call.Receipt.OutputRef, call.Envelope)
	return b.String()
}
