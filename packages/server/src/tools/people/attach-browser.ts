import type { BrowserInput } from "@convoke/protocol";
import type { BrowserUpdate } from "@convoke/tool-host";
import { createStreamMask } from "../../security/mask.ts";
import type { Conversation } from "../../engine/conversation.ts";
import { stateUpdate } from "../../events/state-update.ts";
import { secretValues } from "../../engine/secret-values.ts";

/** A person who watches the browser and may take it over. */
export type BrowserAttachment = {
  readonly userId: string;
  readonly inputs: AsyncIterable<BrowserInput>;
  /** Aborts when the person is gone; their inputs end then too. */
  readonly signal: AbortSignal;
  /** Tells the person what cannot be, between the updates. */
  readonly refuse: (reason: string) => void;
};

/** The conversation whose browser it is. */
type Watched = Pick<Conversation, "configuration" | "queue" | "session" | "state" | "writer">;

/** So long a tool host has to tell what a person who is gone had done. */
const lastWordsMs = 10_000;

/**
 * The view of a person who watches the browser and may take it over while the agent is idle; the log records when they took it,
 * when they gave it back, and what they did in between.
 */
export async function* attachBrowser(
  conversation: Watched,
  { userId, inputs, signal, refuse }: BrowserAttachment,
): AsyncGenerator<BrowserUpdate> {
  const session = await conversation.session.open();
  let inUse: Disposable | null = null;
  const note = (isNow: boolean, did: string): void => {
    if (isNow === (inUse !== null)) return;
    inUse?.[Symbol.dispose]();
    inUse = isNow ? conversation.queue.use() : null;
    const done = did === "" ? "" : ` Before, they ${did}.`;
    const text = isNow
      ? `${userId} took over the browser. The agent's calls of it wait.`
      : `${userId} gave the browser back to the agent.${done}`;
    conversation.writer.notify(
      stateUpdate("browser", { holder: isNow ? userId : null, user_id: userId, text }),
    );
  };
  const hide = (text: string): string => {
    const mask = createStreamMask(secretValues(conversation.configuration.secrets));
    return mask.push(text) + mask.flush();
  };
  // A tool that is still at its last step after a pause does not matter; one of the browser itself refuses.
  const isWorking = (): boolean => conversation.state.status === "running";
  const takings = refuseWhile(isWorking, inputs, refuse);
  try {
    using lasting = outlast(signal);
    for await (const update of session.attachBrowser(takings, lasting.signal)) {
      if (update.type === "lent") note(update.isYours, hide(update.did ?? ""));
      yield masked(update, hide);
    }
  } finally {
    note(false, "");
  }
}

async function* refuseWhile(
  isWorking: () => boolean,
  inputs: AsyncIterable<BrowserInput>,
  refuse: (reason: string) => void,
): AsyncGenerator<BrowserInput> {
  for await (const input of inputs) {
    if (input.type !== "take" || !isWorking()) yield input;
    else refuse("The agent is at work. Pause it, then take the browser over.");
  }
}

/** The browser hides the secrets that its calls were given; here go those that never come to its machine (P13). */
function masked(update: BrowserUpdate, hide: (text: string) => string): BrowserUpdate {
  if (update.type !== "state") return update;
  const tabs = update.tabs.map((tab) => ({ ...tab, url: hide(tab.url), title: hide(tab.title) }));
  return { ...update, tabs };
}

/** Aborts a while after the given one. */
function outlast(signal: AbortSignal): Disposable & { readonly signal: AbortSignal } {
  const over = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const onAbort = (): void => {
    timer = setTimeout(() => over.abort(), lastWordsMs);
    timer.unref();
  };
  if (signal.aborted) onAbort();
  else signal.addEventListener("abort", onAbort, { once: true });
  return {
    signal: over.signal,
    [Symbol.dispose]: () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
    },
  };
}
