import type {
  ConfirmationPolicyInput,
  ConversationInfo,
  ConversationPage,
  ConversationResponse,
  Event,
  EventPage,
  Operation,
  OperationInput,
  OperationReply,
  SecretSourceInput,
  SecurityAnalyzerInput,
  SendMessageRequest,
  ServerInfo,
  StartConversationRequest,
  BrowserFrame,
  ShellFrame,
  TerminalFrame,
  UpdateConversationRequest,
} from "@convoke/protocol";
import type { BrowserOptions } from "./browser.ts";
import type { FollowItem, FollowOptions } from "./follow.ts";
import type { OverviewItem, OverviewOptions } from "./overview.ts";
import type { ShellOptions } from "./shell.ts";
import type { TerminalOptions } from "./terminal.ts";
import { callApi, openApi, type Call, type HttpOptions } from "./http.ts";
import { untrim, type Trimmed } from "./untrim.ts";

export type ClientOptions = HttpOptions & {
  /** Replaces the global WebSocket. */
  readonly WebSocket?: typeof WebSocket;
};

/** Input of an operation, a signal that aborts it, and a timeout that replaces the client's. */
export type CallInput<O extends Operation> = OperationInput<O> & {
  readonly signal?: AbortSignal;
  readonly timeoutMs?: number;
};
/** The input is optional for operations whose fields are all optional. */
type InputOf<O extends Operation> =
  Partial<OperationInput<O>> extends OperationInput<O> ? [input?: CallInput<O>] : [input: CallInput<O>];

/** A page can show a conversation before. */
const streams = () => import("./streams.ts");

const search = "GET /api/conversations/{conversation_id}/events/search";
/** Filters and order of a page of events; times are RFC 3339. */
export type EventSearch = NonNullable<OperationInput<typeof search>["query"]>;
export type EventFilter = Omit<EventSearch, "page_id" | "limit" | "sort_order">;
export type ConversationSearch = NonNullable<OperationInput<"GET /api/conversations/search">["query"]>;

/** One contiguous part of a log. */
export type EventWindow = {
  /** In the order of the log. */
  readonly events: readonly Event[];
  /** By event id, what was trimmed off. Only for events requested with `trim`. */
  readonly trimmed: ReadonlyMap<string, NonNullable<Trimmed>>;
  /** `page_id` of the events before these, with the sort order `TIMESTAMP_DESC`; null when there are none. */
  readonly olderPageId: string | null;
  /** `page_id` of the events after these, with the sort order `TIMESTAMP`; null when there are none yet. */
  readonly newerPageId: string | null;
  /** `afterEventId` for the events after these; null for an empty log. */
  readonly lastEventId: string | null;
};

/** A typed client of the server for browsers and Node. Methods reject with {@link ApiError} or {@link ConnectionError}. */
export class ConvokeClient {
  readonly #options: ClientOptions;

  constructor(options: ClientOptions) {
    this.#options = options;
  }

  /** Carries out any operation of the server by method and path: `call("GET /api/spend", { query: { days: 7 } })`. */
  call<O extends Operation>(operation: O, ...[input]: InputOf<O>): Promise<OperationReply<O>> {
    return callApi(this.#options, toCall(operation, input));
  }

  /** Like {@link call}, for a reply that is not JSON, such as a file. Rejects with {@link ApiError}. */
  open<O extends Operation>(operation: O, ...[input]: InputOf<O>): Promise<Response> {
    return openApi(this.#options, toCall(operation, input));
  }

  serverInfo(): Promise<ServerInfo> {
    return this.call("GET /server_info");
  }

  listTools(): Promise<string[]> {
    return this.call("GET /api/tools/");
  }

  startConversation(body: StartConversationRequest): Promise<ConversationInfo> {
    return this.call("POST /api/conversations", { body });
  }

  getConversation(id: string): Promise<ConversationInfo> {
    return this.call("GET /api/conversations/{conversation_id}", of(id));
  }

  getConversations(ids: readonly string[]): Promise<(ConversationInfo | null)[]> {
    return this.call("GET /api/conversations", { query: { ids: [...ids] } });
  }

  searchConversations(query: ConversationSearch = {}): Promise<ConversationPage> {
    return this.call("GET /api/conversations/search", { query });
  }

  countConversations(status?: NonNullable<ConversationSearch["status"]>): Promise<number> {
    return this.call("GET /api/conversations/count", { query: { status: status ?? null } });
  }

  async updateConversation(id: string, body: UpdateConversationRequest): Promise<void> {
    await this.call("PATCH /api/conversations/{conversation_id}", { ...of(id), body });
  }

  async deleteConversation(id: string): Promise<void> {
    await this.call("DELETE /api/conversations/{conversation_id}", of(id));
  }

  /**
   * With `client_message_id` a message is stored only once, so sending it again after a lost reply is harmless. Resolves with the
   * event id of the message, or of the one that was stored first; null from a server that does not return ids.
   */
  async sendMessage(id: string, body: SendMessageRequest): Promise<string | null> {
    const operation = "POST /api/conversations/{conversation_id}/events";
    const { headers } = await this.open(operation, { ...of(id), body });
    return headers.get("X-Convoke-Event-Id");
  }

  async run(id: string): Promise<void> {
    await this.call("POST /api/conversations/{conversation_id}/run", of(id));
  }

  async pause(id: string): Promise<void> {
    await this.call("POST /api/conversations/{conversation_id}/pause", of(id));
  }

  async interrupt(id: string): Promise<void> {
    await this.call("POST /api/conversations/{conversation_id}/interrupt", of(id));
  }

  stop(id: string): Promise<ConversationResponse> {
    return this.call("POST /api/conversations/{conversation_id}/stop", of(id));
  }

  async respondToConfirmation(id: string, accept: boolean, reason?: string): Promise<void> {
    const body = { accept, ...(reason === undefined ? {} : { reason }) };
    await this.call("POST /api/conversations/{conversation_id}/events/respond_to_confirmation", {
      ...of(id),
      body,
    });
  }

  /** Gives a planning agent the tools for the work, and lets it carry its plan out. `message` is added to the order. */
  async approvePlan(id: string, message?: string): Promise<void> {
    const body = message === undefined ? {} : { message };
    await this.call("POST /api/conversations/{conversation_id}/plan/approve", { ...of(id), body });
  }

  async setConfirmationPolicy(id: string, policy: ConfirmationPolicyInput): Promise<void> {
    await this.call("POST /api/conversations/{conversation_id}/confirmation_policy", {
      ...of(id),
      body: { policy },
    });
  }

  async setSecurityAnalyzer(id: string, analyzer: SecurityAnalyzerInput | null): Promise<void> {
    await this.call("POST /api/conversations/{conversation_id}/security_analyzer", {
      ...of(id),
      body: { security_analyzer: analyzer },
    });
  }

  async updateSecrets(
    id: string,
    secrets: Readonly<Record<string, string | SecretSourceInput>>,
  ): Promise<void> {
    // A plain string is accepted as well, beyond the schema; it is converted before the check.
    await callApi(this.#options, {
      method: "POST",
      path: "/api/conversations/{conversation_id}/secrets",
      ...of(id),
      body: { secrets },
    });
  }

  searchEvents(id: string, query: EventSearch = {}): Promise<EventPage> {
    return this.call(search, { ...of(id), query });
  }

  /** The newest events, 1 to 100, in one request. The cost does not depend on the length of the log (P37). */
  async tail(
    id: string,
    { limit = 50, trim }: { readonly limit?: number; readonly trim?: number } = {},
  ): Promise<EventWindow> {
    const page = await this.searchEvents(id, {
      limit,
      sort_order: "TIMESTAMP_DESC",
      ...(trim === undefined ? {} : { trim }),
    });
    return toWindow(page.items.toReversed(), page.next_page_id ?? null, null);
  }

  /** An event with up to `before` and `after` events around it (1 to 99 each), in two requests. */
  async around(
    id: string,
    eventId: string,
    {
      before = 50,
      after = 50,
      trim,
    }: { readonly before?: number; readonly after?: number; readonly trim?: number } = {},
  ): Promise<EventWindow> {
    const from = { page_id: eventId, ...(trim === undefined ? {} : { trim }) };
    const [older, newer] = await Promise.all([
      this.searchEvents(id, { ...from, limit: before + 1, sort_order: "TIMESTAMP_DESC" }),
      this.searchEvents(id, { ...from, limit: after + 1, sort_order: "TIMESTAMP" }),
    ]);
    const items = [...older.items.toReversed(), ...newer.items.slice(1)];
    return toWindow(items, older.next_page_id ?? null, newer.next_page_id ?? null);
  }

  /** Every matching event, page by page. */
  async *events(id: string, query: EventSearch = {}): AsyncIterable<Event> {
    for (let pageId: string | null | undefined = query.page_id; ;) {
      const page: EventPage = await this.searchEvents(id, {
        ...query,
        ...(pageId ? { page_id: pageId } : {}),
      });
      yield* page.items;
      pageId = page.next_page_id;
      if (!pageId) return;
    }
  }

  countEvents(id: string, query: EventFilter = {}): Promise<number> {
    return this.call("GET /api/conversations/{conversation_id}/events/count", { ...of(id), query });
  }

  getEvent(id: string, eventId: string): Promise<Event> {
    return this.call("GET /api/conversations/{conversation_id}/events/{event_id}", {
      params: { conversation_id: id, event_id: eventId },
    });
  }

  getEvents(id: string, eventIds: readonly string[]): Promise<(Event | null)[]> {
    return this.call("GET /api/conversations/{conversation_id}/events", {
      ...of(id),
      query: { ids: [...eventIds] },
    });
  }

  /**
   * Loads the code of the streams below, which the first of them does otherwise. Rejects when the file cannot be fetched: a page on
   * a bad line tries again.
   */
  async loadStreams(): Promise<void> {
    await streams();
  }

  /** Live events across lost connections: none missing, none twice, in order. Ends when the signal aborts. */
  async *follow(id: string, options: FollowOptions = {}): AsyncIterable<FollowItem> {
    yield* (await streams()).followEvents(this.#options, id, options);
  }

  /** All conversations of the caller, live: first the most recently changed ones, then each change. Ends when the signal aborts. */
  async *overview(options: OverviewOptions = {}): AsyncIterable<OverviewItem> {
    yield* (await streams()).followOverview(this.#options, options);
  }

  /** Attaches a person to their own shell in the workspace of a conversation. */
  async *attachShell(id: string, options: ShellOptions): AsyncIterable<ShellFrame> {
    yield* (await streams()).attachShell(this.#options, id, options);
  }

  /** Attaches a person to a terminal of the agent: yields its output, and sends `inputs` when given. */
  async *attachTerminal(id: string, options: TerminalOptions): AsyncIterable<TerminalFrame> {
    yield* (await streams()).attachTerminal(this.#options, id, options);
  }

  /** Attaches a person to the agent's browser: yields pictures of the front tab and who has control. With `inputs` the person takes over. */
  async *attachBrowser(id: string, options: BrowserOptions): AsyncIterable<BrowserFrame> {
    yield* (await streams()).attachBrowser(this.#options, id, options);
  }
}

function toWindow(
  items: readonly Event[],
  olderPageId: string | null,
  newerPageId: string | null,
): EventWindow {
  const found = items.map(untrim);
  const events = found.map(({ event }) => event);
  const trimmed = new Map(
    found.flatMap(({ event, trimmed: lacks }) => (lacks === null ? [] : [[event.id!, lacks] as const])),
  );
  return { events, trimmed, olderPageId, newerPageId, lastEventId: events.at(-1)?.id ?? null };
}

function of(id: string): { readonly params: { readonly conversation_id: string } } {
  return { params: { conversation_id: id } };
}

function toCall(operation: string, input: Partial<Call> = {}): Call {
  const [method, path] = operation.split(" ", 2) as [string, string];
  return { ...input, method, path };
}
