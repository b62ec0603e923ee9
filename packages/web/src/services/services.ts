import { createContext, use } from "react";
import type { ConvokeClient } from "@convoke/client";
import type { Drafts } from "../connection/drafts.ts";
import type { LoginState } from "../connection/login-state.ts";
import type { Outbox } from "../connection/outbox.ts";
import type { EarlyKeys } from "../lib/early-keys.ts";
import type { BrowserStorage } from "../lib/browser-storage.ts";
import type { OpenLogs } from "../log/open-logs.ts";
import type { ApprovalsStore } from "../overview/approvals-store.ts";
import type { OverviewStore } from "../overview/overview-store.ts";

/** The shared services of the page. Created once; the value never changes. */
export type Services = {
  readonly client: ConvokeClient;
  readonly login: LoginState;
  readonly logs: OpenLogs;
  readonly overview: OverviewStore;
  readonly approvals: ApprovalsStore;
  readonly outbox: Outbox;
  readonly drafts: Drafts;
  readonly storage: BrowserStorage;
  readonly earlyKeys: EarlyKeys;
  /** The language of the page, for numbers and dates. */
  readonly language: string;
};

export const ServicesContext = createContext<Services | null>(null);

export function useServices(): Services {
  const services = use(ServicesContext);
  if (services === null) throw new Error("useServices needs a ServicesContext");
  return services;
}
