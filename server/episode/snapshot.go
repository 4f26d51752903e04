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
