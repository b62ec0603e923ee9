#!/usr/bin/env bash
# Starts a conversation with the TypeScript client and follows it to its end.
. "$(dirname "$0")/../with-server.sh"
start_server
node follow.ts
