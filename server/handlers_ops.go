package server

import (
	"context"

	"github.com/proctor-rl/proctor/api"
	"github.com/proctor-rl/proctor/server/internal/oapi"
)

// GetHealth says that the process lives.
func (h handlers) GetHealth(context.Context, oapi.GetHealthRequestObject) (oapi.GetHealthResponseObject, error) {
	return answer(oapi.GetHealth200JSONResponse(api.Health{Status: "ok", Warnings: h.s.cfg.Warnings})), nil
}

// GetReady says whether new episodes are taken.
func (h handlers) GetReady(context.Context, oapi.GetReadyRequestObject) (oapi.GetReadyResponseObject, error) {
	if h.s.mgr.Draining() {
		e := refusal(api.ProblemCodeDraining, "the server is shutting down")
		e.Retryable = true
		return nil, e
	}
	return answer(oapi.GetReady200JSONResponse(api.Health{Status: "ok", Warnings: h.s.cfg.Warnings})), nil
}

// GetVersion says what is running.
func (h handlers) GetVersion(context.Context, oapi.GetVersionRequestObject) (oapi.GetVersionResponseObject, error) {
	return answer(oapi.GetVersion200JSONResponse(h.s.cfg.Build)), nil
}
