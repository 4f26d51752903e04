// Package token is the tokenizer: byte-pair encoding with rules that help a
// small policy copy. A newline is never merged, numbers are cut into chunks of
// two digits from the left and every such chunk is one token, and a word
// carries the blank before it.
//
// Every text, valid UTF-8 or not, survives Encode and Decode unchanged. The
// package does no I/O beyond the reader and writer it is given. The training
// loop trains a tokenizer on demonstrations and stores it with the checkpoint.
package token
