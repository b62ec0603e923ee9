import { arch, release } from "node:os";
import type { Finding } from "./finding.ts";

/** What a machine says of itself, as Node reads it. */
export type System = {
  readonly platform: string;
  readonly arch: string;
  /** Of the kernel; that of WSL2 names Microsoft. */
  readonly release: string;
  /** Of the effective user; null where the system has none. */
  readonly uid: number | null;
};

export const ownSystem: System = {
  platform: process.platform,
  arch: arch(),
  release: release(),
  uid: process.geteuid?.() ?? null,
};

/**
 * Why no server may start as this user; null when it may. A server that is root gives files to the users of its sandboxes, and only
 * Linux has the paths through open folders by which it can do so without following an agent's links.
 */
export function describeRefusedUser({ platform, uid }: Pick<System, "platform" | "uid">): string | null {
  if (platform === "linux" || uid !== 0) return null;
  return `Convoke does not run as root on ${platform}, only on Linux. Start it as an ordinary user.`;
}

/** Whether this is a system that Convoke was tried on. */
export function checkSystem(system: System): Finding {
  const isWsl = /microsoft/i.test(system.release);
  const refused = describeRefusedUser(system);
  const detail = `${system.platform} ${system.arch}${isWsl ? " in WSL2" : ""}`;
  if (system.platform === "linux" && !isWsl) return { name: "system", state: "ok", detail, fix: null };
  if (refused !== null)
    return { name: "system", state: "missing", detail: `${detail} as root`, fix: refused };
  const fix = isWsl
    ? "Keep the data folder in the Linux file system, not below /mnt. Please report what does not work."
    : "Walls and sandboxes with bubblewrap need Linux. Please report what does not work.";
  return { name: "system", state: "optional", detail: `${detail}: not tried`, fix };
}

/** macOS comes with 3.2, and its first terminal runs that one. */
export const bashFix = "Install bash 4.4 or newer; the terminal tool runs the first one in PATH.";

/** `found` is what was found out of bash by its first line of `--version`. */
export function requireBash(found: Finding): Finding {
  const [, major, minor] = /version (\d+)\.(\d+)/.exec(found.detail) ?? [];
  if (major === undefined || Number(major) * 100 + Number(minor) >= 404) return found;
  return { ...found, state: "missing", detail: `${found.detail}: too old`, fix: bashFix };
}
