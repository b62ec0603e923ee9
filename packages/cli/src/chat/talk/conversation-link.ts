import { ApiError, type ConnectionChange, type ConvokeClient } from "@convoke/client";
import type { ConversationInfo, PendingApproval } from "@convoke/protocol";
import { liveOptions, viewOf } from "@convoke/client/view";
import type { CallLinesOptions } from "../lines/call-lines.ts";
import { Transcript } from "./transcript.ts";

export type LinkDeps = {
  readonly client: ConvokeClient;
  readonly options: Omit<CallLinesOptions, "folder">;
  /** How many of the newest rows come out at the beginning. */
  readonly firstRows: number;
  /** Something may be drawn differently now. */
  readonly onChange: () => void;
  readonly onApprovals: (items: readonly PendingApproval[]) => void;
  /** The conversation cannot be followed any more. */
  readonly onEnd: (error: unknown) => void;
};

export type Connection = { readonly isLost: boolean; readonly retryAtMs: number | null };

/** Texts of large events are cut to this many characters; the pager fetches the whole. */
const trim = 16_384;

/** A conversation that is followed: what it has to show, whether it is connected, and which of its actions wait for an answer. */
export class ConversationLink implements Disposable {
  readonly id: string;
  readonly info: ConversationInfo;
  readonly transcript: Transcript;
  /** How many rows and events came before those that are shown; null when that is unknown. */
  readonly earlierCount: number;
  readonly #deps: LinkDeps;
  readonly #stop = new AbortController();
  #connection: Connection = { isLost: false, retryAtMs: null };
  #asked = "";

  private constructor(
    deps: LinkDeps,
    { info, transcript, earlierCount }: Pick<ConversationLink, "info" | "transcript" | "earlierCount">,
  ) {
    this.#deps = deps;
    this.id = info.id;
    this.info = info;
    this.transcript = transcript;
    this.earlierCount = earlierCount;
  }

  /** Reads the end of the conversation and follows it. Rejects with `ApiError` where there is none. */
  static async open(id: string, deps: LinkDeps): Promise<ConversationLink> {
    const { client } = deps;
    const [info, count] = await Promise.all([client.getConversation(id), client.countEvents(id)]);
    const tail = await client.tail(info.id, { limit: 100, trim });
    const view = viewOf(info);
    const transcript = new Transcript(view, { ...deps.options, folder: view.workingDir });
    const cut = tail.events.map((event) => ({
      ...event,
      ...(tail.trimmed.has(event.id ?? "") ? { is_cut: true } : {}),
    }));
    const hidden = transcript.begin(cut, deps.firstRows);
    const earlierCount = Math.max(0, count - tail.events.length) + hidden;
    const link = new ConversationLink(deps, { info, transcript, earlierCount });
    void link.#follow(tail.lastEventId);
    void link.refreshApprovals();
    return link;
  }

  get connection(): Connection {
    return this.#connection;
  }

  [Symbol.dispose](): void {
    this.#stop.abort();
  }

  /** Asks which actions wait, for questions that somebody else may have answered. */
  async refreshApprovals(): Promise<void> {
    const { client, onApprovals } = this.#deps;
    const params = { conversation_id: this.id };
    try {
      const { items } = await client.call("GET /api/conversations/{conversation_id}/approvals", {
        params,
        signal: this.#stop.signal,
      });
      if (!this.#stop.signal.aborted) onApprovals(items);
    } catch (error) {
      // The next change of what waits asks again; a lost connection is shown anyway.
      if (error instanceof ApiError) this.#deps.onEnd(error);
    }
    this.#deps.onChange();
  }

  async #follow(afterEventId: string | null): Promise<void> {
    const { client, onChange, onEnd } = this.#deps;
    const { signal } = this.#stop;
    try {
      const items = client.follow(this.id, {
        afterEventId,
        signal,
        ...liveOptions,
        trim,
        onConnection: (change) => this.#note(change),
      });
      for await (const item of items) {
        this.transcript.take(item);
        this.#askAgain();
        onChange();
      }
    } catch (error) {
      if (!signal.aborted) onEnd(error);
    }
  }

  /** The list of what waits is read again when it can have changed. */
  #askAgain(): void {
    const { status, openActions } = this.transcript.view;
    const waiting = openActions.filter(({ isAccepted }) => !isAccepted).map(({ id }) => id);
    const asked = status === "waiting_for_confirmation" ? waiting.join() || "?" : "";
    if (asked === this.#asked) return;
    this.#asked = asked;
    if (asked === "") this.#deps.onApprovals([]);
    else void this.refreshApprovals();
  }

  #note({ state, retryAtMs }: ConnectionChange): void {
    const isLost = state === "lost" || (state === "connecting" && this.#connection.isLost);
    this.#connection = { isLost, retryAtMs: state === "lost" ? retryAtMs : null };
    this.#deps.onChange();
  }
}
