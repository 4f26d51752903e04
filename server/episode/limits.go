package episode

import (
	"fmt"

	"github.com/proctor-rl/proctor/api"
	"github.com/proctor-rl/proctor/envs"
)

// The most that any client may ask for where an env type declares no bound.
var ceiling = envs.Limits{
	MaxSteps: 1_000_000, WallTimeSeconds: 604_800, MaxObservationBytes: 16 << 20, MaxToolCalls: 1_000_000,
}

// fallback is in force where neither the client nor the env type says anything.
var fallback = envs.Limits{
	MaxSteps: 100, WallTimeSeconds: 3600, MaxObservationBytes: 64 << 10, MaxToolCalls: 1000,
}

type limitField struct {
	name  string
	asked func(*api.Limits) *int
	field func(*envs.Limits) *int
}

var limitFields = []limitField{
	{"max_steps", func(l *api.Limits) *int { return l.MaxSteps }, func(l *envs.Limits) *int { return &l.MaxSteps }},
	{"wall_time_seconds", func(l *api.Limits) *int { return l.WallTimeSeconds }, func(l *envs.Limits) *int { return &l.WallTimeSeconds }},
	{"max_observation_bytes", func(l *api.Limits) *int { return l.MaxObservationBytes }, func(l *envs.Limits) *int { return &l.MaxObservationBytes }},
	{"max_tool_calls", func(l *api.Limits) *int { return l.MaxToolCalls }, func(l *envs.Limits) *int { return &l.MaxToolCalls }},
}

// resolveLimits is what is in force for an episode: what the client asks for
// over what the env has, over the env type's own.
func resolveLimits(spec envs.Spec, have envs.Limits, ask *api.Limits) (envs.Limits, *Error) {
	out := have
	top := MaxLimits(spec)
	var bad []api.FieldError
	for _, f := range limitFields {
		p := f.field(&out)
		if ask != nil {
			if v := f.asked(ask); v != nil {
				hi := *f.field(&top)
				if *v < 1 || *v > hi {
					bad = append(bad, api.FieldError{Pointer: "/limits/" + f.name, Detail: fmt.Sprintf("must be from 1 to %d", hi)})
				}
				*p = *v
			}
		}
	}
	if bad != nil {
		return out, invalidFields(bad)
	}
	return out, nil
}

// DefaultLimits is what an env type plays under where nobody asks.
func DefaultLimits(spec envs.Spec) envs.Limits {
	out := spec.Limits
	top := MaxLimits(spec)
	def := fallback
	for _, f := range limitFields {
		p := f.field(&out)
		if *p <= 0 {
			*p = min(*f.field(&def), *f.field(&top))
		}
	}
	return out
}

// MaxLimits is the most a client may ask of an env type.
func MaxLimits(spec envs.Spec) envs.Limits {
	out := spec.MaxLimits
	top := ceiling
	for _, f := range limitFields {
		p := f.field(&out)
		if *p <= 0 || *p > *f.field(&top) {
			*p = *f.field(&top)
		}
	}
	return out
}

// WireLimits is l as the contract has it.
func WireLimits(l envs.Limits) api.Limits {
	return api.Limits{
		MaxSteps: &l.MaxSteps, WallTimeSeconds: &l.WallTimeSeconds,
		MaxObservationBytes: &l.MaxObservationBytes, MaxToolCalls: &l.MaxToolCalls,
	}
}
