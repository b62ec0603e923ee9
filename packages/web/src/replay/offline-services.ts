import { ConvokeClient } from "@convoke/client";
import { Drafts } from "../connection/drafts.ts";
import { LoginState } from "../connection/login-state.ts";
import { Outbox } from "../connection/outbox.ts";
import { EarlyKeys } from "../lib/early-keys.ts";
import { BrowserStorage } from "../lib/browser-storage.ts";
import type { LogSource } from "../log/open-log.ts";
import { OpenLogs } from "../log/open-logs.ts";
import { ApprovalsStore } from "../overview/approvals-store.ts";
import { OverviewStore } from "../overview/overview-store.ts";
import type { Services } from "../services/services.ts";

/** The shared services without a server: recorded logs, and a client that rejects every request. */
export function offlineServices(source: LogSource, language: string): Services {
  const storage = new BrowserStorage(memoryStorage());
  const onFailure = (error: unknown): void => console.warn(error);
  const nextFrame = (callback: () => void): void => void requestAnimationFrame(callback);
  return {
    client: new ConvokeClient({
      baseUrl: "http://replay.invalid",
      fetch: () => Promise.reject(new Error("A replay makes no requests.")),
    }),
    login: new LoginState(storage),
    storage,
    earlyKeys: new EarlyKeys(new EventTarget()),
    drafts: new Drafts(storage),
    outbox: new Outbox({ storage, send: () => Promise.resolve(null), later: () => () => {} }),
    logs: new OpenLogs({ source, nextFrame, now: Date.now, onFailure }),
    overview: new OverviewStore({
      follow: async function* () {},
      nextFrame,
      onFailure,
      onConnected: () => {},
    }),
    approvals: new ApprovalsStore({ list: () => Promise.resolve({ items: [] }), onFailure }),
    language,
  };
}

/** Pages from a disk share one storage: it is not used. */
function memoryStorage(): Pick<Storage, "getItem" | "setItem" | "removeItem"> {
  const stored = new Map<string, string>();
  return {
    getItem: (key) => stored.get(key) ?? null,
    setItem: (key, value) => void stored.set(key, value),
    removeItem: (key) => void stored.delete(key),
  };
}
