import { posix } from "node:path";
import type { Action } from "@convoke/protocol";
import type { ToolListing } from "./host.ts";
import { pathsIn } from "./tools/apply-patch/parse-patch.ts";

/** All places that a call occupies exclusively; a patch has one for each of its files. */
export function placesOf(listing: ToolListing, action: Action | null): string[] {
  const { patch } = listing.traits ?? {};
  const text = patch === undefined ? undefined : action?.[patch.field as keyof Action];
  if (patch !== undefined && typeof text === "string")
    return [...new Set(pathsIn(text).map((path) => `file:${posix.resolve(patch.base, path)}`))];
  const place = placeOf(listing, action);
  return place === null ? [] : [place];
}

/**
 * The place that a call occupies exclusively, as `<type>:<name>`: two calls with the same place never run at the same time. Null for
 * a call that only reads and is bound to no place.
 */
export function placeOf(listing: ToolListing, action: Action | null): string | null {
  const { file, place, placeField } = listing.traits ?? {};
  if (place !== undefined) {
    const part = placeField === undefined ? undefined : argumentsOf(action)[placeField];
    return typeof part === "string" ? `${place}:${part}` : place;
  }
  const path = file === undefined ? undefined : action?.[file.field as keyof Action];
  if (file !== undefined && typeof path === "string") return `file:${posix.resolve(file.base, path)}`;
  return listing.isReadOnly ? null : `tool:${listing.name}`;
}

function argumentsOf(action: Action | null): Readonly<Record<string, unknown>> {
  return action?.kind === "MCPToolAction" ? (action.data ?? {}) : (action ?? {});
}
