//go:build !k8s1.34

package main

import (
	"errors"

	"k8s.io/dynamic-resource-allocation/structured"
)

// onlyOnNode says whether the scheduler goes on to other nodes after the error.
func onlyOnNode(err error) bool {
	return errors.Is(err, structured.ErrFailedAllocationOnNode)
}
