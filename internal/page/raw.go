package page

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/traceforge/traceforge-go/internal/drift"
	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/internal/provider"
)

// OtherBytes is a call whose raw answer changed while its record did not.
type OtherBytes struct {
	Place
	Changed []string `json:"changed"` // the first changed events and members, in words

	Of *Difference `json:"-"` // its document
}

// Tell sets the lines of [RawChanges].
func (b *OtherBytes) Tell(lines []string) {
	for _, line := range lines {
		b.Changed = append(b.Changed, jsontext.ShortPointer(line))
		b.Of.Raw = append(b.Of.Raw, fmt.Sprintf("call %d, %s", b.Call, jsontext.ShortPointer(line)))
	}
}

// RawChanges describes in a few lines where two raw answers differ: "event 3: /choices/0/logprobs changed". Changes in
// fewer events come first, because an id or a time changes in all of them.
func RawChanges(was, now *provider.Answer) (lines []string) {
	const most, mostPlaces = 5, 10_000
	before, around := rawValue(was)
	after, aroundNow := rawValue(now)
	events, places := map[string][]string{}, []string{} // numbers of events, by the change of a member
	streams := was.Events() != nil && now.Events() != nil
	differences := drift.First(mostPlaces, before, after)
	for _, d := range differences {
		event, place := "", cmp.Or(d.Pointer, "all of it")
		if streams && d.Pointer != "" { // otherwise an event is nested too deeply to be read
			number, pointer, _ := strings.Cut(d.Pointer[1:], "/")
			i, _ := strconv.Atoi(number)
			_, place, _ = strings.Cut(pointer, "data")
			event, place = strconv.Itoa(i+1), cmp.Or(place, pointer) // name of the event, or all of it
		}
		switch {
		case d.Recorded == nil:
			place += " added"
		case d.Got == nil:
			place += " removed"
		default:
			place += " changed"
		}
		if events[place] == nil {
			places = append(places, place)
		}
		events[place] = append(events[place], event)
	}
	slices.SortStableFunc(places, func(a, b string) int { return cmp.Compare(len(events[a]), len(events[b])) })
	if around != aroundNow || len(places) == 0 {
		is, was := Thousands(int64(aroundNow)), Thousands(int64(around))
		lines = append(lines, "white space, framing and spelling: "+is+" bytes, before "+was)
	}
	if len(differences) == mostPlaces {
		lines = append(lines, "these are among the first "+Thousands(mostPlaces)+" places that differ")
	}
	for _, place := range places {
		if at := Most(most, events[place], "more"); at[0] != "" {
			place = "event " + strings.Join(at, ", ") + ": " + strings.TrimSpace(place)
		}
		lines = append(lines, place)
	}
	return Most(most, lines, "more")
}

// rawValue returns an answer as one JSON value; a stream becomes a list of the names and data of its events. around is
// the number of bytes outside of the value: white space, and the framing of events.
func rawValue(a *provider.Answer) (value json.RawMessage, around int) {
	around = len(a.Body)
	take := func(data []byte) json.RawMessage {
		value := jsontext.Compact(data)
		around -= len(value)
		if _, err := jsontext.Parse(value); err != nil { // also with repeated members
			return jsontext.Text(strings.ToValidUTF8(string(value), "\ufffd"))
		}
		return value
	}
	stream := a.Events()
	if stream == nil {
		return take(a.Body), around
	}
	var all []json.RawMessage
	for e, err := stream.Next(); err == nil; e, err = stream.Next() {
		if data := bytes.TrimSpace(e.Data); len(data) > 0 { // otherwise it is a comment or an empty line
			around -= len(e.Name)
			all = append(all, jsontext.ObjectText(map[string]json.RawMessage{"data": take(data), "name": jsontext.Text(e.Name)}))
		}
	}
	return jsontext.List(all), around
}
