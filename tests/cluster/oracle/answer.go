package main

import (
	"encoding/json"

	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"
)

// How far an error reaches.
const (
	// No node is tried any more: the scheduler aborts the attempt of the Pod.
	scopeAttempt = "attempt"
	// The Pod is refused before any node is tried.
	scopePod = "pod"
	// This node is not fit; others are tried.
	scopeNode = "node"
	// The search took too long; others are tried.
	scopeTime = "time"
	// The question makes no sense, and nothing was tried.
	scopeLine = "line"
	// The allocator panicked, as the scheduler would.
	scopePanic = "panic"
)

type answer struct {
	ID        string  `json:"id"`
	Allocated bool    `json:"allocated"`
	Scope     string  `json:"scope,omitempty"`
	Error     string  `json:"error,omitempty"`
	Devices   []given `json:"devices,omitempty"`
}

// A given device is one result of an allocation, with the name of its claim.
type given struct {
	Claim            string                                          `json:"claim"`
	Request          string                                          `json:"request"`
	Driver           string                                          `json:"driver"`
	Pool             string                                          `json:"pool"`
	Device           string                                          `json:"device"`
	AdminAccess      *bool                                           `json:"adminAccess,omitempty"`
	ShareID          *types.UID                                      `json:"shareID,omitempty"`
	ConsumedCapacity map[resourceapi.QualifiedName]resource.Quantity `json:"consumedCapacity,omitempty"`
}

func (q question) failed(scope string, err error) answer {
	return answer{ID: q.ID, Scope: scope, Error: err.Error()}
}

func (q question) allocated(claims []*resourceapi.ResourceClaim, results []resourceapi.AllocationResult) answer {
	found := answer{ID: q.ID, Allocated: true}
	for i, result := range results {
		for _, one := range result.Devices.Results {
			found.Devices = append(found.Devices, given{
				Claim:            claims[i].Name,
				Request:          one.Request,
				Driver:           one.Driver,
				Pool:             one.Pool,
				Device:           one.Device,
				AdminAccess:      one.AdminAccess,
				ShareID:          one.ShareID,
				ConsumedCapacity: one.ConsumedCapacity,
			})
		}
	}
	return found
}

func (a answer) line() []byte {
	// Texts and numbers alone: they can always be written.
	text, _ := json.Marshal(a)
	return append(text, '\n')
}
