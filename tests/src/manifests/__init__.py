"""The Kubernetes manifests of deploy/k8s, rendered, and the rules that they keep."""
