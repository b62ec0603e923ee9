# Read by the run.sh of each example: starts a scripted model (its script is model.json beside run.sh) and a server in a folder that is removed
# at the end, and sets URL, KEY, LLM_MODEL, LLM_API_KEY and LLM_BASE_URL. To use a server and a model of your own, set these and leave it out.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[1]}")"

SCRATCH=$(mktemp -d)
mkdir "$SCRATCH/home" "$SCRATCH/work"
started=()

finish() {
  for pid in "${started[@]}"; do kill "$pid" 2>/dev/null || true; done
  wait
  rm -rf "$SCRATCH"
}
trap finish EXIT

# start NAME COMMAND... : starts a program that prints a line of JSON with its url when it is ready, and puts the url into $SCRATCH/NAME.url.
start() {
  local name=$1
  shift
  : >"$SCRATCH/$name.out"
  "$@" >"$SCRATCH/$name.out" &
  started+=("$!")
  until grep -q '"url"' "$SCRATCH/$name.out"; do
    kill -0 "$!" 2>/dev/null || { echo "$name did not start" >&2; exit 1; }
    sleep 0.05
  done
  sed -n 's/.*"url": *"\([^"]*\)".*/\1/p' "$SCRATCH/$name.out" | head -n 1 >"$SCRATCH/$name.url"
}

export LLM_MODEL=openai/scripted LLM_API_KEY=any
start model convoke scripted-model --script model.json --json
LLM_BASE_URL=$(cat "$SCRATCH/model.url")/v1
export LLM_BASE_URL

# start_server : starts it with the variables that the example has set.
# The tools of a scripted model do what the script says and nothing else, so they need no wall. Yours do.
start_server() {
  HOME="$SCRATCH/home" start server convoke serve --port "${SERVER_PORT:-0}" --wall off --sandbox off --json \
    --data-dir "$SCRATCH/data" --workspace-root "$SCRATCH/work"
  URL=$(cat "$SCRATCH/server.url")
  KEY=${SESSION_API_KEY:-$(cat "$SCRATCH/data/session-api-key")}
  export URL KEY
}
