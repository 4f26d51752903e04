// Package sft is the masked supervised warm start: the likelihood of the
// actions in demonstrations, with the observations as context only.
//
// It decides the order of the demonstrations and makes the optimizer steps. It
// reads no file; the trainer hands it token sequences.
package sft
