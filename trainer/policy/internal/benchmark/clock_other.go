//go:build !linux

package main

import "time"

var begun = time.Now()

// processorSeconds is the time since the start: elsewhere there is no other.
func processorSeconds() float64 { return time.Since(begun).Seconds() }
