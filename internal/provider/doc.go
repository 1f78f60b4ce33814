// Package provider is the wire formats of model providers: what their APIs send and answer,
// decoded to [Request] and [Response] and requests encoded again, so that the rest of the project never
// sees a provider's own shape.
//
// Each API has one [Codec]; [Codecs] lists them. A new one is a file here, a fake in
// fakeprovider, a folder of cases in testdata and a line in that list.
//
// # What a request keeps
//
// A decoded request has lost nothing that was sent (design R6), in three places:
//
//   - Fields, for what all APIs share.
//   - Options, for members of the body without a field, and for members whose value
//     does not fit theirs: a stop that is a string, a temperature that is null or quoted, messages that are none.
//   - Metadata of messages, parts and tools, for what those say beside their fields, under the
//     wire's own names: cache_control, name, detail, strict. If the wire has such a member
//     in an inner object, so has Metadata: {"image_url":{"detail":"low"}}.
//
// So encoding is: write the fields as the API usually has them, and put Options and Metadata
// over that, merging objects. A block that has no part of its own, or that lacks what a part needs, is a custom
// part with all of its members.
//
// Values without a field keep their bytes, and numbers their spelling: no integer is
// rounded. Text with a lone surrogate, which no Go string can hold, counts as not fitting its
// field. Member order, white space between members and the spelling of escapes in strings that have
// a field are not kept; they are no part of a JSON value. In tool arguments, which are JSON within
// a string and which models see to the character, they are: where the input's canonical form
// is not what was sent, Metadata has the text.
//
// A codec refuses what says no one thing: text that is not JSON, an object with two members of a name, nesting
// deeper than 1,000, a member name with a lone surrogate, one of our own marks as a member
// name. The error, a [*WireError], names the place.
//
// # Marks
//
// Where one value has several spellings, the one that most callers use is not mentioned and
// others are marked, so that they drift apart and encode as they were. In Metadata, $wire is:
//
//	array          content of a message: a list of one text block (where a string is usual)
//	string         content of a message, or a medium: a string (where a list or object is usual)
//	reasoning      reasoning: in the member reasoning, not in reasoning_content
//	thinking       reasoning: a block of the content
//	refusal        text: in the member refusal of the message
//	function_call  tool request: in that member, not in tool_calls
//	untyped        tool request: without a type
//
// Metadata has "role" where the wire's role is not the usual one for ours (developer is system,
// function is tool), "type" where a block's type is not the usual one for its part, and "function"
// or "type" of a tool that is not the caller's own function.
//
// In Options, $url holds what the URL says beyond the endpoint: an Azure deployment, and the query
// without credentials.
//
// # What a response keeps
//
// An answer is not encoded again, as its bytes are stored (design R5), so what only spells it
// is dropped: null and empty members, indexes, padding, marks. A streamed answer is folded to
// the body that the API would have sent unstreamed, and decoded as that, so that both give the same
// Response. What changes with every call is outside of the parts: in Response.Metadata, and
// for one candidate in its message's Metadata (log probabilities, annotations).
//
// Calls of tools that the provider runs itself are tool requests and responses too, within the
// model's message; Metadata's type tells them apart: server_tool_use.
package provider
