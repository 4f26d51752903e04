// Package deploy holds what runs beside the programs: a Prometheus scrape
// configuration, a provisioned Grafana dashboard, a container image, a service
// unit.
//
// It has no code, only a test that starts a real server, a real training run
// and a real Prometheus and asks it every query of every panel. Nothing imports
// it. The container files are not run by any test.
package deploy
