import { onceUnlessRejected } from "@convoke/protocol/once-unless-rejected";
import { ConvokeClient, type FollowOptions, type OverviewOptions } from "@convoke/client";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { Router } from "wouter";
import { App } from "./app/app.tsx";
import { followNotificationClicks } from "./app/notification-clicks.ts";
import { ColourContext } from "./colours/colour-context.ts";
import type { FindTokenRanges } from "./colours/token-types.ts";
import { fetchWithLogin, socketWithProof } from "./connection/with-login.ts";
import { Drafts } from "./connection/drafts.ts";
import { LoginState } from "./connection/login-state.ts";
import { Outbox } from "./connection/outbox.ts";
import { EarlyKeys } from "./lib/early-keys.ts";
import { firstConversation } from "./lib/first-conversation.ts";
import { BrowserStorage } from "./lib/browser-storage.ts";
import { loadWithRetry } from "./lib/lazy-part.ts";
import { pagePrefix, serverAddress } from "./lib/server-address.ts";
import { toLogPage, trimAt, type LogPage } from "./log/log-page.ts";
import { OpenLogs } from "./log/open-logs.ts";
import { ApprovalsStore } from "./overview/approvals-store.ts";
import { OverviewStore } from "./overview/overview-store.ts";
import { ServicesContext, type Services } from "./services/services.ts";
import { ErrorBoundary } from "./ui/error-boundary.tsx";
import { laterWords, readWords } from "./words/read-words.ts";
import { MoreWordsContext, WordsContext } from "./words/words.ts";

/** Events per page: of the first page, and of each older one. */
const pageSize = 100;

type StartupServices = Pick<Services, "client" | "login" | "storage" | "earlyKeys">;

function createServices(startup: StartupServices): Services {
  const { client, storage } = startup;
  const onFailure = (error: unknown): void => console.warn(error);
  const streams = loadWithRetry(() => client.loadStreams());
  const follow = async function* <Item>(open: () => AsyncIterable<Item>): AsyncIterable<Item> {
    await streams;
    yield* open();
  };
  const pageOf = async (isDown: boolean, id: string, pageId: string): Promise<LogPage> =>
    toLogPage(
      await client.searchEvents(id, {
        limit: pageSize,
        sort_order: isDown ? "TIMESTAMP_DESC" : "TIMESTAMP",
        trim: trimAt,
        ...(pageId === "" ? {} : { page_id: pageId }),
      }),
      isDown,
    );
  const outbox = new Outbox({
    storage,
    send: async ({ id, conversationId, text, images, whileRunning = null }) => {
      const content = [
        ...(text === "" ? [] : [{ type: "text" as const, text }]),
        ...(images.length === 0 ? [] : [{ type: "image" as const, image_urls: [...images] }]),
      ];
      return await client.sendMessage(conversationId, {
        role: "user",
        content,
        run: true,
        client_message_id: id,
        while_running: whileRunning,
      });
    },
    later: (ms, callback) => {
      const timer = setTimeout(callback, ms);
      return () => clearTimeout(timer);
    },
  });
  return {
    ...startup,
    // The region of the language decides how dates look; the texts are the same.
    language:
      navigator.languages.find((name) => name.startsWith(document.documentElement.lang)) ??
      document.documentElement.lang,
    drafts: new Drafts(storage),
    logs: new OpenLogs({
      source: {
        conversation: async (id) => await client.getConversation(id),
        older: (id, pageId) => pageOf(true, id, pageId),
        newer: (id, pageId) => pageOf(false, id, pageId),
        follow: (id: string, options: FollowOptions) => follow(() => client.follow(id, options)),
      },
      nextFrame,
      now: Date.now,
      onFailure,
    }),
    overview: new OverviewStore({
      follow: (options: OverviewOptions) => follow(() => client.overview(options)),
      nextFrame,
      onFailure,
      onConnected: () => void outbox.flush(),
    }),
    approvals: new ApprovalsStore({ list: () => client.call("GET /api/approvals"), onFailure }),
    outbox,
  };
}

/** Loads the syntax highlighter with the first code block. */
function laterColours(): FindTokenRanges {
  const opened = onceUnlessRejected(async () => {
    const { openHighlighter } = await loadWithRetry(() => import("./colours/open-highlighter.ts"));
    return openHighlighter();
  });
  return async (text, language) => (await opened()).ask(text, language);
}

/** Hidden pages paint no frames: events are folded at once instead. */
function nextFrame(callback: () => void): void {
  if (document.hidden) setTimeout(callback, 250);
  else requestAnimationFrame(callback);
}

async function open(): Promise<void> {
  const earlyKeys = new EarlyKeys(window);
  const prefix = pagePrefix(document.baseURI);
  followNotificationClicks(navigator.serviceWorker, prefix);
  const storage = new BrowserStorage(localStorage);
  const login = new LoginState(storage);
  let client = new ConvokeClient({
    baseUrl: serverAddress(document.baseURI),
    fetch: fetchWithLogin(login),
    WebSocket: socketWithProof(login),
  });
  let page = <App />;
  if (location.hash)
    ({ client, page } = await (await import("./shared/open-link.tsx")).openLink(client, login));
  const services = createServices({ client, login, storage, earlyKeys });
  const first = firstConversation(location, prefix);
  // What the parts that load later have in common: fetched beside the first of them.
  void loadWithRetry(() => import("./ui/menu.tsx"));
  // Fetched before the first render, and before the chunks that load after it.
  if (first !== null) services.logs.get(first).prepare();
  const words = await readWords(document.documentElement.lang);
  createRoot(document.querySelector("#root")!).render(
    <StrictMode>
      <WordsContext value={words}>
        <MoreWordsContext value={laterWords(document.documentElement.lang, loadWithRetry)}>
          <ServicesContext value={services}>
            <ColourContext value={laterColours()}>
              <Router base={prefix}>
                <ErrorBoundary versions={[]}>{page}</ErrorBoundary>
              </Router>
            </ColourContext>
          </ServicesContext>
        </MoreWordsContext>
      </WordsContext>
    </StrictMode>,
  );
}

// Not awaited: chunks that load later may import this module, and would wait for it.
void open();
