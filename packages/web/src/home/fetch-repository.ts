import type { ConvokeClient } from "@convoke/client";

/** The URL of a Git repository; null for a folder path. */
export function repositoryOf(text: string): string | null {
  const address = text.trim();
  return /^(?:https?|ssh|git|file):\/\/\S+$/i.test(address) || /^[\w.-]+@[\w.-]+:\S+$/.test(address)
    ? address
    : null;
}

/** Whether a URL contains a password or token: git would store it in the folder, where the agent can read it. */
export function hasSecret(address: string): boolean {
  if (!/^https?:/i.test(address) || !URL.canParse(address)) return false;
  const { username, password } = new URL(address);
  return username !== "" || password !== "";
}

/** The default folder name of a clone: the last segment of the URL. */
export function folderNameOf(address: string): string {
  const last = address.replace(/\/+$/, "").split(/[/:]/).at(-1) ?? "";
  return last.replace(/\.git$/, "").replaceAll(/[^\w.-]/g, "-") || "repository";
}

/**
 * Clones a repository into a new folder below `base`, with a command on the server's machine. An existing folder is
 * left alone, and git prompts are disabled, because nobody could answer them.
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
  /** Progress lines of git. */
  readonly onProgress: (line: string) => void;
  /** Aborting also ends git. */
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

/** Applies carriage returns: only the last text of each line counts. */
function lastLines(text: string): readonly string[] {
  return text
    .split("\n")
    .map((line) => line.replace(/\r$/, "").split("\r").at(-1)?.trim() ?? "")
    .filter((line) => line !== "");
}

/** Git's error message, without the line that only names the folder. */
function problemOf(stderr: string, exitCode: number): string {
  const lines = lastLines(stderr).filter((line) => !line.startsWith("Cloning into "));
  return lines.slice(-6).join(" ") || `git ended with exit code ${exitCode}.`;
}

/** Returns early when aborted; the next call throws. */
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
