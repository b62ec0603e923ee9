import { spawn, type ChildProcessByStdio } from "node:child_process";
import { once } from "node:events";
import type { Socket } from "node:net";
import type { Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { findMarkedScript } from "../system/find-marked-script.ts";

/** A separate process that ends our child processes when we die. */
export interface Guardian extends AsyncDisposable {
  /** Must be in the environment of every process that the guardian shall end. */
  readonly environment: Readonly<Record<string, string>>;
}

export type GuardianOptions = {
  /** Unique to this process; only letters, digits, `.`, `_` and `-`. */
  readonly marker: string;
};

/** Name of the environment variable with the marker. */
export const guardianVariable = "CONVOKE_OWNER";

const disposeMs = 5_000;
/** Delay before a guardian that exited is replaced, so that one that cannot run is not restarted in a loop. */
const replaceMs = 200;

/**
 * Starts the guardian: a small shell script that reads a pipe from us. When the pipe closes because we ended, even by `kill -9`, it
 * ends every process whose environment contains the marker: TERM, after one second KILL. A second guardian, detached from the
 * first, reads the same pipe and does it when the first one does not. A first one that exits early is replaced. Disposing does
 * the same and then ends both. Where there is no `/proc` it reads the output of `ps`.
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
    // `detached` gives the guardian its own session, so no signal to our group or terminal reaches it.
    const child = spawn("/bin/sh", ["-c", script, "convoke-guardian", this.#assignment, secondScript], {
      cwd: "/",
      detached: true,
      env: { PATH: "/usr/local/bin:/usr/bin:/bin" },
      stdio: ["pipe", "ignore", "ignore"],
    });
    // An unread pipe is reported by the exit of the child.
    child.stdin.on("error", () => {});
    await once(child, "spawn");
    // Neither the script nor its pipe keeps an otherwise idle process alive.
    child.unref();
    (child.stdin as Socket).unref();
    this.#child = child;
    this.#exited = once(child, "exit");
    void this.#exited.then(() => this.#replace());
  }

  [Symbol.asyncDispose](): Promise<void> {
    return (this.#disposal ??= this.#dispose());
  }

  /** The guardian was killed while we live. If no replacement can start, the second guardian is still there. */
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

/** Waits for end of input, then signals processes with the marker `$1`, in rounds. `$2` is the script of the second guardian. */
const script = `
trap '' HUP INT TERM PIPE
exec 3<&0
apart=$(command -v setsid)
$apart /bin/sh -c "$2" convoke-keeper "$1" <&3 3<&- &
second=$!
exec 3<&-
while read -r _; do :; done
finish() { kill -s KILL "$second" 2>/dev/null; exit 0; }
${findMarkedScript}
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
 * Waits for end of the same input. If the first guardian lives, it ends everything, and the second one, within two seconds:
 * processes that are left after that had no first guardian.
 */
const secondScript = `
trap '' HUP INT TERM PIPE
while read -r _; do :; done
sleep 2
${findMarkedScript}
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
