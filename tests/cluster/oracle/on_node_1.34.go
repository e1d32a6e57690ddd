//go:build k8s1.34

package main

// onlyOnNode is never so in 1.34: each error of its allocator ends the attempt.
func onlyOnNode(error) bool {
	return false
}
