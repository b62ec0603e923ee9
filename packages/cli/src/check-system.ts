import { arch, release } from "node:os";
import type { Finding } from "./finding.ts";

/** What a machine says of itself, as Node reads it. */
export type System = {
  readonly platform: string;
  readonly arch: string;
  /** Of the kernel; that of WSL2 names Microsoft. */
  readonly release: string;
};

export const ownSystem: System = { platform: process.platform, arch: arch(), release: release() };

/** Whether this is a system that Convoke was tried on. */
export function checkSystem(system: System): Finding {
  const isWsl = /microsoft/i.test(system.release);
  const detail = `${system.platform} ${system.arch}${isWsl ? " in WSL2" : ""}`;
  if (system.platform === "linux" && !isWsl) return { name: "system", state: "ok", detail, fix: null };
  const fix = isWsl
    ? "Keep the data folder in the Linux file system, not below /mnt. Please report what does not work."
    : "Walls and sandboxes with bubblewrap need Linux. Please report what does not work.";
  return { name: "system", state: "optional", detail: `${detail}: not tried`, fix };
}
