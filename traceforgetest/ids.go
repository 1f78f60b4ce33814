package traceforgetest

import (
	"regexp"
	"strings"
)

// handedOut is an id that a provider made for what it keeps for a while: an item of an answer, a
// conversation, a container, a batch. Those of what lives long and is named in a program's
// configuration (files, assistants, vector stores) are not among them: whoever sends another one
// has changed the request.
var handedOut = regexp.MustCompile(`^(amsg|apc|batch|call|cfile|chatcmpl|ci|cmp|cntr|container|conv|ctc|ctco|cu|cuo|fc|fco|fs|gen|ig|` +
	`lsh|lsho|mcp|mcpa|mcpl|mcpr|msg|msgbatch|resp|rs|run|srvtoolu|step|thread|toolu|tsc|tso|upload|ws)[-_]` +
	`([0-9A-Za-z]{16,}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})$`)

// uuid is one in the usual spelling: the id of an item, where a host has no ids like OpenAI's.
var uuid = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

// resource is the name, or the URL, of something that Google keeps for hours.
var resource = regexp.MustCompile(`^(https://generativelanguage\.googleapis\.com/[^/]+/)?(batches|cachedContents|files)/[0-9a-z-]{10,}$`)

// isHandedOut reports whether the value of a member is an id that a provider made.
func isHandedOut(member, value string) bool {
	switch {
	case resource.MatchString(value):
		return true
	case member == "id":
		return handedOut.MatchString(value) || uuid.MatchString(value)
	case member == "conversation", member == "container", strings.HasSuffix(strings.TrimSuffix(member, "s"), "_id"):
		return handedOut.MatchString(value)
	}
	return false
}

// uploaded is the id of a file of OpenAI's in a path: a call about a file that was uploaded before.
var uploaded = regexp.MustCompile(`^file-[0-9A-Za-z]{16,}$`)

// path numbers the ids among the segments of a URL's path.
func (o *opaque) path(path string) string {
	segments := strings.Split(path, "/")
	for i, segment := range segments {
		if handedOut.MatchString(segment) || uploaded.MatchString(segment) || i > 0 && resource.MatchString(segments[i-1]+"/"+segment) {
			segments[i] = o.number("item", segment)
		}
	}
	return strings.Join(segments, "/")
}
