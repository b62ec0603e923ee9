import type { EventBody } from "./event-draft.ts";
import { stateUpdate } from "./state-update.ts";

/** Something that was asked for and is done otherwise, without harm. */
export type Warning = { readonly code: string; readonly detail: string; readonly [more: string]: unknown };

/** A warning for clients and their people: no run ends of it, and no model reads it. */
export function warning(value: Warning): { readonly body: EventBody } {
  return stateUpdate("warning", value);
}
