// Marks the folder. Each Kubernetes minor has a module file of its own: go build -modfile=v1.34.mod -tags=k8s1.34
module eks-devices/oracle

go 1.24.0
