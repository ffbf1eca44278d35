// CoreDNS with the plugins that a cluster without internet needs, and no others: the stock program
// has fifty more, with the clients of three clouds, and takes ten times as long to build.
package main

import (
	"github.com/coredns/coredns/core/dnsserver"
	"github.com/coredns/coredns/coremain"
	_ "github.com/coredns/coredns/plugin/errors"
	_ "github.com/coredns/coredns/plugin/health"
	_ "github.com/coredns/coredns/plugin/kubernetes"
	_ "github.com/coredns/coredns/plugin/ready"
)

func init() {
	dnsserver.Directives = []string{"health", "ready", "errors", "kubernetes"}
}

func main() {
	coremain.Run()
}
