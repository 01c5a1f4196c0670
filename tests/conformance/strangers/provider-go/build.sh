#!/bin/sh
# Compiles the program if a source is newer than it. The JWT library is Debian's, below GOPATH.
set -e
cd "$(dirname "$0")"
if [ -x bin/provider ] && [ -z "$(find . -maxdepth 1 -name '*.go' -newer bin/provider)" ]; then
    exit 0
fi
mkdir -p bin
new=bin/provider.$$
GOFLAGS= GO111MODULE=off GOPATH=/usr/share/gocode GOCACHE="${GOCACHE:-${TMPDIR:-/tmp}/provider-go-cache}" go build -trimpath -o "$new" main.go token.go statement.go ledger.go 1>&2
mv -f "$new" bin/provider
