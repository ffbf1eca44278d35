// Only to have the CRDs of the Gateway API, each byte checked by go.sum.
module gateway

go 1.23

require sigs.k8s.io/gateway-api v1.3.0
