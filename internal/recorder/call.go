package recorder

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"github.com/traceforge/traceforge-go/internal/inorder"
	"github.com/traceforge/traceforge-go/internal/provider"
	"github.com/traceforge/traceforge-go/internal/scrub"
	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/snapshot"
)

// A key identifies a call (design R9). Recording, replay and recorded requests get their keys from the same function.
type key struct {
	provider string
	core     [sha256.Size]byte
	lane     string
	messages int // lengthOf the request
}

// keyOf returns the key of a request with a core. The ignored pointers are a part of it: a record that ignores more
// than the test does would show its reviewers what was never sent.
func keyOf(provider, lane string, request *modelio.Request, core []byte, ignored []string) key {
	for _, pointer := range inorder.Strings(ignored) {
		core = append(append(core, '\n'), pointer...)
	}
	return key{provider, sha256.Sum256(core), lane, lengthOf(request, ignored)}
}

// lengthOf returns the number of messages of a request, or 0 if some may be ignored. It is equal for requests with one
// key.
func lengthOf(request *modelio.Request, ignored []string) int {
	if len(ignored) > 0 {
		return 0
	}
	return len(request.Messages)
}

// id returns the key as a string.
func (k key) id() string { return k.provider + string(k.core[:]) + k.lane }

// A call is a request as a snapshot stores it: its ids are numbered, its media named, and scrubbed values are
// placeholders.
type call struct {
	key     // without its core while the call may be replayed as it was sent; knownKey computes it
	once    sync.Once
	ignored []string
	equal   *snapshot.Snapshot // the record that the request equals as it was sent; nil if none was found

	what      fmt.Stringer // how messages name it: "POST https://…"
	over      error        // why the call's context had already ended when the call was made
	codec     *provider.Codec
	request   *modelio.Request
	numbering modelio.Numbering // for the answer
	ids       []string          // what the provider made and the request has as numbers: see nameIDs, nameGiven
	stable    []string          // these as records have them
	named     string            // the kind of the first
	talk      string            // the one of a conversation or thread, or ""
	media     media
	values    *scrub.Values // what its placeholders stand for

	nextStep func() (*Step, error) // takes the next step of the test's script; nil without a script
	step     *Step                 // the step that was taken, or nil

	turn *turn // whose failed tool cancels the call; nil for any other call
}

// knownKey returns the key of a call, and computes the core if it is still missing.
func (c *call) knownKey() key {
	c.once.Do(func() {
		if c.core == (key{}).core {
			core, _ := snapshot.RequestCore(c.request, c.ignored) // a record has a core
			k := keyOf(c.provider, c.lane, c.request, core, c.ignored)
			c.core, c.messages = k.core, k.messages
		}
	})
	return c.key
}

func (c *call) id() string { return c.knownKey().id() }

// identify decodes a request and computes its key.
func (r *run) identify(w *wire) (*call, error) {
	codec, ok := r.codecOf(w)
	switch {
	case w.isGRPC():
		return nil, failuref(w.String()+" is a call of gRPC, which is not recorded",
			"use the provider's HTTP API, or record the model itself: tf.Model")
	case !ok:
		return nil, r.unknownCallFailure(w)
	}
	var c *call
	request, err := codec.DecodeRequest(&w.Wire)
	if err == nil {
		c, err = r.newCall(provider.ProviderOf(&w.Wire, codec, r.config.Hosts), w.lane, codec, request)
	}
	if err != nil {
		return nil, failuref(fmt.Sprintf("%s cannot be kept: %v", w, err))
	}
	c.what = w
	return c, nil
}

// newCall returns the call of a request; it may change the request.
func (r *run) newCall(name, lane string, codec *provider.Codec, request *modelio.Request) (*call, error) {
	c := &call{codec: codec, ignored: r.Ignored}
	fitParameters(request)
	inCallOrder(request.Messages)
	var err error
	if c.request, err = c.numbering.Request(request); err != nil {
		return nil, err
	}
	c.nameIDs()
	c.request = c.media.request(c.request)
	if c.provider, c.lane = name, lane; r.needsNoKey(c) {
		_, c.values = r.rules.Live(c.request, nil)
		return c, nil
	}
	c.key, c.request, c.values, err = keyed(name, lane, c.request, r.Ignored, r.rules.Live)
	return c, err
}

// inCallOrder puts adjacent results of tools in the order of the calls that asked for them. Tools that run at once end
// in any order, and some agents append the results as they come (design R9).
func inCallOrder(messages []modelio.Message) {
	var asked map[string]int // by ref, from 1; refs may come again
	last := 0
	isEarlier := func(a, b modelio.Part) bool {
		if a.ToolResponse == nil || b.ToolResponse == nil {
			return false
		}
		first, second := asked[a.ToolResponse.Ref], asked[b.ToolResponse.Ref]
		return first > 0 && first < second
	}
	isResult := func(m *modelio.Message) bool {
		isOther := func(p modelio.Part) bool { return p.ToolResponse == nil }
		return len(m.Content) > 0 && !slices.ContainsFunc(m.Content, isOther)
	}
	for i := range messages {
		parts := messages[i].Content
		for n := range parts {
			if of := parts[n].ToolRequest; of != nil && of.Ref != "" {
				if asked == nil {
					asked = map[string]int{}
				}
				last++
				asked[of.Ref] = last
			}
			for ; n > 0 && isEarlier(parts[n], parts[n-1]); n-- {
				parts[n-1], parts[n] = parts[n], parts[n-1]
			}
		}
		for n := i; n > 0 && isResult(&messages[n]) && isResult(&messages[n-1]) &&
			isEarlier(messages[n].Content[0], messages[n-1].Content[0]); n-- {
			messages[n-1], messages[n] = messages[n], messages[n-1]
		}
	}
}

// matchUnknown gives a call the key of an imported record if the two differ only in headers that the recording did not
// keep. The caller holds the lock.
func (r *run) matchUnknown(c *call) {
	if r.Mode == UpdateAll || c.core == (key{}).core || r.openTape(c.provider) != nil || len(r.tape.unknown) == 0 {
		return
	}
	without := provider.WithoutHeaders(c.request, r.tape.unknown)
	core, err := snapshot.RequestCore(without, c.ignored)
	k := keyOf(c.provider, c.lane, without, core, c.ignored)
	if i, how := r.tape.find(k); err == nil && how == found && len(r.tape.records[i].Source.Unknown) > 0 {
		c.key, c.request = k, without
	}
}

// needsNoKey reports whether a record equals the call as it was sent, so that no key is needed.
func (r *run) needsNoKey(c *call) bool {
	if r.Mode != Replay || c.codec.Session != nil || c.codec.Realtime != nil {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.openTape(c.provider) != nil { // the error is told when the call is answered
		return false
	}
	_, ok := r.tape.findAsSent(c)
	return ok
}

// fitParameters moves numbers that do not fit the format's fields to the options, so that a call with such a number can
// be recorded.
func fitParameters(r *modelio.Request) {
	for _, p := range modelio.Parameters {
		field := p.Field(r)
		if *field == nil {
			continue
		}
		if value, err := (*field).Float64(); err == nil && (value < p.Least || value > p.Most) {
			if r.Options == nil {
				r.Options = modelio.Object{}
			}
			r.Options[p.Name] = json.RawMessage(**field)
			*field = nil
		}
	}
}
