import type { LLM } from "@convoke/protocol";
import { beginningOf, titleUsageId, usualTitleLength, writeTitle } from "../agent/title.ts";
import { ended } from "../lib/ended.ts";
import type { Model } from "../models/model.ts";
import { stateUpdate } from "../events/state-update.ts";
import { conversationClosing, nothingToTitle } from "./refusals.ts";
import type { SharedParts } from "./shared-parts.ts";
import { describeError } from "../lib/describe-error.ts";

export type TitlingDeps = Pick<SharedParts, "id" | "log" | "logger" | "models" | "queue"> & {
  /** As it was loaded. */
  readonly title: string | null;
};

/** Writes the title of one conversation in the background: no turn waits for it or fails with it (P62). */
export class Titling {
  readonly #deps: TitlingDeps;
  readonly #stop = new AbortController();
  /** Whether a user has set the title; read and set inside the mailbox. */
  isNamed: boolean;
  #isAsked = false;
  #naming: Promise<void> = Promise.resolve();

  constructor(deps: TitlingDeps) {
    this.#deps = deps;
    this.isNamed = deps.title !== null;
  }

  /** Starts after the first message; only the first call has an effect. */
  begin(message: string): void {
    if (this.#isAsked || message.trim() === "") return;
    this.#isAsked = true;
    this.#naming = this.#name(message);
  }

  /** The provisional title, stored with the first message: its beginning, without secrets. */
  firstTitle(message: string): { readonly title?: string } {
    const title = this.isNamed ? "" : beginningOf(message);
    if (title === "") return {};
    return JSON.parse(this.#deps.log.mask(JSON.stringify({ title }), "document")) as { title: string };
  }

  /** Sets or removes the title. */
  async set(title: string | null): Promise<void> {
    const { log, queue } = this.#deps;
    await queue.post(async () => {
      await log.append([stateUpdate("title", title)], { patch: { title } });
      this.isNamed = title !== null;
    });
  }

  /** Generates a title for the current conversation. Its cost is recorded; the title is not stored. */
  async propose(length = usualTitleLength, other: LLM | null = null): Promise<string> {
    const message = await this.#deps.queue.post(() => this.#firstMessage());
    if (message === null) throw nothingToTitle(this.#deps.id);
    const written = await writeTitle(message, this.#openModel(other), this.#stop.signal, length);
    if (written === null) throw conversationClosing();
    return written.title;
  }

  /** Resolves when nothing is in progress any more. */
  async close(): Promise<void> {
    this.#stop.abort(ended);
    await this.#naming;
  }

  async #name(message: string): Promise<void> {
    const { id: conversation, logger, models } = this.#deps;
    try {
      const own = await models.findTitleModel();
      const written = await writeTitle(message, this.#openModel(own), this.#stop.signal);
      if (written === null) return;
      if (written.failure !== null)
        logger.warn({ conversation, error: written.failure }, "no model wrote a title");
      const { title } = written;
      await this.#deps.queue.post(async () => {
        // A user may have set a title meanwhile.
        if (!this.isNamed) await this.#deps.log.append([stateUpdate("title", title)], { patch: { title } });
      });
    } catch (error) {
      // A conversation may have no title.
      logger.warn({ conversation, error: describeError(error) }, "the conversation got no title");
    }
  }

  /** The agent's model, or another one with its own credentials. */
  #openModel(other: LLM | null): Model {
    return this.#deps.models.openHelper(titleUsageId, other);
  }

  async #firstMessage(): Promise<string | null> {
    const view = await this.#deps.log.wholeView();
    for (const { event } of view) {
      if (event.kind !== "MessageEvent" || event.source !== "user") continue;
      const text = textOfMessage(event.llm_message.content ?? []);
      if (text.trim() !== "") return text;
    }
    return null;
  }
}

/** The text parts of a message on separate lines. */
export function textOfMessage(content: readonly object[]): string {
  return content.flatMap((part) => ("text" in part ? [String(part.text)] : [])).join("\n");
}
