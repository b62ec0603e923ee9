import type { ToolHost, ToolListing } from "@convoke/tool-host";
import type { ConversationConfig } from "../engine/conversation-config.ts";
import type { SessionContext } from "../engine/session-context.ts";
import type { ToolBelt } from "../engine/tool-belt.ts";

/**
 * Tools of one kind for one conversation: they are listed, executed and recorded here. Every method is required; one that has nothing to
 * do says so by name (`alwaysReady`, `noAnnounce`, or all of them in `statelessSource`), so that none is forgotten.
 */
export interface ToolSource
  extends AsyncDisposable, Pick<ToolBelt, "ready" | "execute" | "state" | "announce" | "cancel"> {
  /** As the model is offered them now. The same array until the list changes. */
  tools(): readonly ToolListing[];
  /** Whether calls of this tool are for this source, also while it does not list the tool. */
  owns(tool: string): boolean;
}

/** Where a source is opened, and for whom. */
export type ToolPlace = {
  readonly conversationId: string;
  readonly ownerId: string;
  /** As it is when the tools are opened. */
  readonly config: ConversationConfig;
  readonly context: SessionContext;
  readonly toolHost: ToolHost;
  /** Absolute, on the machine of the tool host. */
  readonly workspaceDir: string;
  /** Absolute folder on this machine for what sources keep of the conversation; it need not be there yet. */
  readonly stateDir: string;
  /** The tool host is on this machine. */
  readonly isHere: boolean;
  /** Whether a source before this one lists a tool of this name. */
  readonly isTaken: (name: string) => boolean;
};

/** Opens a source for a conversation; null where the conversation does not want it. What it opened is closed with the tools. */
export type OpenToolSource = (place: ToolPlace) => ToolSource | null | Promise<ToolSource | null>;

/** Its tools are all there from the start. */
export const alwaysReady: ToolSource["ready"] = async () => {};

/** A call leaves nothing behind here: after a crash it is made again. */
const noRecord: ToolSource["state"] = async () => ({ type: "unknown" });

/** Nothing can be prepared before a call. */
export const noAnnounce: ToolSource["announce"] = () => {};

/** A call ends by its own signal, and by nothing else. */
const noCancel: ToolSource["cancel"] = async () => {};

/** It holds nothing open. */
const nothingToClose = async (): Promise<void> => {};

/** The rest of a source whose tools are all there from the start and whose calls leave nothing behind here. */
export const statelessSource: Omit<ToolSource, "tools" | "owns" | "execute"> = {
  ready: alwaysReady,
  state: noRecord,
  announce: noAnnounce,
  cancel: noCancel,
  [Symbol.asyncDispose]: nothingToClose,
};

/** Every method of a source, for a filter or a wrapper that replaces some: `{ ...forward(source), execute }`. */
export function forward(source: ToolSource): ToolSource {
  return {
    tools: () => source.tools(),
    owns: (tool) => source.owns(tool),
    ready: (...given) => source.ready(...given),
    execute: (...given) => source.execute(...given),
    state: (actionId) => source.state(actionId),
    announce: (actionId, tool) => source.announce(actionId, tool),
    cancel: (actionId) => source.cancel(actionId),
    [Symbol.asyncDispose]: () => source[Symbol.asyncDispose](),
  };
}

/** The tools of a source after a change, which is made once for each list that the source has. */
export function changeTools(
  source: ToolSource,
  change: (tools: readonly ToolListing[]) => readonly ToolListing[],
): ToolSource["tools"] {
  let last: { readonly given: readonly ToolListing[]; readonly made: readonly ToolListing[] } | null = null;
  return () => {
    const given = source.tools();
    if (last?.given !== given) last = { given, made: change(given) };
    return last.made;
  };
}
