package machine

import (
	"runtime"
	"testing"
)

// TestLimitsArePlausible: a core does between one and a thousand GF/s and
// reads between a tenth and ten thousand GB/s, or nothing is measured at all.
func TestLimitsArePlausible(t *testing.T) {
	peak, read := Peak(3), Bandwidth(1<<14, 3)
	if runtime.GOARCH != "amd64" && (peak != 0 || read != 0) {
		t.Errorf("peak %v and bandwidth %v without a kernel", peak, read)
	}
	if peak != 0 && (peak < 1e9 || peak > 1e12) {
		t.Errorf("peak of %.3g operations a second", peak)
	}
	if read != 0 && (read < 1e8 || read > 1e13) {
		t.Errorf("bandwidth of %.3g bytes a second", read)
	}
}
