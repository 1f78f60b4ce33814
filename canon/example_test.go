package canon_test

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/traceforge/traceforge-go/canon"
)

func ExampleJSON() {
	text, err := canon.JSON([]byte(`{
		"temperature": 0.70,
		"model": "\u0067pt-4o",
		"max_tokens": 1E3
	}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s\n", text)
	// Output: {"max_tokens":1000,"model":"gpt-4o","temperature":0.7}
}

func ExampleError() {
	_, err := canon.JSON([]byte(`{"tools":[{"name":"a"},{"name":"b","name":"c"}]}`))
	fmt.Println(err)

	var e *canon.Error
	if errors.As(err, &e) {
		fmt.Println(e.Pointer, e.Offset, errors.Is(e, canon.ErrDuplicate))
	}
	// Output:
	// /tools/1/name: offset 35: duplicate member name "name"
	// /tools/1/name 35 true
}

func ExampleMarshal() {
	text, err := canon.Marshal(map[string]any{
		"role":    "user",
		"content": "is 1 < 2?",
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s\n", text)
	// Output: {"content":"is 1 < 2?","role":"user"}
}

func ExampleSum() {
	// The hash of a text at hand: its canonical form first.
	text, err := canon.JSON([]byte(`{"role": "user", "content": "hi"}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(canon.Sum(text))
	// Output: sha256:9017285104d1b249960a30732b8e92f6e2fb3acf8d8e4b2a16c116ad0c1ed211
}

func ExampleSumJSON() {
	type message struct {
		Role    string `json:"role"`
		Content string `json:"content"`
	}
	// The order of the members does not matter.
	a, _ := canon.SumJSON(message{Role: "user", Content: "hi"})
	b, _ := canon.SumJSON(json.RawMessage(`{"content": "hi", "role": "user"}`))
	fmt.Println(a)
	fmt.Println(a == b)
	// Output:
	// sha256:9017285104d1b249960a30732b8e92f6e2fb3acf8d8e4b2a16c116ad0c1ed211
	// true
}

func ExampleHash_Valid() {
	fmt.Println(canon.Sum(nil).Valid())
	fmt.Println(canon.Hash("sha256:abc123").Valid())
	// Output:
	// true
	// false
}

func ExampleHash_Hex() {
	h := canon.Sum(nil)
	fmt.Println("blobs/sha256/" + h.Hex()[:2] + "/" + h.Hex())
	// Output: blobs/sha256/e3/e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855
}

func ExampleCanonical() {
	fmt.Println(canon.Canonical([]byte(`{"a":1,"b":2}`)))
	fmt.Println(canon.Canonical([]byte(`{"a":1, "b":2}`)))
	fmt.Println(canon.Canonical([]byte(`{"b":2,"a":1}`)))
	fmt.Println(canon.Canonical([]byte(`{"a":1,"b":2.0}`)))
	// Output:
	// true
	// false
	// false
	// false
}

func ExampleKeepNumbers() {
	request := []byte(`{"seed": 9007199254740993, "temperature": 0.1}`)

	_, err := canon.JSON(request)
	fmt.Println(err)

	text, err := canon.KeepNumbers(request)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s\n", text)
	// Output:
	// /seed: offset 9: number does not fit a float64: integer 9007199254740993 would become 9007199254740992
	// {"seed":{"$number":"9007199254740993"},"temperature":0.1}
}

func ExampleRestoreNumbers() {
	text, err := canon.RestoreNumbers([]byte(`{"seed":{"$number":"9007199254740993"},"temperature":0.1}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s\n", text)
	// Output: {"seed":9007199254740993,"temperature":0.1}
}
