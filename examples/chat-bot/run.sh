#!/usr/bin/env bash
# A chat bot with a web page, tried without a browser.
. "$(dirname "$0")/../with-server.sh"
start_server
PORT=${PORT:-0} start bot node server.ts
BOT=$(cat "$SCRATCH/bot.url") node try.ts
