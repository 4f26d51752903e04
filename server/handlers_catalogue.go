package server

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"

	"github.com/proctor-rl/proctor/api"
	"github.com/proctor-rl/proctor/envs"
	"github.com/proctor-rl/proctor/server/episode"
	"github.com/proctor-rl/proctor/server/internal/oapi"
)

// handlers answers the generated routes.
type handlers struct{ s *Server }

var _ oapi.StrictServerInterface = handlers{}

// The schemas of actions and observations are the same for every env type;
// what differs is in action_help and tools.
var (
	actionSchema = json.RawMessage(`{"anyOf":[{"type":"string"},` +
		`{"type":"object","required":["text"],"properties":{"text":{"type":"string"}}},` +
		`{"type":"object","required":["tool_calls"],"properties":{"tool_calls":{"type":"array","items":{"type":"object"}}}},` +
		`{"type":"object","required":["message"],"properties":{"message":{"type":"object"}}}]}`)
	observationSchema = json.RawMessage(`{"type":"object","required":["text","messages","data"],"properties":{` +
		`"text":{"type":"string"},"messages":{"type":"array","items":{"type":"object"}},"data":{},` +
		`"elided":{"type":"object","properties":{"bytes":{"type":"integer"}}}}}`)
)

func wireType(spec envs.Spec) api.EnvType {
	out := api.EnvType{
		Name: spec.Name, Version: spec.Version, Digest: spec.Digest, Summary: spec.Summary, ActionHelp: spec.ActionHelp, ActionForms: append([]string{}, spec.ActionForms...),
		ActionSchema: actionSchema, ObservationSchema: observationSchema, Tools: episode.WireTools(spec),
		Splits: []api.SplitInfo{}, DefaultLimits: episode.WireLimits(episode.DefaultLimits(spec)),
		MaxLimits: episode.WireLimits(episode.MaxLimits(spec)),
		Reward:    api.RewardSpec{Min: spec.RewardMin, Max: spec.RewardMax, Parts: []api.RewardPartSpec{}},
		Capabilities: api.Capabilities{
			Seed: spec.Can.Seed, Snapshot: spec.Can.Snapshot, Replay: spec.Can.Replay, StepReward: spec.Can.StepReward,
		},
	}
	for _, sp := range spec.Splits {
		out.Splits = append(out.Splits, api.SplitInfo{Name: sp.Name, Tasks: sp.Tasks})
	}
	for _, p := range spec.RewardParts {
		out.Reward.Parts = append(out.Reward.Parts, api.RewardPartSpec{Name: p.Name, Kind: api.RewardPartKind(p.Kind), Weight: p.Weight, Help: p.Help})
	}
	return out
}

func (h handlers) typeOf(name string) (envs.Type, error) {
	t, err := h.s.mgr.Registry().Get(name)
	if err != nil {
		return nil, refusal(api.ProblemCodeEnvTypeNotFound, "no such env type; GET /env-types lists them")
	}
	return t, nil
}

// ListEnvTypes lists what is served.
func (h handlers) ListEnvTypes(context.Context, oapi.ListEnvTypesRequestObject) (oapi.ListEnvTypesResponseObject, error) {
	out := oapi.ListEnvTypes200JSONResponse{EnvTypes: []api.EnvType{}}
	for _, t := range h.s.mgr.Registry().Types() {
		out.EnvTypes = append(out.EnvTypes, wireType(t.Spec()))
	}
	return answer(out), nil
}

// GetEnvType describes one env type.
func (h handlers) GetEnvType(_ context.Context, r oapi.GetEnvTypeRequestObject) (oapi.GetEnvTypeResponseObject, error) {
	t, err := h.typeOf(r.Type)
	if err != nil {
		return nil, err
	}
	return answer(oapi.GetEnvType200JSONResponse(wireType(t.Spec()))), nil
}

// ListTools lists an env type's tools.
func (h handlers) ListTools(_ context.Context, r oapi.ListToolsRequestObject) (oapi.ListToolsResponseObject, error) {
	t, err := h.typeOf(r.Type)
	if err != nil {
		return nil, err
	}
	return answer(oapi.ListTools200JSONResponse{Tools: episode.WireTools(t.Spec())}), nil
}

// ListTasks pages through an env type's tasks. The cursor is the position in
// the splits laid end to end.
func (h handlers) ListTasks(_ context.Context, r oapi.ListTasksRequestObject) (oapi.ListTasksResponseObject, error) {
	t, err := h.typeOf(r.Type)
	if err != nil {
		return nil, err
	}
	spec, set := t.Spec(), t.Tasks()
	var splits []string
	if r.Params.Split != nil {
		splits = []string{string(*r.Params.Split)}
	} else {
		for _, sp := range spec.Splits {
			splits = append(splits, sp.Name)
		}
	}
	from := 0
	if r.Params.Cursor != nil {
		from, err = strconv.Atoi(*r.Params.Cursor)
		if err != nil || from < 0 {
			return nil, episode.Invalid("/cursor", "is none that this server gave out")
		}
	}
	limit := 100
	if r.Params.Limit != nil {
		limit = *r.Params.Limit
	}
	out := oapi.ListTasks200JSONResponse{Tasks: []api.Task{}}
	for _, sp := range splits {
		n := set.Len(sp)
		for i := max(0, from-out.Total); i < n && len(out.Tasks) < limit; i++ {
			task, err := set.At(sp, i)
			if err != nil {
				return nil, err
			}
			out.Tasks = append(out.Tasks, episode.WireTask(spec.Name, task))
		}
		out.Total += n
	}
	if next := from + len(out.Tasks); next < out.Total {
		out.NextCursor = strconv.Itoa(next)
	}
	return answer(out), nil
}

// GetTask reads one task's public side.
func (h handlers) GetTask(_ context.Context, r oapi.GetTaskRequestObject) (oapi.GetTaskResponseObject, error) {
	t, err := h.typeOf(r.Type)
	if err != nil {
		return nil, err
	}
	task, err := t.Tasks().Find(r.TaskID)
	if errors.Is(err, envs.ErrNoTask) {
		return nil, refusal(api.ProblemCodeTaskNotFound, "no such task")
	}
	if err != nil {
		return nil, err
	}
	return answer(oapi.GetTask200JSONResponse(episode.WireTask(t.Spec().Name, task))), nil
}
