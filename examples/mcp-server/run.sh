#!/usr/bin/env bash
# A conversation whose agent calls a tool of an MCP server of ours.
. "$(dirname "$0")/../with-server.sh"
start_server
node ask.ts
