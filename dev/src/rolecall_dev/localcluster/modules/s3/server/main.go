// An S3 server for tests: `s3 FOLDER BUCKET`, on port 9000. It checks signatures and keeps objects as files.
package main

import (
	"context"
	"log"
	"os"
	"path/filepath"

	"github.com/versity/versitygw/backend/meta"
	"github.com/versity/versitygw/backend/posix"
	"github.com/versity/versitygw/embedgw"
)

func main() {
	objects, about := filepath.Join(os.Args[1], "objects"), filepath.Join(os.Args[1], "about")
	for _, folder := range []string{filepath.Join(objects, os.Args[2]), about} {
		if err := os.MkdirAll(folder, 0o700); err != nil {
			log.Fatal(err)
		}
	}
	sidecar, err := meta.NewSideCar(about)
	if err != nil {
		log.Fatal(err)
	}
	backend, err := posix.New(objects, sidecar, posix.PosixOpts{SideCarDir: about})
	if err != nil {
		log.Fatal(err)
	}
	log.Fatal(embedgw.RunVersityGW(context.Background(), backend, &embedgw.Config{
		RootUserAccess:    os.Getenv("AWS_ACCESS_KEY_ID"),
		RootUserSecret:    os.Getenv("AWS_SECRET_ACCESS_KEY"),
		Region:            "us-east-1",
		Ports:             []string{":9000"},
		MaxConnections:    64,
		MaxRequests:       64,
		MultipartMaxParts: 10000,
		Quiet:             true,
	}))
}
