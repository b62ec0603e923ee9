#!/usr/bin/env bash
# The official Python SDK against this server. Needs a Python from 3.12 on with the packages openhands-sdk and openhands-tools; PYTHON names it.
PYTHON=${PYTHON:-python3}
# Without it the SDK asks the network for prices of models when it is imported.
export LITELLM_LOCAL_MODEL_COST_MAP=True OPENHANDS_SUPPRESS_BANNER=1
if ! "$PYTHON" -c 'import openhands.sdk, openhands.tools.terminal' 2>/dev/null; then
  echo "skipped: $PYTHON has no openhands-sdk and openhands-tools" >&2
  exit 77
fi
. "$(dirname "$0")/../with-server.sh"
start_server
"$PYTHON" conversation.py
