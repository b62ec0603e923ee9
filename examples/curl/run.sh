#!/usr/bin/env bash
# Creates a conversation, waits until its action needs an approval, approves it, and reads the events.
. "$(dirname "$0")/../with-server.sh"
start_server

# region create
api() { curl -sS -H "X-Session-API-Key: $KEY" -H 'Content-Type: application/json' "$@"; }
ID=$(node -p 'crypto.randomUUID()')
api "$URL/api/conversations" -o "$SCRATCH/created.json" -w '%{http_code}\n' -d '{
  "conversation_id": "'"$ID"'",
  "agent": {
    "llm": { "model": "'"$LLM_MODEL"'", "api_key": "'"$LLM_API_KEY"'", "base_url": "'"$LLM_BASE_URL"'" },
    "tools": [{ "name": "terminal" }]
  },
  "workspace": { "working_dir": "hello" },
  "confirmation_policy": { "kind": "AlwaysConfirm" },
  "initial_message": "Write hello.txt, please."
}'
# endregion create

# region wait
status() { api "$URL/api/conversations/$ID" | node -p 'JSON.parse(fs.readFileSync(0, "utf8")).execution_status'; }
wait_for() {
  for _ in $(seq 300); do
    [ "$(status)" != "$1" ] || return 0
    sleep 0.2
  done
  echo "it did not become $1" >&2
  return 1
}
wait_for waiting_for_confirmation
# endregion wait

# region approve
api "$URL/api/conversations/$ID/approvals" |
  node -e 'for (const a of JSON.parse(fs.readFileSync(0, "utf8")).items) console.log("waits:", a.tool_name, a.risk ?? a.security_risk)'
api "$URL/api/conversations/$ID/events/respond_to_confirmation" -d '{ "accept": true }'
echo
wait_for finished
# endregion approve

# region read
api "$URL/api/conversations/$ID/events/search?limit=100" |
  node -e 'for (const e of JSON.parse(fs.readFileSync(0, "utf8")).items) console.log(e.source.padEnd(11), e.kind)'
# endregion read
