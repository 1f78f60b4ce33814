package snapshot

// ParseMedium reports whether a string of a message is the name of a medium.
var ParseMedium = parseMedium

// LayOut lays out a compact text in its own memory.
var LayOut = layOut
