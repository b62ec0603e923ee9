import { accessSync, closeSync, constants, openSync, readFileSync, statSync } from "node:fs";
import { delimiter, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { markerVariable } from "./find-processes.ts";
import { launchDetached } from "./launch.ts";
import { findSame } from "./process-group.ts";
import type { ProcessKey } from "./process-group.ts";
import { readTail } from "./sandbox-directory.ts";
import type { SandboxDirectory } from "./sandbox-directory.ts";
import { SandboxError } from "./sandbox.ts";

/**
 * How a namespace sandbox gets a network. `translated`: one of its own behind address translation, where this machine's
 * loopback is out of reach. `shared`: this machine's, with everything that listens on it.
 */
export type OutsideNetwork = "none" | "translated" | "shared";

const translator = "slirp4netns";

/** Throws {@link SandboxError} when there is no way that was allowed. */
export function chooseNetwork(
  wanted: "none" | "on",
  { path, isSharingAllowed }: { readonly path: string; readonly isSharingAllowed: boolean },
): OutsideNetwork {
  if (wanted === "none") return "none";
  if (isInstalled(translator, path)) return "translated";
  if (isSharingAllowed) return "shared";
  throw new SandboxError(
    `Network on needs ${translator} (Debian, Ubuntu: apt-get install ${translator}). Without it the sandbox could only share this machine's network with everything that listens on it; CONVOKE_SANDBOX_SHARED_NETWORK=yes allows that.`,
  );
}

/** What `/etc/resolv.conf` is inside; null where there is no network to ask over. */
export function resolverSettings(network: OutsideNetwork): string | null {
  if (network === "none") return null;
  if (network === "translated") return "nameserver 10.0.2.3\n";
  return readFileSync("/etc/resolv.conf", "utf8");
}

/**
 * Runs `command` in a new network without interfaces and the user namespace that owns it. The process keeps its id and stays in
 * both for its whole life, whatever namespaces it gives its children, so a translator can join it at any time. It is root there
 * because a translator of an ordinary user has to become that; bubblewrap drops what this allows, and its children live in user
 * namespaces below, without a capability here.
 */
export function inOwnNetwork(command: readonly string[]): string[] {
  return ["unshare", "--user", "--map-root-user", "--net", "--", ...command];
}

/**
 * Gives a network to the namespace of `holder`, which runs in {@link inOwnNetwork}. The process that is returned carries it and
 * must end with the sandbox.
 */
export async function openTranslatedNetwork(options: {
  readonly holder: ProcessKey;
  readonly directory: SandboxDirectory;
  readonly marker: string;
  readonly path: string;
  readonly signal: AbortSignal;
}): Promise<ProcessKey> {
  const { holder, directory, marker, path, signal } = options;
  const readyPath = join(directory.root, "network-ready");
  const readyFile = openSync(readyPath, "w", 0o600);
  const readyDescriptor = 3;
  try {
    const carrier = await launchDetached({
      file: translator,
      args: [
        // It reads what a hostile sandbox sends: it gives up the file system, capabilities and system calls first.
        "--enable-sandbox",
        "--enable-seccomp",
        "--disable-host-loopback",
        "--configure",
        "--mtu=65520",
        `--ready-fd=${readyDescriptor}`,
        String(holder.pid),
        "tap0",
      ],
      cwd: "/",
      environment: { PATH: path, [markerVariable]: marker },
      directory,
      descriptors: [readyFile],
    });
    while (statSync(readyPath).size === 0) {
      signal.throwIfAborted();
      if (findSame(carrier) === undefined) {
        const log = (await readTail(directory.logFile, 1_000)).trim();
        throw new SandboxError(`The sandbox got no network from ${translator}. ${log}`);
      }
      await sleep(pollMs);
    }
    return carrier;
  } finally {
    closeSync(readyFile);
  }
}

const pollMs = 3;

function isInstalled(program: string, path: string): boolean {
  return path.split(delimiter).some((directory) => {
    try {
      accessSync(join(directory, program), constants.X_OK);
      return true;
    } catch {
      return false; // Not in this one.
    }
  });
}
