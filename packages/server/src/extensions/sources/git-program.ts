import { join } from "node:path";
import type { ToolHost } from "@convoke/tool-host";
import { collectBytes } from "../../lib/collect-bytes.ts";
import { describeError } from "../../lib/describe-error.ts";
import { orAborted } from "../../lib/or-aborted.ts";

export type GitPlace = {
  readonly host: Pick<ToolHost, "startProcess">;
  /** Private and empty at first: the repository and the home of git are in it. */
  readonly folder: string;
  /** Aborts after the time that all of git may take. */
  readonly signal: AbortSignal;
};

/** `problem` is the end of what git printed, for people; it may quote the host. */
export type GitEnd =
  | { readonly ok: true; readonly output: Buffer }
  | { readonly ok: false; readonly why: "failed" | "too slow" | "too much"; readonly problem: string };

/** Of one process: 2 GiB of address space, 128 MiB in one file, two minutes of a processor. */
const limits = "ulimit -v 2097152; ulimit -f 262144; ulimit -t 120";

/**
 * Nothing of a repository or of this machine is obeyed: no hook, no filter, no submodule, no helper for credentials, no configuration
 * file, and no protocol but https. Objects stay packed, and large ones are read in parts.
 */
const safe = [
  "core.hooksPath=/dev/null",
  "core.fsmonitor=false",
  "core.symlinks=false",
  "core.bigFileThreshold=1m",
  "protocol.allow=never",
  "protocol.https.allow=always",
  "submodule.recurse=false",
  "fetch.recurseSubmodules=false",
  "fetch.unpackLimit=1",
  "transfer.unpackLimit=1",
  "transfer.bundleURI=false",
  "transfer.credentialsInUrl=die",
  "pack.threads=1",
  "gc.auto=0",
  "maintenance.auto=false",
  "credential.helper=",
  "http.followRedirects=initial",
  "http.lowSpeedLimit=1000",
  "http.lowSpeedTime=30",
].flatMap((setting) => ["-c", setting]);

/** Runs git in the private repository; `settings` are further ones, and `input` is its standard input. */
export async function runGit(
  { host, folder, signal }: GitPlace,
  args: readonly string[],
  maxOutputBytes: number,
  { settings = [], input = "" }: { readonly settings?: readonly string[]; readonly input?: string } = {},
): Promise<GitEnd> {
  const given = settings.flatMap((setting) => ["-c", setting]);
  const git = ["git", "-C", folder, ...safe, ...given, ...args];
  await using child = host.startProcess({
    command: "/bin/sh",
    args: ["-c", `${limits}; exec "$@"`, "sh", ...git],
    environment: environmentIn(folder),
    workingDir: folder,
  });
  child.input.end(input);
  try {
    const read = collectBytes(child.output, maxOutputBytes);
    // One that cannot be started need not end its output.
    const output = await orAborted(Promise.race([read, child.ended.then(() => read)]), signal);
    if (output === null) return { ok: false, why: "too much", problem: "" };
    const { exitCode, errorText } = await orAborted(child.ended, signal);
    return exitCode === 0 ? { ok: true, output } : { ok: false, why: "failed", problem: errorText };
  } catch (error) {
    if (signal.aborted) return { ok: false, why: "too slow", problem: "" };
    // Git is not installed, or cannot be started.
    return { ok: false, why: "failed", problem: describeError(error) };
  }
}

/** Where git finds the only authority that it trusts. */
export function authorityIn(folder: string): string {
  return join(folder, "authority.pem");
}

/** Replaces whatever the host's own environment has of these. */
function environmentIn(folder: string): Record<string, string> {
  const home = join(folder, "home");
  const proxies = ["http_proxy", "https_proxy", "all_proxy", "no_proxy"];
  return {
    ...Object.fromEntries(proxies.flatMap((name) => [name, name.toUpperCase()]).map((name) => [name, ""])),
    HOME: home,
    XDG_CONFIG_HOME: home,
    XDG_CACHE_HOME: home,
    LC_ALL: "C",
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_CONFIG_SYSTEM: "/dev/null",
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_ALLOW_PROTOCOL: "https",
    GIT_PROTOCOL_FROM_USER: "0",
    GIT_TERMINAL_PROMPT: "0",
    GIT_ASKPASS: "/bin/false",
    SSH_ASKPASS: "/bin/false",
    GIT_NO_LAZY_FETCH: "1",
    GIT_NO_REPLACE_OBJECTS: "1",
    GIT_SSL_CAINFO: authorityIn(folder),
  };
}
