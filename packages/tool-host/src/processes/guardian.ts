import { spawn } from "node:child_process";
import { once } from "node:events";
import type { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

/** A process outside ours that ends what we started when we cannot do it any more. */
export interface Guardian extends AsyncDisposable {
  /** Must be in the environment of every process that the guardian is to end. */
  readonly environment: Readonly<Record<string, string>>;
}

export type GuardianOptions = {
  /** Unique to this process, letters, digits, `.`, `_` and `-` only. */
  readonly marker: string;
};

/** The variable that carries the marker. */
export const guardianVariable = "CONVOKE_OWNER";

const disposeMs = 5_000;

/**
 * Starts the guardian: a small shell script that reads a pipe from us and, when the pipe closes because we ended, even by
 * `kill -9`, ends every process whose environment holds the marker: TERM, after one second KILL. Disposing it does the
 * same and then ends it. It finds processes by `/proc`, so on systems without it (macOS) it ends nothing.
 */
export async function openGuardian(options: GuardianOptions): Promise<Guardian> {
  if (!/^[\w.-]+$/.test(options.marker))
    throw new Error("A guardian's marker may hold letters, digits, '.', '_' and '-' only.");
  const assignment = `${guardianVariable}=${options.marker}`;
  // `detached` gives it a session of its own, so no signal to our group or terminal reaches it.
  const child = spawn("/bin/sh", ["-c", script, "convoke-guardian", assignment], {
    cwd: "/",
    detached: true,
    env: { PATH: "/usr/local/bin:/usr/bin:/bin" },
    stdio: ["pipe", "ignore", "ignore"],
  });
  await once(child, "spawn");
  // Neither the script nor its pipe keeps a process alive that has nothing else to do.
  child.unref();
  (child.stdin as Socket).unref();
  const exited = once(child, "exit");
  let disposal: Promise<void> | undefined;
  const dispose = async (): Promise<void> => {
    child.ref();
    child.stdin.destroy();
    const late = new AbortController();
    const isLate = await Promise.race([
      exited.then(() => false),
      sleep(disposeMs, true, { signal: late.signal }).catch(() => false),
    ]);
    late.abort();
    if (isLate) child.kill("SIGKILL");
  };
  return {
    environment: { [guardianVariable]: options.marker },
    [Symbol.asyncDispose]: () => (disposal ??= dispose()),
  };
}

/** Waits for the end of its input, then looks for the marker in every environment and signals the owners, in rounds. */
const script = `
trap '' HUP INT TERM PIPE
while read -r _; do :; done
look() {
  grep -lzxF -- "$1" /proc/[0-9]*/environ 2>/dev/null | while IFS=/ read -r _ _ pid _; do
    case $pid in $$|self) ;; *) echo "$pid" ;; esac
  done
}
# A process between two programs shows no environment: only two looks in a row that find nothing count.
find_marked() {
  found=$(look "$1")
  [ -n "$found" ] || { sleep 0.02; found=$(look "$1"); }
  echo "$found"
}
signal=TERM
for pause in 1 0.2 0.2 0.2 0.2 0.2; do
  pids=$(find_marked "$1")
  [ -n "$pids" ] || exit 0
  kill -s "$signal" $pids 2>/dev/null
  kill -s CONT $pids 2>/dev/null
  signal=KILL
  waited=0
  while [ "$pause" = 1 ] && [ "$waited" -lt 10 ]; do
    sleep 0.1
    waited=$((waited + 1))
    [ -n "$(find_marked "$1")" ] || exit 0
  done
  [ "$pause" = 1 ] || sleep "$pause"
done
`;
