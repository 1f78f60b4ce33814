// Package provider decodes the wire formats of model providers to [modelio.Request] and [modelio.Response]. So the
// rest of the project never sees a provider's own shape.
//
// Each API is one [Codec], which its file registers; [Match] finds that of a request, and
// [ProviderOf] says who is asked. Where no other takes a request, the generic codec, http.json, keeps
// it. Package encoder writes the requests of the APIs that package contract calls.
//
// # What a request keeps
//
// A decoded request has lost nothing that was sent (design R6). It is in three places:
//
//   - Fields, for what all APIs share.
//   - Options, for members of the body without a field, and for members whose value does not fit theirs: a stop that
//     is a string, a temperature that is null or quoted, messages that are none. Where an object has the parameters,
//     as Gemini's generationConfig does, Options has the rest of that object.
//   - Metadata of messages, parts and tools, for what those say beside their fields, under the
//     wire's own names: cache_control, name, detail, strict. If the wire has such a member
//     in an inner object, Metadata has it there too: {"image_url":{"detail":"low"}}.
//
// So the body is: the fields as the API usually has them, and Options and Metadata over that, objects
// merged. A block that has no part of its own, or that lacks what a part
// needs, is a custom part with all of its members.
//
// No two bodies decode to the same request, except for what is no part of a JSON value: the order of members, white
// space between them, and the spelling of escapes in strings that have a field. Numbers keep their spelling, and no
// integer is rounded. In tool arguments that are JSON within a string, which models see to the character, nothing
// changes: where the canonical form of the input is not what was sent, Metadata has the text. Text with a lone
// surrogate, which no Go string can hold, counts as not fitting its field. A member that only ties messages to each
// other, which a codec declares as Passing, is kept as present, without its value. Not kept are the boundary of a
// multipart form, what stands outside of its parts, the order of parts with different names, and credentials in a
// query. Files of a form are parts of a message: text where they are, else media.
//
// A codec refuses what says no one thing: an object with two members of a name, nesting deeper
// than 1,000, a member name with a lone surrogate; and one of our own marks as a member name.
// The error, a [*WireError], names the place. Text that is no JSON is for http.json.
//
// # Marks
//
// Where one value has several spellings, the one that most callers use is not mentioned and
// others are marked, so that they drift apart. In Metadata, $wire is:
//
//	array                 content of a message: a list of one text block (where a string is usual)
//	string                content of a message, or a medium: a string (where a list or object is usual)
//	reasoning, tool_plan  reasoning: in that member, not in reasoning_content
//	thinking, thought     reasoning: a block of the content, as a list of texts or as text
//	refusal               text: in the member refusal of the message
//	function_call         tool request: in that member, not in tool_calls
//	untyped               tool request: without a type
//	bare                  tool request: without arguments
//	spaced                arguments of a tool request: with a space after each comma and colon
//	nameless              tool response: without the name of its tool
//	instructions          system message: in that member, not in the input
//	preamble              system message: in that member, not in the history
//	tool_results          tool message: in that member, not in the history
//	input                 user message: the whole input, as a string
//	contents, content     user message: the whole input, as a list of contents or as one
//	text                  message: a frame of a session that is no JSON object
//	realtimeInput         message: the text of that frame
//	item                  message: an item of the input that is none, as its custom part has it
//	roleless              message: without a role
//	snake_case            part: names like function_call, where functionCall is usual
//	parametersJsonSchema  tool: its input schema is in that member
//	notification          in Options: a JSON-RPC message without an id, where one is usual
//	tool                  tool: not a function but an entry of the list, as Metadata has it
//
// Metadata has "role" where the wire's role is not the usual one for ours (developer is system,
// function is tool), and "type" where a block's type is not the usual one for its part, or a tool
// is not the caller's own function.
//
// In Options, $url is what the URL says beyond the endpoint (an Azure deployment, the method of
// Gemini, the query), $headers the headers that change behaviour (anthropic-beta), $wire the form of
// a body of Bedrock's InvokeModel that is not Claude's,
// and $body a body that is no JSON object.
//
// # What a response keeps
//
// An answer is not encoded again, as its bytes are stored (design R5), so what only spells it is dropped: null and
// empty members, indexes, padding, marks. A streamed answer is folded to the body that the API would have sent
// unstreamed, and decoded as that, so that both give the same Response. Values that change with every call are
// outside of the parts: in Response.Metadata, and for one candidate in its message's Metadata (log probabilities,
// annotations). Signatures and encrypted reasoning, which have to go back with the part they belong to, are in its
// Metadata.
//
// Numbers that nobody reads are told in a word. In the parts of APIs that generate nothing, and where the generic
// codec keeps an answer whole, a list of more than 8 numbers is "numbers:sha256:…;1536;-0.1,0.2,0.3", and in
// embeddings a base64 text of 512 characters or more is "base64:sha256:…;6144". The bytes are in the raw answer, and
// the hash holds the record against them.
//
// Usage means one thing: the input is all that the model read, cached or not, the output all that it
// made, reasoning or not, whatever a provider counts apart.
//
// Citations are one list for all APIs, with places in characters of the text. Where no codec knows the request,
// http.json decodes an answer in the form of a known API as that API's codec does. It keeps any other answer as its
// text, where one is evident, and a custom part with all else, without times and with the ids of what was made
// numbered.
//
// Calls of tools that Anthropic runs itself are tool requests and responses too, within the model's message;
// Metadata's type tells them apart: server_tool_use. Calls that OpenAI runs itself are custom parts, as are
// embeddings and the answers of APIs that http.json keeps.
package provider
