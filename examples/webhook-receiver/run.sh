#!/usr/bin/env bash
# A receiver of webhooks that checks signatures, and is sent again what it could not take.
. "$(dirname "$0")/../with-server.sh"
export HOOK_SECRET=a-long-random-text
PORT=0 start receiver node receiver.ts
HOOK=$(cat "$SCRATCH/receiver.url")/hook
# region server
export CONVOKE_WEBHOOKS='[{ "base_url": "'"$HOOK"'", "secret": "'"$HOOK_SECRET"'", "flush_delay": 1, "retry_delay": 1 }]'
# endregion server
start_server
curl -sS "$URL/api/conversations" -H "X-Session-API-Key: $KEY" -H 'Content-Type: application/json' -o "$SCRATCH/created.json" -d '{
  "agent": { "llm": { "model": "'"$LLM_MODEL"'", "api_key": "any", "base_url": "'"$LLM_BASE_URL"'" }, "tools": [] },
  "workspace": { "working_dir": "hook" },
  "initial_message": "Be done."
}'
curl -sS -o "$SCRATCH/reply" -X POST "$HOOK/events/0" -d '[]'
for _ in $(seq 300); do
  if grep -q finished "$SCRATCH/receiver.out"; then break; fi
  sleep 0.2
done
grep -v '"url"' "$SCRATCH/receiver.out" | sort
