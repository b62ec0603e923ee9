import type { TerminalInput } from "@convoke/protocol";
import { LiveMask, type TerminalUpdate } from "@convoke/tool-host";
import { createStreamMask } from "../../security/mask.ts";
import type { Conversation } from "../../engine/conversation.ts";
import { stateUpdate } from "../../events/state-update.ts";
import { secretValues } from "../../engine/secret-values.ts";

/** A person who watches a terminal and may take it over. */
export type Attachment = {
  /** Its name. */
  readonly terminal: string;
  readonly userId: string;
  readonly inputs: AsyncIterable<TerminalInput>;
  readonly signal: AbortSignal;
};

/** The conversation whose terminal it is. */
type Watched = Pick<Conversation, "configuration" | "session" | "writer">;

/** The person's view; the log records when they took the terminal and when they gave it back. */
export async function* attachPerson(
  conversation: Watched,
  { terminal, userId, inputs, signal }: Attachment,
): AsyncGenerator<TerminalUpdate> {
  const session = await conversation.session.open();
  let isTheirs = false;
  const note = (isNow: boolean): void => {
    if (isNow === isTheirs) return;
    isTheirs = isNow;
    const text = isNow
      ? `${userId} took the terminal ${terminal}. The agent's commands in it wait.`
      : `${userId} gave the terminal ${terminal} back to the agent.`;
    conversation.writer.notify(
      stateUpdate("terminal", { terminal, holder: isNow ? userId : null, user_id: userId, text }),
    );
  };
  try {
    for await (const update of masked(session.attach(terminal, inputs, signal), conversation)) {
      if ("isYours" in update) note(update.isYours);
      yield update;
    }
  } finally {
    note(false);
  }
}

/** The terminal hides the secrets that its commands were given; here go those that never come to its machine (P13). */
async function* masked(
  updates: AsyncIterable<TerminalUpdate>,
  conversation: Pick<Conversation, "configuration">,
): AsyncGenerator<TerminalUpdate> {
  const waiting: TerminalUpdate[] = [];
  let wake = (): void => {};
  let given: string | null = null;
  let known = conversation.configuration.secrets;
  const openMask = (): LiveMask =>
    new LiveMask(createStreamMask(secretValues(known)), (text) => {
      if (given === null) waiting.push({ type: "output", text });
      else given += text;
      wake();
    });
  let live = openMask();
  const take = (update: TerminalUpdate): void => {
    if (known !== conversation.configuration.secrets) {
      live.cut();
      known = conversation.configuration.secrets;
      live = openMask();
    }
    if (update.type === "output") return live.write(update.text);
    if (update.type === "screen") {
      live[Symbol.dispose]();
      live = openMask();
      given = "";
      live.write(update.text);
      waiting.push({ ...update, text: given });
      given = null;
    } else waiting.push(update);
    wake();
  };
  const source = updates[Symbol.asyncIterator]();
  let next: Promise<IteratorResult<TerminalUpdate>> | null = null;
  try {
    for (;;) {
      const update = waiting.shift();
      if (update !== undefined) {
        yield update;
        continue;
      }
      const woken = new Promise<void>((resolve) => (wake = resolve));
      next ??= source.next();
      const result = await Promise.race([next, woken]);
      if (result === undefined) continue;
      next = null;
      if (result.done === true) return;
      take(result.value);
    }
  } finally {
    live[Symbol.dispose]();
    // Both end when the signal aborts; no one is left to get an error.
    next?.catch(() => {});
    source.return?.().catch(() => {});
  }
}
