import type { ConvokeClient } from "@convoke/client";

/** The address of a repository, as git takes it; null for a folder. */
export function repositoryOf(text: string): string | null {
  const address = text.trim();
  return /^(?:https?|ssh|git|file):\/\/\S+$/i.test(address) || /^[\w.-]+@[\w.-]+:\S+$/.test(address)
    ? address
    : null;
}

/** Whether an address brings a password or a token along: git would write it into the folder, where the agent reads it. */
export function hasSecret(address: string): boolean {
  if (!/^https?:/i.test(address) || !URL.canParse(address)) return false;
  const { username, password } = new URL(address);
  return username !== "" || password !== "";
}

/** The last part of an address is the name of its folder, as git has it. */
export function folderNameOf(address: string): string {
  const last = address.replace(/\/+$/, "").split(/[/:]/).at(-1) ?? "";
  return last.replace(/\.git$/, "").replaceAll(/[^\w.-]/g, "-") || "repository";
}

/**
 * Fetches a repository into a folder of its own below `base`, in the shell of the machine. A folder that is there already is left alone, and
 * git asks nobody for a password, because nobody could answer.
 */
export function fetchCommand(address: string, base: string): string {
  return [
    `address=${quoted(address)}; base=${quoted(base)}; name=${quoted(folderNameOf(address))}`,
    `mkdir -p "$base" || exit 1`,
    `dir=$base/$name; number=2`,
    `while ! mkdir "$dir" 2>/dev/null; do`,
    `  if [ ! -e "$dir" ]; then mkdir "$dir"; exit 1; fi`,
    `  dir=$base/$name-$number; number=$((number + 1))`,
    `done`,
    `export GIT_TERMINAL_PROMPT=0 GIT_SSH_COMMAND="ssh -o BatchMode=yes"`,
    `git clone --progress -- "$address" "$dir" || { code=$?; rmdir "$dir" 2>/dev/null; exit $code; }`,
    `printf %s "$dir"`,
  ].join("\n");
}

export type FetchDeps = {
  readonly client: ConvokeClient;
  /** Absolute, on the server's machine. */
  readonly base: string;
  /** What git says while it works, line by line. */
  readonly onProgress: (line: string) => void;
  /** Ends git too. */
  readonly signal: AbortSignal;
};

/** The folder of the cloned repository, absolute. Rejects with git's message when it could not be cloned. */
export async function fetchRepository(address: string, deps: FetchDeps): Promise<string> {
  const { client, base, onProgress, signal } = deps;
  const { id } = await client.call("POST /api/bash/start_bash_command", {
    body: { command: fetchCommand(address, base), cwd: null, timeout: fetchSeconds },
    signal,
  });
  const commandId = id ?? "";
  const stop = (): void => {
    const params = { command_id: commandId };
    client.call("POST /api/bash/bash_commands/{command_id}/stop", { params }).catch((error: unknown) => {
      console.warn("The clone could not be stopped.", error);
    });
  };
  signal.addEventListener("abort", stop, { once: true });
  try {
    signal.throwIfAborted();
    const output = { stdout: "", stderr: "" };
    for (let order = -1; ;) {
      const { items } = await client.call("GET /api/bash/bash_events/search", {
        query: { command_id__eq: commandId, kind__eq: "BashOutput", order__gt: order },
        signal,
      });
      for (const item of items) {
        if (item.kind !== "BashOutput") continue;
        order = item.order ?? 0;
        output.stdout += item.stdout ?? "";
        output.stderr += item.stderr ?? "";
        const exitCode = item.exit_code ?? null;
        if (exitCode === 0) return output.stdout;
        if (exitCode !== null) throw new Error(problemOf(output.stderr, exitCode));
      }
      onProgress(lastLines(output.stderr).at(-1) ?? "");
      await pause(signal);
    }
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

const fetchSeconds = 1800;
const pauseMs = 300;

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** What stands on lines that git writes over is gone but for the last. */
function lastLines(text: string): readonly string[] {
  return text
    .split("\n")
    .map((line) => line.replace(/\r$/, "").split("\r").at(-1)?.trim() ?? "")
    .filter((line) => line !== "");
}

/** Git's message, without the line that only names the folder. */
function problemOf(stderr: string, exitCode: number): string {
  const lines = lastLines(stderr).filter((line) => !line.startsWith("Cloning into "));
  return lines.slice(-6).join(" ") || `git ended with exit code ${exitCode}.`;
}

/** Ends early when nobody waits any more; the next call says so. */
async function pause(signal: AbortSignal): Promise<void> {
  await new Promise<void>((resolve) => {
    const timer = setTimeout(done, pauseMs);
    function done(): void {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    }
    signal.addEventListener("abort", done);
  });
}
