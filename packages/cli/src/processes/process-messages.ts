import type { GroupMessage, Server } from "@convoke/server";

/** What a process behind the shared port is given by the one that started it. */
export type Share = {
  /** From 1 on. */
  readonly number: number;
  readonly count: number;
  /** `http://host:port` that clients use. */
  readonly url: string;
};

/** What a start reports about a running server. */
export type ServerFacts = Pick<Server, "url" | "sessionKey" | "sandboxes" | "walls">;

export type ToParent =
  | { readonly type: "ready"; readonly facts: ServerFacts }
  /** A connection is this process's now, or is to be given to another one. */
  | { readonly type: "taken" }
  | { readonly type: "refused" }
  | NewsMessage;

export type ToProcess = { readonly type: "stop" } | { readonly type: "connection" } | NewsMessage;

type NewsMessage = { readonly type: "news"; readonly news: GroupMessage };

const variable = "CONVOKE_PROCESS_SHARE";

export function toEnvironment(share: Share): Readonly<Record<string, string>> {
  return { [variable]: JSON.stringify(share) };
}

/** Null in a process that nobody started as one of several. Forgets it, so that nothing that is started from here believes it too. */
export function takeShare(environment: NodeJS.ProcessEnv): Share | null {
  const { [variable]: text } = environment;
  delete environment[variable];
  return text === undefined ? null : (JSON.parse(text) as Share);
}
