// Package provider decodes the wire formats of model providers to [modelio.Request] and [modelio.Response], so that the
// rest of the project is independent of them.
//
// Each API is one [Codec], which its file registers; [Match] finds the codec of a request, and [ProviderOf] the
// provider. If no other codec matches a request, the generic codec, http.json, keeps it. Package encoder encodes the
// requests of the APIs that package contract calls.
//
// # What a request keeps
//
// A decoded request has lost nothing that was sent (design R6). It is in three places:
//
//   - Fields, for what all APIs share.
//   - Options, for members of the body without a field, and for members whose value does not fit theirs: a stop that
//     is a string, a temperature that is null or quoted, messages that are none. If an object contains the parameters,
//     such as Gemini's generationConfig, Options has the rest of that object.
//   - Metadata of messages, parts and tools, for their members without a field, under the
//     wire's own names: cache_control, name, detail, strict. If the wire has such a member
//     in an inner object, Metadata has it there too: {"image_url":{"detail":"low"}}.
//
// So the body consists of the fields in the API's usual form, with Options and Metadata on top, objects merged. A block
// that no part can represent, or that lacks what a part needs, is a custom part with all of its members.
//
// No two bodies decode to the same request, except for what is not part of a JSON value: the order of members, white
// space between them, and the spelling of escapes in strings that have a field. Numbers keep their spelling, and no
// integer is rounded. Tool arguments that are JSON within a string, which models see exactly, do not change: if the
// canonical form of the input differs from what was sent, Metadata has the text. Text with a lone surrogate, which no
// Go string can contain, does not fit a field. A member that only relates messages to each other is kept as present,
// without its value. The boundary of a multipart form, text outside of its parts, the order of parts with different
// names, and credentials in a query are not kept.
//
// Files of a form are parts of a message: text if they are text, and otherwise media.
//
// A codec refuses ambiguous bodies: an object with two members of a name, nesting deeper than 1,000, a member name with
// a lone surrogate; and one of our own marks as a member name. The error, a [*WireError], names the place. Text that is
// not JSON is left to http.json.
//
// # Marks
//
// If one value has several spellings, the one that most callers use is not mentioned and the others are marked, so that
// they are different requests. In Metadata, $wire is:
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
// Metadata has "role" if the wire's role is not the usual one for ours (developer is system, function is tool), and
// "type" if a block's type is not the usual one for its part, or if a tool is not the caller's own function.
//
// In Options, $url is what the URL adds to the endpoint (an Azure deployment, the method of Gemini, the query),
// $headers the headers that change behavior (anthropic-beta), $wire the form of a body for Bedrock's InvokeModel that
// is not Claude's, and $body a body that is not a JSON object.
//
// # What a response keeps
//
// An answer is not encoded again, because its bytes are stored (design R5), so mere spelling is dropped: null and empty
// members, indexes, padding, marks. A streamed answer is folded to the body that the API would have sent without
// streaming, and decoded from that, so that both give the same Response. Values that change with every call are outside
// of the parts: in Response.Metadata, or in the Metadata of a candidate's message (log probabilities, annotations).
// Signatures and encrypted reasoning, which must be sent back with their part, are in the part's Metadata.
//
// Numbers that nobody reads are replaced by a word. In the parts of APIs that do not generate, and in answers that the
// generic codec keeps completely, a list of more than 8 numbers is "numbers:sha256:…;1536;-0.1,0.2,0.3", and in
// embeddings a base64 text of 512 characters or more is "base64:sha256:…;6144". The bytes are in the raw answer, and
// the hash ties the record to them.
//
// Usage has one meaning: the input is everything the model read, cached or not, and the output everything it generated,
// reasoning or not, whatever a provider counts separately.
//
// Citations are one list for all APIs, with positions in characters of the text. If no codec knows the request,
// http.json decodes an answer in the form of a known API as that API's codec does. It keeps any other answer as its
// text, if there is an evident one, and a custom part with everything else, without times and with generated ids
// numbered.
//
// Calls of tools that Anthropic runs itself are also tool requests and responses, within the model's message;
// Metadata's type distinguishes them: server_tool_use. Calls that OpenAI runs itself are custom parts, like embeddings
// and the answers of APIs that http.json keeps.
package provider
