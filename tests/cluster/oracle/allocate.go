package main

import (
	"context"
	"errors"
	"fmt"

	resourceapi "k8s.io/api/resource/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/dynamic-resource-allocation/structured"
)

// answer does what the scheduler's plug-in does for one node: look for what refuses the Pod as
// such, then ask an allocator that is made for this Pod.
func (q question) answer() (found answer) {
	defer func() {
		if caught := recover(); caught != nil {
			found = q.failed(scopePanic, fmt.Errorf("panic: %v", caught))
		}
	}()
	features := q.allocatorFeatures()
	classes := newClasses(q.Classes)
	taken, wanted := q.divided(features.ConsumableCapacity)
	if err := classes.missing(wanted); err != nil {
		return q.failed(scopePod, err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), q.timeout())
	defer cancel()
	allocator, err := structured.NewAllocator(ctx, features, taken, classes, q.Slices, q.expressions())
	if err != nil {
		return q.failed(scopeAttempt, err)
	}
	results, err := allocator.Allocate(ctx, q.Node.object(), wanted)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return q.failed(scopeTime, err)
	case onlyOnNode(err):
		return q.failed(scopeNode, err)
	case err != nil:
		return q.failed(scopeAttempt, err)
	case len(results) != len(wanted):
		return answer{ID: q.ID}
	}
	return q.allocated(wanted, results)
}

// divided tells the claims that are wanted from what others hold already.
func (q question) divided(capacity bool) (structured.AllocatedState, []*resourceapi.ResourceClaim) {
	taken := structured.AllocatedState{
		AllocatedDevices:         sets.New[structured.DeviceID](),
		AllocatedSharedDeviceIDs: sets.New[structured.SharedDeviceID](),
		AggregatedCapacity:       structured.NewConsumedCapacityCollection(),
	}
	var wanted []*resourceapi.ResourceClaim
	for _, claim := range q.Claims {
		if claim.Status.Allocation == nil {
			wanted = append(wanted, claim)
			continue
		}
		for _, held := range claim.Status.Allocation.Devices.Results {
			take(taken, held, capacity)
		}
	}
	return taken, wanted
}

func take(taken structured.AllocatedState, held resourceapi.DeviceRequestAllocationResult, capacity bool) {
	id := structured.MakeDeviceID(held.Driver, held.Pool, held.Device)
	switch {
	case held.AdminAccess != nil && *held.AdminAccess:
		// Takes nothing away from others.
	case capacity && held.ShareID != nil:
		taken.AllocatedSharedDeviceIDs.Insert(structured.MakeSharedDeviceID(id, held.ShareID))
		if held.ConsumedCapacity != nil {
			taken.AggregatedCapacity.Insert(structured.NewDeviceConsumedCapacity(id, held.ConsumedCapacity))
		}
	default:
		taken.AllocatedDevices.Insert(id)
	}
}

// Classes by name, as the allocator looks them up.
type classes map[string]*resourceapi.DeviceClass

func newClasses(items []*resourceapi.DeviceClass) classes {
	found := classes{}
	for _, item := range items {
		found[item.Name] = item
	}
	return found
}

func (c classes) List() ([]*resourceapi.DeviceClass, error) {
	var found []*resourceapi.DeviceClass
	for _, item := range c {
		found = append(found, item)
	}
	return found, nil
}

func (c classes) Get(name string) (*resourceapi.DeviceClass, error) {
	if item, found := c[name]; found {
		return item, nil
	}
	return nil, apierrors.NewNotFound(resourceapi.Resource("deviceclasses"), name)
}

// missing is the error of the first class that is asked for and does not exist.
func (c classes) missing(claims []*resourceapi.ResourceClaim) error {
	for _, claim := range claims {
		for _, request := range claim.Spec.Devices.Requests {
			for _, name := range classesOf(request) {
				if _, err := c.Get(name); err != nil {
					return fmt.Errorf("request %s: device class %s does not exist", request.Name, name)
				}
			}
		}
	}
	return nil
}

func classesOf(request resourceapi.DeviceRequest) []string {
	var names []string
	if request.Exactly != nil {
		names = append(names, request.Exactly.DeviceClassName)
	}
	for _, choice := range request.FirstAvailable {
		names = append(names, choice.DeviceClassName)
	}
	return names
}
