#!/usr/bin/env bash
# A conversation with a tool that the client carries out.
. "$(dirname "$0")/../with-server.sh"
start_server
node show-page.ts
