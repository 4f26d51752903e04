package main

import (
	"fmt"

	"github.com/proctor-rl/proctor/trainer/policy"
)

// What every side runs: one training step is over batch sequences of context
// tokens; a decoding run continues prompts of promptLen tokens by sampled ones.
const (
	vocab     = 512
	context   = 256
	batch     = 16
	promptLen = 32
	sampled   = 96
	tokens    = batch * context
)

// size is one model.
type size struct {
	Dim    int `json:"dim"`
	Layers int `json:"layers"`
	Heads  int `json:"heads"`
}

var sizes = []size{{128, 4, 4}, {256, 4, 4}, {384, 6, 6}}

// name is how the sides are told of s.
func (s size) name() string { return fmt.Sprintf("d%d", s.Dim) }

func (s size) String() string { return fmt.Sprintf("d%d L%d H%d", s.Dim, s.Layers, s.Heads) }

// config is s with blocks of RMS normalisation, rotary attention over whole
// heads and an MLP of GELU four times as wide, without this project's mixing
// of neighbouring keys, which no opponent has.
func (s size) config() policy.TransformerConfig {
	return policy.TransformerConfig{
		Vocab: vocab, Context: context, Dim: s.Dim, Layers: s.Layers, Heads: s.Heads, RopeDim: s.Dim / s.Heads,
	}
}

// weights is the number of weights that a token is multiplied by: twelve D by
// D a layer, and the head.
func (s size) weights() float64 {
	return float64(12*s.Dim*s.Dim*s.Layers + vocab*s.Dim)
}

// trainFlops counts the operations of a training step on the products alone:
// two for each weight and token, two products of attention over the causal
// half of the context, and twice as much again backward.
func (s size) trainFlops() float64 {
	attention := 2 * context * s.Dim * s.Layers
	return 3 * tokens * (2*s.weights() + float64(attention))
}

// trainBytes is what a training step must move at least: the weights read
// forward and backward, their gradients written and read, the moments and the
// weights read and written, and the activations that the backward pass needs,
// about 17 D a token and layer, written and read.
func (s size) trainBytes() float64 {
	return 4 * (10*s.weights() + float64(2*17*s.Dim*s.Layers*tokens))
}

// decodeFlops counts the operations of one decoded token likewise, at the mean
// length of the decoding run.
func (s size) decodeFlops() float64 {
	return 2*s.weights() + float64(4*(promptLen+sampled/2)*s.Dim*s.Layers)
}

// decodeBytes is what one step of a decoding run of so many sequences must
// read at least: every weight once, and each sequence's keys and values.
func (s size) decodeBytes(sequences int) float64 {
	return 4 * (s.weights() + float64(sequences*2*(promptLen+sampled/2)*s.Dim*s.Layers))
}
