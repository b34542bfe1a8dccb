package handshake

import (
	"bytes"
	"crypto/cipher"
	"errors"
	"testing"
)

// TestRecordsChangeKeys: both sides change the key after as many records, and no two records of a stream are the same,
// whatever they carry.
func TestRecordsChangeKeys(t *testing.T) {
	s := example().session([]byte("a"), []byte("b"), nil)
	write := s.Records("one way")
	read := s.Records("one way")
	write.Each = 3
	read.Each = 3
	seen := map[string]bool{}
	var before cipher.AEAD
	for i := range 10 {
		record := write.Append(nil, []byte("head"), []byte("payload"))
		if seen[string(record)] {
			t.Errorf("record %d comes again", i)
		}
		seen[string(record)] = true
		packet, err := read.Open(record)
		if err != nil || string(packet) != "headpayload" {
			t.Fatalf("record %d: %q, %v", i, packet, err)
		}
		if key := write.aead; (key == before) != (i%3 != 0) {
			t.Errorf("record %d: the key is the old one: %v", i, key == before)
		}
		before = write.aead
	}
	first := write.key(0).Seal(nil, write.nonce[:], nil, nil)
	if bytes.Equal(first, write.key(1).Seal(nil, write.nonce[:], nil, nil)) {
		t.Error("two keys are the same")
	}
}

// TestRecordsStayBroken: behind a record that was changed, repeated or left out none is accepted, a right one neither.
func TestRecordsStayBroken(t *testing.T) {
	s := example().session([]byte("a"), []byte("b"), nil)
	for name, spoil := range map[string]func(first, second []byte) []byte{
		"changed":  func(_, second []byte) []byte { second[HeadSize]++; return second },
		"length":   func(_, second []byte) []byte { second[0]++; return second },
		"repeated": func(first, _ []byte) []byte { return first },
	} {
		write := s.Records("one way")
		read := s.Records("one way")
		first := write.Append(nil, nil, []byte("first"))
		again := bytes.Clone(first)
		second := write.Append(nil, nil, []byte("second"))
		third := write.Append(nil, nil, []byte("third"))
		if _, err := read.Open(first); err != nil {
			t.Fatal(err)
		}
		if _, err := read.Open(spoil(again, second)); !errors.Is(err, ErrChanged) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := read.Open(third); !errors.Is(err, ErrChanged) {
			t.Errorf("behind %s: %v", name, err)
		}
	}
}

// Record n is encrypted with key n / Each, as PROTOCOL §8.2 has it, and not with a key that only this program uses.
func TestKeyOfARecord(t *testing.T) {
	s := Session{root: make([]byte, 32)}
	writer := s.Records("a test")
	writer.Each = 2
	var last []byte
	for range 7 { // records 0 to 6
		last = writer.Append(nil, []byte("record"), nil)
	}
	reader := s.Records("a test")
	reader.number = 6
	reader.aead = reader.key(3)
	if b, err := reader.Open(last); err != nil || string(b) != "record" {
		t.Errorf("%q, %v", b, err)
	}
}
