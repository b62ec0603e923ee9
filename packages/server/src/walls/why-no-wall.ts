import { readIfThere } from "../lib/read-if-there.ts";
import type { BackendFinding } from "../sandboxes/find-bubblewrap.ts";
import type { NoWall } from "./no-wall.ts";

export type NoWallFacts = {
  readonly platform: NodeJS.Platform;
  /** The kernel lets no program make user namespaces without a profile (Ubuntu from 24.04 on). */
  readonly isRestrictedByProfile: boolean;
};

const install =
  "Install it: apt-get install bubblewrap (Debian, Ubuntu), dnf install bubblewrap (Fedora), pacman -S bubblewrap (Arch).";

/** Why bubblewrap cannot put up a wall on this machine, in words; null when it can. */
export function whyNoWall({ isUsable, detail }: BackendFinding, facts: NoWallFacts): NoWall | null {
  if (isUsable) return null;
  if (facts.platform !== "linux")
    return {
      reason: "There is no wall on this system.",
      fix: "Use a Linux machine (WSL2, a virtual machine, a container).",
    };
  if (detail.startsWith("not installed")) return { reason: "bubblewrap is not installed.", fix: install };
  const isForbidden = /setting up uid map|RTM_NEWADDR|Permission denied/.test(detail);
  if (facts.isRestrictedByProfile && isForbidden)
    return {
      reason: "This system lets no program make user namespaces without an AppArmor profile.",
      fix: "Install the profile of bubblewrap: apt-get install apparmor-profiles, cp /usr/share/apparmor/extra-profiles/bwrap-userns-restrict /etc/apparmor.d/, apparmor_parser -r /etc/apparmor.d/bwrap-userns-restrict.",
    };
  if (/mount proc/i.test(detail))
    return {
      reason: "This container masks /proc, so no new /proc can be mounted in it.",
      fix: "Start the container with --security-opt systempaths=unconfined, or let the container be the only wall.",
    };
  if (/No space left|namespaces exceeded|ENOSPC/.test(detail))
    return {
      reason:
        "No more user namespaces can be made here: this is inside a wall already, or user.max_user_namespaces is 0.",
      fix: "Raise the limit: sysctl user.max_user_namespaces=15000.",
    };
  if (/No permissions to create|Operation not permitted/.test(detail))
    return {
      reason: "This container allows no namespaces.",
      fix: "The container is then the only wall. Start it with --security-opt seccomp=unconfined to allow them.",
    };
  return { reason: `bubblewrap ${detail}.`, fix: "Run bwrap --ro-bind / / true to see why." };
}

/** Whether AppArmor lets only programs with a profile make user namespaces, as on recent Ubuntu. */
export async function isRestrictedByProfile(): Promise<boolean> {
  const text = await readIfThere("/proc/sys/kernel/apparmor_restrict_unprivileged_userns").catch(() => null);
  return text?.trim() === "1";
}
