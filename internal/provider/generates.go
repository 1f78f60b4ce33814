package provider

// Generates reports whether the answers of an API are generated, so that a temperature and a
// seed say whether they would be the same again (design R7). Of the APIs that only the generic
// codec knows, nothing is known.
func Generates(api string) bool { return api != embeddingsAPI && api != httpAPI }
