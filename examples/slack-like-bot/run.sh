#!/usr/bin/env bash
# A bot for a chat program: threads are conversations, approvals are buttons.
. "$(dirname "$0")/../with-server.sh"
start chat node chat.ts
CHAT_URL=$(cat "$SCRATCH/chat.url")
export CHAT_URL
# The bot has to be there before the server, which posts to it, and has to know where the server will be.
export SESSION_API_KEY=a-key-for-this-example
SERVER_PORT=$(node -e 'const s = require("net").createServer().listen(0, "127.0.0.1", () => { console.log(s.address().port); s.close(); })')
export URL=http://127.0.0.1:$SERVER_PORT KEY=$SESSION_API_KEY
PORT=0 start bot node bot.ts
BOT=$(cat "$SCRATCH/bot.url")
export CONVOKE_WEBHOOKS='[{ "base_url": "'"$BOT"'/hook", "flush_delay": 1 }]'
start_server
curl -sS -X POST "$(cat "$SCRATCH/chat.url")/begin" -d "$BOT"
for _ in $(seq 300); do
  if grep -q 'no file' "$SCRATCH/chat.out"; then break; fi
  sleep 0.2
done
grep -v '"url"' "$SCRATCH/chat.out" | sort
