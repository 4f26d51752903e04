//go:build !linux

package main

import "time"

var epoch = time.Now()

// now is the time on the wall.
func now() time.Duration { return time.Since(epoch) }
