//go:build !purego

package vec

// fast is true: every arm64 that Go runs on has NEON. Only tests change it.
var fast = true
