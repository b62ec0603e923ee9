#!/usr/bin/env bash
# A conversation whose agent waits for the result of a tool that the client carries out.
. "$(dirname "$0")/../with-server.sh"
start_server
node weather.ts
