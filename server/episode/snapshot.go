package episode

import (
	"context"

	"github.com/proctor-rl/proctor/api"
)

// snapshot is a kept state.
type snapshot struct{}

func (m *Manager) fromSnapshot(_ context.Context, _ Who, _ api.CreateEnvRequest, _ *Binding) (Created, error) {
	return Created{}, NotSupported("snapshots are not built yet")
}

func (m *Manager) dropSnapshots() {}

// Snapshot keeps an env's present state.
func (m *Manager) Snapshot(_ context.Context, _ Who, _ string) (string, error) {
	return "", NotSupported("snapshots are not built yet")
}

// Fork makes envs that continue from an env's present state.
func (m *Manager) Fork(_ context.Context, _ Who, _ string, _ int) ([]api.Env, error) {
	return nil, NotSupported("forking is not built yet")
}
