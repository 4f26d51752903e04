package server

import (
	"net/http"

	"github.com/proctor-rl/proctor/api"
)

// jsonReply is a JSON reply. The generated ones escape for HTML.
type jsonReply struct {
	status   int
	location string
	replayed bool
	body     any
}

// answer is the reply of a body without more.
func answer(body any) jsonReply { return jsonReply{status: http.StatusOK, body: body} }

func (j jsonReply) write(w http.ResponseWriter) error {
	b, err := api.Encode(j.body)
	if err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	if j.location != "" {
		h.Set("Location", j.location)
	}
	if j.replayed {
		h.Set("Idempotent-Replayed", "true")
	}
	w.WriteHeader(j.status)
	_, _ = w.Write(b) // the client may be gone
	return nil
}

// VisitCreateEnvResponse writes the reply.
func (j jsonReply) VisitCreateEnvResponse(w http.ResponseWriter) error { return j.write(w) }

// VisitResetEnvResponse writes the reply.
func (j jsonReply) VisitResetEnvResponse(w http.ResponseWriter) error { return j.write(w) }

// VisitStepEnvResponse writes the reply.
func (j jsonReply) VisitStepEnvResponse(w http.ResponseWriter) error { return j.write(w) }

// VisitScoreEnvResponse writes the reply.
func (j jsonReply) VisitScoreEnvResponse(w http.ResponseWriter) error { return j.write(w) }

// VisitSnapshotEnvResponse writes the reply.
func (j jsonReply) VisitSnapshotEnvResponse(w http.ResponseWriter) error { return j.write(w) }

// VisitForkEnvResponse writes the reply.
func (j jsonReply) VisitForkEnvResponse(w http.ResponseWriter) error { return j.write(w) }

// VisitCreateRunResponse writes the reply.
func (j jsonReply) VisitCreateRunResponse(w http.ResponseWriter) error { return j.write(w) }

// VisitListEnvTypesResponse writes the reply.
func (j jsonReply) VisitListEnvTypesResponse(w http.ResponseWriter) error { return j.write(w) }

// VisitGetEnvTypeResponse writes the reply.
func (j jsonReply) VisitGetEnvTypeResponse(w http.ResponseWriter) error { return j.write(w) }

// VisitListToolsResponse writes the reply.
func (j jsonReply) VisitListToolsResponse(w http.ResponseWriter) error { return j.write(w) }

// VisitListTasksResponse writes the reply.
func (j jsonReply) VisitListTasksResponse(w http.ResponseWriter) error { return j.write(w) }

// VisitGetTaskResponse writes the reply.
func (j jsonReply) VisitGetTaskResponse(w http.ResponseWriter) error { return j.write(w) }

// VisitListEnvsResponse writes the reply.
func (j jsonReply) VisitListEnvsResponse(w http.ResponseWriter) error { return j.write(w) }

// VisitGetEnvResponse writes the reply.
func (j jsonReply) VisitGetEnvResponse(w http.ResponseWriter) error { return j.write(w) }

// VisitBatchResetResponse writes the reply.
func (j jsonReply) VisitBatchResetResponse(w http.ResponseWriter) error { return j.write(w) }

// VisitBatchStepResponse writes the reply.
func (j jsonReply) VisitBatchStepResponse(w http.ResponseWriter) error { return j.write(w) }

// VisitListEpisodesResponse writes the reply.
func (j jsonReply) VisitListEpisodesResponse(w http.ResponseWriter) error { return j.write(w) }

// VisitGetEpisodeResponse writes the reply.
func (j jsonReply) VisitGetEpisodeResponse(w http.ResponseWriter) error { return j.write(w) }

// VisitListStepsResponse writes the reply.
func (j jsonReply) VisitListStepsResponse(w http.ResponseWriter) error { return j.write(w) }

// VisitReplayEpisodeResponse writes the reply.
func (j jsonReply) VisitReplayEpisodeResponse(w http.ResponseWriter) error { return j.write(w) }

// VisitListRunsResponse writes the reply.
func (j jsonReply) VisitListRunsResponse(w http.ResponseWriter) error { return j.write(w) }

// VisitListPointsResponse writes the reply.
func (j jsonReply) VisitListPointsResponse(w http.ResponseWriter) error { return j.write(w) }

// VisitGetHealthResponse writes the reply.
func (j jsonReply) VisitGetHealthResponse(w http.ResponseWriter) error { return j.write(w) }

// VisitGetReadyResponse writes the reply.
func (j jsonReply) VisitGetReadyResponse(w http.ResponseWriter) error { return j.write(w) }

// VisitGetVersionResponse writes the reply.
func (j jsonReply) VisitGetVersionResponse(w http.ResponseWriter) error { return j.write(w) }
