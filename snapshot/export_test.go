package snapshot

// ParseMedium is what tells that a string of a message is the name of a medium.
var ParseMedium = parseMedium

// LayOut is how a compact text becomes a file, in its own memory.
var LayOut = layOut
