package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourceapi "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	strict "sigs.k8s.io/json"
)

// The scheduler gives up on a node after this long.
const filterTimeout = 10 * time.Second

// A setting is what a claim is judged in. A question may leave it to an earlier one.
type setting struct {
	Node     *node                        `json:"node"`
	Slices   []*resourceapi.ResourceSlice `json:"slices"`
	Classes  []*resourceapi.DeviceClass   `json:"classes"`
	Features map[string]bool              `json:"features"`
}

type node struct {
	Name   string            `json:"name"`
	Labels map[string]string `json:"labels"`
}

// A question is the claims of one Pod. Those that have an allocation are not its own: they say
// which devices are taken.
type question struct {
	setting
	ID string `json:"id"`
	// Remember gives the setting a name, and Recall takes the setting of that name for what
	// the question leaves out.
	Remember string                       `json:"remember"`
	Recall   string                       `json:"recall"`
	Claims   []*resourceapi.ResourceClaim `json:"claims"`
	Seconds  float64                      `json:"seconds"`
}

func understand(line []byte, memory map[string]setting) (question, error) {
	var one question
	strange, err := strict.UnmarshalStrict(line, &one)
	if err == nil {
		err = errors.Join(strange...)
	}
	if err != nil {
		// An answer without the id could not be told from those of others.
		var id struct{ ID string }
		_ = json.Unmarshal(line, &id)
		return question{ID: id.ID}, err
	}
	if one.Recall != "" {
		known, found := memory[one.Recall]
		if !found {
			return one, fmt.Errorf("nothing is remembered as %q", one.Recall)
		}
		one.setting = one.over(known)
	}
	if one.Node == nil {
		return one, errors.New("a node is missing")
	}
	if one.Remember != "" {
		memory[one.Remember] = one.setting
	}
	for _, claim := range one.Claims {
		setDefaults(claim)
	}
	return one, nil
}

// over fills in what the setting does not say from a remembered one.
func (s setting) over(known setting) setting {
	if s.Node == nil {
		s.Node = known.Node
	}
	if s.Slices == nil {
		s.Slices = known.Slices
	}
	if s.Classes == nil {
		s.Classes = known.Classes
	}
	if s.Features == nil {
		s.Features = known.Features
	}
	return s
}

func (n node) object() *corev1.Node {
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: n.Name, Labels: n.Labels}}
}

func (q question) timeout() time.Duration {
	if q.Seconds <= 0 {
		return filterTimeout
	}
	return time.Duration(q.Seconds * float64(time.Second))
}

// setDefaults does what the API server does before the scheduler sees a claim.
func setDefaults(claim *resourceapi.ResourceClaim) {
	if claim == nil {
		return
	}
	requests := claim.Spec.Devices.Requests
	for i := range requests {
		if exactly := requests[i].Exactly; exactly != nil {
			setCount(&exactly.AllocationMode, &exactly.Count)
		}
		for j := range requests[i].FirstAvailable {
			choice := &requests[i].FirstAvailable[j]
			setCount(&choice.AllocationMode, &choice.Count)
		}
	}
}

func setCount(mode *resourceapi.DeviceAllocationMode, count *int64) {
	if *mode == "" {
		*mode = resourceapi.DeviceAllocationModeExactCount
	}
	if *mode == resourceapi.DeviceAllocationModeExactCount && *count == 0 {
		*count = 1
	}
}
