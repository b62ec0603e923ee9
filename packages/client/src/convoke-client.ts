import type {
  ConfirmationPolicyInput,
  ConversationInfo,
  ConversationPage,
  ConversationResponse,
  Event,
  EventPage,
  EventSortOrder,
  SecretSourceInput,
  SecurityAnalyzerInput,
  SendMessageRequest,
  ServerInfo,
  StartConversationRequest,
  UpdateConversationRequest,
} from "@convoke/protocol";
import { followEvents, type FollowOptions, type FollowItem } from "./follow.ts";
import { callApi, type HttpOptions } from "./http.ts";

export type ClientOptions = HttpOptions & {
  /** Replaces the global WebSocket. */
  readonly WebSocket?: typeof WebSocket;
};

/** Filters of the event routes; times are RFC 3339. */
export type EventFilter = {
  readonly kind?: string;
  readonly source?: string;
  readonly body?: string;
  readonly timestamp__gte?: string;
  readonly timestamp__lt?: string;
};

export type EventSearch = EventFilter & {
  readonly page_id?: string;
  /** 1 to 100. */
  readonly limit?: number;
  readonly sort_order?: EventSortOrder;
};

/** The end of a log, for a screen that shows it first. */
export type EventTail = {
  /** In the order of the log. */
  readonly events: readonly Event[];
  /** `page_id` of what came before them, with the sort order `TIMESTAMP_DESC`; null when they are the whole log. */
  readonly olderPageId: string | null;
  /** `afterEventId` for what comes behind them; null for an empty log. */
  readonly lastEventId: string | null;
};

export type ConversationSearch = {
  readonly page_id?: string;
  readonly limit?: number;
  readonly status?: string;
  readonly sort_order?: "CREATED_AT" | "CREATED_AT_DESC" | "UPDATED_AT" | "UPDATED_AT_DESC";
};

/** A typed client of the agent-server face; runs in browsers and in Node. Methods reject with {@link ApiError} or {@link ConnectionError}. */
export class ConvokeClient {
  readonly #options: ClientOptions;

  constructor(options: ClientOptions) {
    this.#options = options;
  }

  serverInfo(): Promise<ServerInfo> {
    return this.#get("/server_info");
  }

  listTools(): Promise<string[]> {
    return this.#get("/api/tools/");
  }

  startConversation(request: StartConversationRequest): Promise<ConversationInfo> {
    return this.#post("/api/conversations", request);
  }

  getConversation(id: string): Promise<ConversationInfo> {
    return this.#get(conversationPath(id));
  }

  getConversations(ids: readonly string[]): Promise<(ConversationInfo | null)[]> {
    return callApi(this.#options, { method: "GET", path: "/api/conversations", query: { ids } });
  }

  searchConversations(query: ConversationSearch = {}): Promise<ConversationPage> {
    return callApi(this.#options, { method: "GET", path: "/api/conversations/search", query });
  }

  countConversations(status?: string): Promise<number> {
    return callApi(this.#options, { method: "GET", path: "/api/conversations/count", query: { status } });
  }

  async updateConversation(id: string, change: UpdateConversationRequest): Promise<void> {
    await callApi(this.#options, { method: "PATCH", path: conversationPath(id), body: change });
  }

  async deleteConversation(id: string): Promise<void> {
    await callApi(this.#options, { method: "DELETE", path: conversationPath(id) });
  }

  /** Give `client_message_id` and sending again after a lost reply is harmless. */
  async sendMessage(id: string, message: SendMessageRequest): Promise<void> {
    await this.#post(`${conversationPath(id)}/events`, message);
  }

  async run(id: string): Promise<void> {
    await this.#post(`${conversationPath(id)}/run`);
  }

  async pause(id: string): Promise<void> {
    await this.#post(`${conversationPath(id)}/pause`);
  }

  async interrupt(id: string): Promise<void> {
    await this.#post(`${conversationPath(id)}/interrupt`);
  }

  stop(id: string): Promise<ConversationResponse> {
    return this.#post(`${conversationPath(id)}/stop`);
  }

  async respondToConfirmation(id: string, accept: boolean, reason?: string): Promise<void> {
    await this.#post(`${conversationPath(id)}/events/respond_to_confirmation`, {
      accept,
      ...(reason === undefined ? {} : { reason }),
    });
  }

  async setConfirmationPolicy(id: string, policy: ConfirmationPolicyInput): Promise<void> {
    await this.#post(`${conversationPath(id)}/confirmation_policy`, { policy });
  }

  async setSecurityAnalyzer(id: string, analyzer: SecurityAnalyzerInput | null): Promise<void> {
    await this.#post(`${conversationPath(id)}/security_analyzer`, { security_analyzer: analyzer });
  }

  async updateSecrets(
    id: string,
    secrets: Readonly<Record<string, string | SecretSourceInput>>,
  ): Promise<void> {
    await this.#post(`${conversationPath(id)}/secrets`, { secrets });
  }

  searchEvents(id: string, query: EventSearch = {}): Promise<EventPage> {
    return callApi(this.#options, { method: "GET", path: `${conversationPath(id)}/events/search`, query });
  }

  /** The newest events, 1 to 100, by one request; the same work however long the log is (P37). */
  async tail(id: string, limit = 50): Promise<EventTail> {
    const page = await this.searchEvents(id, { limit, sort_order: "TIMESTAMP_DESC" });
    return {
      events: page.items.toReversed(),
      olderPageId: page.next_page_id ?? null,
      lastEventId: page.items[0]?.id ?? null,
    };
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

  countEvents(id: string, filter: EventFilter = {}): Promise<number> {
    return callApi(this.#options, {
      method: "GET",
      path: `${conversationPath(id)}/events/count`,
      query: filter,
    });
  }

  getEvent(id: string, eventId: string): Promise<Event> {
    return this.#get(`${conversationPath(id)}/events/${encodeURIComponent(eventId)}`);
  }

  getEvents(id: string, eventIds: readonly string[]): Promise<(Event | null)[]> {
    return callApi(this.#options, {
      method: "GET",
      path: `${conversationPath(id)}/events`,
      query: { ids: eventIds },
    });
  }

  /** Live events that survive lost connections: none missing, none twice, in order. Ends when the signal aborts. */
  follow(id: string, options: FollowOptions = {}): AsyncIterable<FollowItem> {
    return followEvents({ ...this.#options, conversationId: id }, options);
  }

  #get<Reply>(path: string): Promise<Reply> {
    return callApi(this.#options, { method: "GET", path });
  }

  #post<Reply>(path: string, body?: unknown): Promise<Reply> {
    return callApi(this.#options, { method: "POST", path, ...(body === undefined ? {} : { body }) });
  }
}

function conversationPath(id: string): string {
  return `/api/conversations/${encodeURIComponent(id)}`;
}
