#!/usr/bin/env bash
# OpenAI's own library against the gateway: list models, stream an answer, continue the chat.
. "$(dirname "$0")/../with-server.sh"
start_server
# region settings
curl -sS -o "$SCRATCH/settings" -X PATCH "$URL/api/settings" -H "X-Session-API-Key: $KEY" -H 'Content-Type: application/json' -d '{
  "agent_settings_diff": { "llm": { "model": "'"$LLM_MODEL"'", "api_key": "'"$LLM_API_KEY"'", "base_url": "'"$LLM_BASE_URL"'" } }
}'
# endregion settings
node chat.ts
curl -sS "$URL/api/conversations/count" -H "X-Session-API-Key: $KEY"
echo " conversation"
