package secret

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"io"
	"iter"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/traceforge/traceforge-go/internal/jsontext"
)

// deepest is the number of nested encodings of bytes that are decoded, such as base64 within base64.
const deepest = 2

// The limits of how much decompressed data is searched, in bytes. The rest of a longer piece is not searched. A scan
// reports the pieces after mostInAll as [tooMuch].
const (
	mostInflated = 16 << 20 // of one piece
	mostInAll    = 32 << 20 // after which a scan decompresses no other piece
)

const tooMuch = "more compressed data than is searched for secrets"

// A view searches a text and everything that it encodes for secrets. It decodes escapes of JSON strings, including
// strings within strings, and \x; percent-encoding, once and twice; quoted-printable; numeric character references of
// HTML; base64 and base64url, as in Basic, data URLs and MIME parts; base32; hexadecimal; UTF-16 within base64; gzip
// and zlib. It is for one goroutine, and reuses its memory for the next text.
type view struct {
	index   *index
	scratch [deepest + 1]struct{ once, twice, percent, again, mail, run []byte }
	long    longRuns

	inflated int // bytes that this scan has decompressed
}

// A text is decoded in windows, so that a long one is not copied as a whole. The overlap of windows is longer than any
// secret in encoded form.
const (
	window  = 32 << 10 // bytes
	overlap = 8 << 10  // bytes

	longestRun = 64 << 10 // bytes by which a window may be longer, to end after base64
)

// find searches a text, plain and decoded, for a secret. what describes the secret.
func (v *view) find(text []byte) (what string, found bool) {
	if bytes.HasPrefix(text, []byte{0x1f, 0x8b}) {
		if text, found = v.inflate(text); found {
			return tooMuch, true
		}
	}
	if what, found = v.asItStands(text); found {
		return what, true
	}
	for from := 0; ; from += window {
		end := min(from+window+overlap, len(text))
		for most := min(end+longestRun, len(text)); end < most && base64Digit[text[end]]; {
			end++ // not in the middle of base64
		}
		if what, found = v.inEncodings(text[from:end], 0, from > 0); found || end == len(text) {
			return what, found
		}
		from = end - overlap - window
	}
}

// inEncodings decodes a part of a text and searches the result. depth is the number of encodings that were decoded to
// get the part; cut is true if it may start in the middle of base64.
func (v *view) inEncodings(text []byte, depth int, cut bool) (what string, found bool) {
	scratch := &v.scratch[depth]
	for _, buffer := range []*[]byte{&scratch.once, &scratch.twice} {
		if bytes.IndexByte(text, '\\') < 0 {
			break
		}
		*buffer = appendUnescaped((*buffer)[:0], text)
		text = *buffer
		if what, found = v.asItStands(text); found {
			return what, true
		}
	}
	for _, buffer := range []*[]byte{&scratch.percent, &scratch.again} { // twice for a URL within a URL
		if bytes.IndexByte(text, '%') < 0 {
			break
		}
		if *buffer = percentDecode((*buffer)[:0], text, '%'); len(*buffer) == len(text) {
			break
		}
		text = *buffer
		if what, found = v.asItStands(text); found {
			return what, true
		}
	}
	if bytes.IndexByte(text, '=') >= 0 { // rare in texts other than mail
		scratch.mail = percentDecode(scratch.mail[:0], text, '=')
		if what, found = v.asItStands(scratch.mail); found && len(scratch.mail) < len(text) {
			return what, true
		}
	}
	if bytes.Contains(text, []byte("&#")) {
		if what, found = v.asItStands(entities(text)); found {
			return what, true
		}
	}
	if depth == deepest {
		return "", false
	}
	for run := range runs(text) {
		if what, found = v.inBase64(run, depth, cut && &run[0] == &text[0]); found {
			return what, true
		}
	}
	return "", false
}

// asItStands searches a text for a secret without decoding it.
func (v *view) asItStands(text []byte) (what string, found bool) {
	clear(v.long)
	what, _, end := v.index.next(text, 0, &v.long)
	return what, end > 0
}

// inBase64 decodes a run of base64 digits and searches the result; it also decodes the run as hexadecimal and base32. A
// slash may belong to a path, so the parts after slashes are searched too. If the run was cut, the start of its groups
// of four digits is unknown.
func (v *view) inBase64(run []byte, depth int, cut bool) (what string, found bool) {
	if bytes.IndexByte(run, '\n') >= 0 {
		run = bytes.ReplaceAll(bytes.ReplaceAll(run, []byte("\r"), nil), []byte("\n"), nil)
	}
	encoding := base64.RawStdEncoding
	if bytes.ContainsAny(run, "-_") {
		encoding = base64.RawURLEncoding
	}
	scratch := &v.scratch[depth]
	look := func(run []byte) bool {
		scratch.run = appendDecoded(scratch.run[:0], encoding, run)
		plain := scratch.run
		if wide := bytes.Count(plain, []byte{0}); wide > 0 && wide >= len(plain)/3 { // UTF-16
			plain = bytes.ReplaceAll(plain, []byte{0}, nil)
		}
		if bytes.HasPrefix(plain, []byte{0x1f, 0x8b}) || bytes.HasPrefix(plain, []byte{0x78}) {
			if plain, found = v.inflate(plain); found {
				what = tooMuch
				return true
			}
		} else if len(plain) < longestWord && !printable(plain) {
			return false
		}
		if what, found = v.asItStands(plain); !found {
			what, found = v.inEncodings(plain, depth+1, false)
		}
		return found
	}
	for _, decode := range []func(string) ([]byte, error){fromHex, base32Digits.DecodeString} {
		if plain, err := decode(string(run)); err == nil {
			if what, found = v.asItStands(plain); found {
				return what, true
			}
		}
	}
	if look(run) || cut && (look(run[1:]) || look(run[2:]) || look(run[3:])) {
		return what, true
	}
	for slash := bytes.IndexByte(run, '/'); slash >= 0 && len(run) < longestPath; slash = bytes.IndexByte(run, '/') {
		if run = run[slash+1:]; len(run) >= leastEncoded && look(run) {
			return what, true
		}
	}
	return "", false
}

const (
	longestPath = 1000 // digits: in longer runs, a slash is a base64 digit
	longestWord = 60   // bytes: if fewer are decoded and they are no text, the run was a name and not base64
)

func printable(text []byte) bool {
	odd := func(c rune) bool { return c < ' ' && c != '\n' && c != '\t' && c != '\r' || c >= 0x7f }
	return !bytes.ContainsFunc(text, odd)
}

// fromHex decodes hexadecimal digits, and ignores an odd one at the end.
func fromHex(run string) ([]byte, error) { return hex.DecodeString(run[:len(run)&^1]) }

var base32Digits = base32.StdEncoding.WithPadding(base32.NoPadding)

// inflate decompresses gzip or zlib data. over is true if the scan has decompressed too much before.
func (v *view) inflate(data []byte) (plain []byte, over bool) {
	r, err := io.Reader(nil), error(nil)
	if data[0] == 0x78 {
		r, err = zlib.NewReader(bytes.NewReader(data))
	} else {
		r, err = gzip.NewReader(bytes.NewReader(data))
	}
	if err != nil {
		return data, false
	}
	if v.inflated >= mostInAll {
		return nil, true
	}
	plain, _ = io.ReadAll(io.LimitReader(r, mostInflated)) // of broken data, as much as can be read
	v.inflated += len(plain)
	return plain, false
}

// appendUnescaped appends text to plain, with the escapes of JSON strings and \x decoded. Any other text stays as it
// is.
func appendUnescaped(plain, text []byte) []byte {
	i := bytes.IndexByte(text, '\\')
	for ; i >= 0 && i+1 < len(text); i = bytes.IndexByte(text, '\\') {
		plain = append(plain, text[:i]...)
		r, n := jsontext.Unescape(text[i:])
		c, isByte := hexadecimal(text[i+2:])
		switch {
		case text[i+1] == 'x' && isByte:
			plain, n = append(plain, c), len(`\x00`)
		case n > 0:
			plain = utf8.AppendRune(plain, r)
		default:
			plain, n = append(plain, '\\'), 1
		}
		text = text[i+n:]
	}
	return append(plain, text...)
}

// percentDecode appends text to plain, with percent-encoding decoded. With the mark "=" it decodes quoted-printable,
// including its soft line breaks.
func percentDecode(plain, text []byte, mark byte) []byte {
	for i := bytes.IndexByte(text, mark); i >= 0; i = bytes.IndexByte(text, mark) {
		c, ok := hexadecimal(text[i+1:])
		switch after := text[i+1:]; {
		case ok:
			plain, text = append(append(plain, text[:i]...), c), text[i+3:]
		case mark == '=' && bytes.HasPrefix(after, []byte("\r\n")):
			plain, text = append(plain, text[:i]...), text[i+3:]
		case mark == '=' && bytes.HasPrefix(after, []byte("\n")):
			plain, text = append(plain, text[:i]...), text[i+2:]
		default:
			plain, text = append(plain, text[:i+1]...), text[i+1:]
		}
	}
	return append(plain, text...)
}

// entities returns a text with the numeric character references of HTML decoded.
func entities(text []byte) (plain []byte) {
	for i := bytes.Index(text, []byte("&#")); i >= 0; i = bytes.Index(text, []byte("&#")) {
		plain = append(plain, text[:i]...)
		text = text[i+2:]
		end := bytes.IndexByte(text[:min(len(text), 8)], ';')
		digits, base := text[:max(end, 0)], 10
		if len(digits) > 0 && small(digits[0]) == 'x' {
			digits, base = digits[1:], 16
		}
		c, err := strconv.ParseUint(string(digits), base, 21)
		if err != nil {
			plain = append(plain, "&#"...)
			continue
		}
		plain, text = utf8.AppendRune(plain, rune(c)), text[end+1:]
	}
	return append(plain, text...)
}

// hexadecimal returns the byte that the first two digits of a text encode.
func hexadecimal(text []byte) (c byte, ok bool) {
	var one [1]byte
	_, err := hex.Decode(one[:], text[:min(len(text), 2)])
	return one[0], err == nil && len(text) > 1
}

// leastEncoded is the length of the shortest base64 that is decoded, which encodes nine bytes.
const leastEncoded = 12

// runs yields the parts of a text that may be base64; a part may span several lines. Names in small letters are left
// out.
func runs(text []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for i := 0; i+leastEncoded <= len(text); {
			last := i + leastEncoded - 1
			for last >= i && base64Digit[text[last]] {
				last--
			}
			if last >= i { // no run of that length starts before it
				i = last + 1
				continue
			}
			end, capital := runEnd(text, i)
			odd := func(c rune) bool { return !isHexadecimal(byte(c)) }
			if (capital || !bytes.ContainsFunc(text[i:end], odd)) && !yield(text[i:end]) {
				return
			}
			i = end
		}
	}
}

// runEnd returns the end of the digits that start at i, and whether they include a capital. A line of at least 60
// digits continues on the next line.
func runEnd(text []byte, i int) (end int, capital bool) {
	for line := i; ; line = i {
		for i < len(text) && base64Digit[text[i]] {
			capital = capital || text[i] >= 'A' && text[i] <= 'Z'
			i++
		}
		next := i
		if next < len(text) && text[next] == '\r' {
			next++
		}
		if i-line < 60 || next+1 >= len(text) || text[next] != '\n' || !base64Digit[text[next+1]] {
			return i, capital
		}
		i = next + 1
	}
}

var base64Digit = func() (table [256]bool) {
	for _, c := range []byte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_") {
		table[c] = true
	}
	return table
}()

// appendDecoded appends the bytes that base64 encodes, up to the first error.
func appendDecoded(plain []byte, encoding *base64.Encoding, run []byte) []byte {
	if len(run)%4 == 1 {
		run = run[:len(run)-1]
	}
	plain = slices.Grow(plain, encoding.DecodedLen(len(run)))
	n, _ := encoding.Decode(plain[:cap(plain)], run)
	return plain[:n]
}
