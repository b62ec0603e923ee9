#!/usr/bin/env bash
# The official Python SDK against this server. Needs a Python from 3.12 on with the packages openhands-sdk and openhands-tools; PYTHON names it.
PYTHON=${PYTHON:-python3}
if ! "$PYTHON" -c 'import openhands.sdk' 2>/dev/null; then
  echo "skipped: $PYTHON has no openhands-sdk" >&2
  exit 77
fi
. "$(dirname "$0")/../with-server.sh"
start_server
OPENHANDS_SUPPRESS_BANNER=1 "$PYTHON" conversation.py
