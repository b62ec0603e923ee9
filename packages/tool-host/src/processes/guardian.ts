import { spawn, type ChildProcessByStdio } from "node:child_process";
import { once } from "node:events";
import type { Socket } from "node:net";
import type { Writable } from "node:stream";
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
/** One that cannot live here is not started again and again at once. */
const replaceMs = 200;

/**
 * Starts the guardian: a small shell script that reads a pipe from us and, when the pipe closes because we ended, even by
 * `kill -9`, ends every process whose environment holds the marker: TERM, after one second KILL. A second one, which is nobody's
 * child, reads the same pipe and does it when the first does not; a first one that ends before us is replaced. Disposing it does
 * the same and then ends both. It finds processes by `/proc`, so on systems without it (macOS) it ends nothing.
 */
export async function openGuardian(options: GuardianOptions): Promise<Guardian> {
  if (!/^[\w.-]+$/.test(options.marker))
    throw new Error("A guardian's marker may hold letters, digits, '.', '_' and '-' only.");
  const guardian = new ShellGuardian(options.marker);
  await guardian.start();
  return guardian;
}

class ShellGuardian implements Guardian {
  readonly environment: Readonly<Record<string, string>>;
  readonly #assignment: string;
  #child: ChildProcessByStdio<Writable, null, null> | undefined;
  #exited: Promise<unknown> = Promise.resolve();
  #disposal: Promise<void> | undefined;

  constructor(marker: string) {
    this.environment = { [guardianVariable]: marker };
    this.#assignment = `${guardianVariable}=${marker}`;
  }

  async start(): Promise<void> {
    // `detached` gives it a session of its own, so no signal to our group or terminal reaches it.
    const child = spawn("/bin/sh", ["-c", script, "convoke-guardian", this.#assignment, secondScript], {
      cwd: "/",
      detached: true,
      env: { PATH: "/usr/local/bin:/usr/bin:/bin" },
      stdio: ["pipe", "ignore", "ignore"],
    });
    // A pipe that nobody reads any more is told by the end of the child.
    child.stdin.on("error", () => {});
    await once(child, "spawn");
    // Neither the script nor its pipe keeps a process alive that has nothing else to do.
    child.unref();
    (child.stdin as Socket).unref();
    this.#child = child;
    this.#exited = once(child, "exit");
    void this.#exited.then(() => this.#replace());
  }

  [Symbol.asyncDispose](): Promise<void> {
    return (this.#disposal ??= this.#dispose());
  }

  /** Somebody ended it while we live. Where none can be started, its second one is still there. */
  async #replace(): Promise<void> {
    if (this.#disposal !== undefined) return;
    await sleep(replaceMs, undefined, { ref: false });
    if (this.#disposal === undefined) await this.start().catch(() => {});
  }

  async #dispose(): Promise<void> {
    const child = this.#child;
    if (child === undefined) return;
    child.ref();
    child.stdin.destroy();
    const late = new AbortController();
    const isLate = await Promise.race([
      this.#exited.then(() => false),
      sleep(disposeMs, true, { signal: late.signal }).catch(() => false),
    ]);
    late.abort();
    if (isLate) child.kill("SIGKILL");
  }
}

/** Looks for the marker `$1` in every environment. */
const finding = `
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
`;

/** Waits for the end of its input, then signals the owners of the marker `$1`, in rounds. `$2` is what the second one runs. */
const script = `
trap '' HUP INT TERM PIPE
exec 3<&0
apart=$(command -v setsid)
$apart /bin/sh -c "$2" convoke-keeper "$1" <&3 3<&- &
second=$!
exec 3<&-
while read -r _; do :; done
finish() { kill -s KILL "$second" 2>/dev/null; exit 0; }
${finding}
signal=TERM
for pause in 1 0.2 0.2 0.2 0.2 0.2; do
  pids=$(find_marked "$1")
  [ -n "$pids" ] || finish
  kill -s "$signal" $pids 2>/dev/null
  kill -s CONT $pids 2>/dev/null
  signal=KILL
  waited=0
  while [ "$pause" = 1 ] && [ "$waited" -lt 10 ]; do
    sleep 0.1
    waited=$((waited + 1))
    [ -n "$(find_marked "$1")" ] || finish
  done
  [ "$pause" = 1 ] || sleep "$pause"
done
finish
`;

/**
 * Waits for the end of the same input. Where the first one lives, it has ended everything, and this one, within two seconds: what
 * is left then had no first one, and no time.
 */
const secondScript = `
trap '' HUP INT TERM PIPE
while read -r _; do :; done
sleep 2
${finding}
signal=TERM
for pause in 0.5 0.2 0.2 0.2 0.2 0.2; do
  pids=$(find_marked "$1")
  [ -n "$pids" ] || exit 0
  kill -s "$signal" $pids 2>/dev/null
  kill -s CONT $pids 2>/dev/null
  signal=KILL
  sleep "$pause"
done
`;
