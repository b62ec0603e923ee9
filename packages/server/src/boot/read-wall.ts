import type { NetworkPolicy } from "@convoke/protocol";
import type { ConversationConfig } from "../engine/conversation-config.ts";
import { Fault, invalidField } from "../lib/fault.ts";
import { selfStarting } from "../walls/self-starting.ts";

type Wall = ConversationConfig["wall"];

/** What a configuration says about its wall, and `network` of the server where it says nothing. */
export function readWall(wall: Wall = {}, network: NetworkPolicy) {
  return {
    isOff: wall.kind === "off",
    /** Null: the server's. */
    kind: wall.kind === "off" ? null : (wall.kind ?? null),
    network: wall.network ?? network,
    hide: wall.hide ?? [],
    granted: wall.granted ?? [],
    unlocked: wall.unlocked ?? [],
    extra: wall.extra_folders ?? [],
  };
}

/** True for a configuration that a server without walls cannot obey. */
export function needsWall(wall: Wall = {}): boolean {
  const lists = [wall.hide, wall.unlocked, wall.extra_folders];
  return (
    (wall.kind !== undefined && wall.kind !== "off") ||
    wall.network !== undefined ||
    lists.some((list) => (list ?? []).length > 0)
  );
}

export function noWallAround(id: string): Fault {
  return new Fault(
    "conflict",
    "no_wall",
    `Conversation ${id} has no wall on this machine, so nobody watches what its agent leaves in its folder.`,
  );
}

export function wallsAreOff(): Fault {
  return invalidField(
    ["body", "wall"],
    "This server has no walls (CONVOKE_WALL=off). Leave the field out, or start the server with one.",
  );
}

export function wallRefused(how: string): Fault {
  return new Fault("refused", "machine_refused", `Your key may not use the server's machine ${how}`);
}

/** `why` completes "... because". */
export function belowLeastWall(why: string): Fault {
  return new Fault(
    "refused",
    "policy_refused",
    `Your policy asks for a wall around agents on this machine, and ${why}. Work in a sandbox, in another folder, or ask an admin (convoke keys set-policy).`,
  );
}

export function checkUnlocked(names: readonly string[]): readonly string[] {
  const known: readonly string[] = selfStarting;
  const index = names.findIndex((name) => !known.includes(name));
  if (index === -1) return names;
  const message = `${names[index]} is not kept read-only by name. These are: ${known.join(", ")}.`;
  throw invalidField(["body", "wall", "unlocked", index], message);
}
