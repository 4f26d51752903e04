// Package nn holds the layers of a causal transformer as pairs of forward and
// backward kernels over packed sequences of different lengths, and the model
// put together from them.
//
// Everything is generic over float32 and float64: training runs in float32 on
// the fast kernels, the gradients are checked in float64 on plain loops. There
// is no graph, no padding and no allocation once a Workspace has grown to its
// size. The package knows nothing of episodes, rewards or optimizers;
// trainer/policy is its caller.
//
// Letters in comments: N tokens of a packed batch, D width of the model, H
// query heads, G key and value heads, E width of one head, F width of the MLP,
// V size of the vocabulary.
package nn

//go:generate go -C ../../tools/asmgen run ./attention -pkg nn -out ../../trainer/nn/attention_amd64.s -stubs ../../trainer/nn/attention_amd64.go
//go:generate go -C ../../tools/asmgen run ./attention-arm64 -pkg nn -out ../../trainer/nn/attention_arm64.s -stubs ../../trainer/nn/attention_arm64.go
