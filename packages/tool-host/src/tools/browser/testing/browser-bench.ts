import { join } from "node:path";
import { Action, Observation, type BrowserObservation } from "@convoke/protocol";
import { createValidator } from "@convoke/protocol/validate";
import { randomUUID } from "node:crypto";
import type { Outcome, ToolHost, ToolSession } from "../../../host.ts";
import type { ToolSecret } from "../../../tool.ts";
import type { PageAddresses } from "./hard-pages.ts";

/** The answer of one action, in the forms that tests compare. */
export type BrowserAnswer = {
  readonly text: string;
  readonly isError: boolean;
  readonly observation: BrowserObservation;
};

export type StateElement = {
  readonly index: number;
  readonly tag: string;
  readonly text: string;
  readonly [fact: string]: unknown;
};

export type State = {
  readonly url: string;
  readonly title: string;
  readonly tabs: readonly { readonly tab_id: string; readonly url: string; readonly current?: boolean }[];
  readonly interactive_elements: readonly StateElement[];
  readonly elements_left_out?: number;
  readonly visible_text: string;
};

/** One conversation with a browser. */
export type Surfer = AsyncDisposable & {
  readonly workspaceDir: string;
  readonly stateDir: string;
  /** The path on this machine of a file of the conversation. */
  readonly outside: (path: string) => string;
  readonly session: ToolSession;
  /** `kind` is the part of the action kind between `Browser` and `Action`. */
  readonly run: (kind: string, fields?: object, secrets?: readonly ToolSecret[]) => Promise<BrowserAnswer>;
  readonly outcome: (kind: string, fields?: object, signal?: AbortSignal) => Promise<Outcome>;
  readonly open: (path: string) => Promise<BrowserAnswer>;
  readonly state: () => Promise<State>;
  /** The index of the element with this text, placeholder or label. */
  readonly indexOf: (text: string) => Promise<number>;
  readonly click: (text: string, fields?: object) => Promise<BrowserAnswer>;
  readonly type: (field: string, text: string, secrets?: readonly ToolSecret[]) => Promise<BrowserAnswer>;
  readonly content: (fields?: object) => Promise<string>;
};

/** A place for conversations with a browser: a tool host, and hard pages that its browser can reach. */
export type BrowserPlace = AsyncDisposable & {
  readonly host: ToolHost;
  readonly pages: PageAddresses;
  /** Contains workspaces and states; the path as the host knows it. */
  readonly directory: string;
  /** The path on this machine of a file that the host names. */
  readonly outside: (path: string) => string;
};

export type BrowserBench = {
  readonly pages: PageAddresses;
  readonly surf: (params?: Readonly<Record<string, unknown>>) => Promise<Surfer>;
};

const validator = createValidator();

/** Opens conversations that use the hard pages of a place. */
export function createBrowserBench({ host, pages, directory, outside }: BrowserPlace): BrowserBench {
  return {
    pages,
    surf: async (params = {}) => {
      const id = randomUUID();
      const workspaceDir = join(directory, id, "workspace");
      const stateDir = join(directory, id, "state");
      const session = await host.openSession({
        sessionId: id,
        workspaceDir,
        stateDir,
        tools: [{ name: "browser_tool_set", params }],
        canSee: true,
      });
      return createSurfer(session, pages, { workspaceDir, stateDir, outside });
    },
  };
}

function createSurfer(
  session: ToolSession,
  pages: PageAddresses,
  paths: Pick<Surfer, "workspaceDir" | "stateDir" | "outside">,
): Surfer {
  const outcome: Surfer["outcome"] = async (kind, fields = {}, signal) => {
    const action = toAction(kind, fields);
    const tool = session.tools.find(({ actionKind }) => actionKind === action.kind)!.name;
    const request = { actionId: randomUUID(), tool, action, secrets: [] };
    return await session.execute(request, signal === undefined ? {} : { signal });
  };
  const run: Surfer["run"] = async (kind, fields = {}, secrets = []) => {
    const action = toAction(kind, fields);
    const tool = session.tools.find(({ actionKind }) => actionKind === action.kind)!.name;
    const ended = await session.execute({ actionId: randomUUID(), tool, action, secrets });
    if (ended.type !== "observation") throw new Error(`${kind}: ${ended.text}`);
    const checked = validator.check(Observation, structuredClone(ended.observation));
    if (!checked.ok) throw new Error(`Not an observation: ${JSON.stringify(checked.errors)}`);
    const observation = ended.observation as BrowserObservation;
    const text = (observation.content ?? []).map((part) => ("text" in part ? part.text : "")).join("");
    return { text, isError: observation.is_error ?? false, observation };
  };
  const state = async (): Promise<State> => {
    const { text } = await run("GetState");
    return JSON.parse(text) as State;
  };
  const indexOf = async (wanted: string): Promise<number> => {
    const { interactive_elements: elements } = await state();
    const found =
      elements.find(({ text }) => text === wanted) ??
      elements.find((element) => element["placeholder"] === wanted);
    if (found === undefined) throw new Error(`No element "${wanted}" among ${JSON.stringify(elements)}`);
    return found.index;
  };
  return {
    ...paths,
    session,
    run,
    outcome,
    open: (path) => run("Navigate", { url: /^[a-z]+:/.test(path) ? path : `${pages.url}${path}` }),
    state,
    indexOf,
    click: async (text, fields = {}) => run("Click", { index: await indexOf(text), ...fields }),
    type: async (field, text, secrets = []) => run("Type", { index: await indexOf(field), text }, secrets),
    content: async (fields = {}) => (await run("GetContent", fields)).text,
    [Symbol.asyncDispose]: () => session[Symbol.asyncDispose](),
  };
}

function toAction(kind: string, fields: object): Action {
  const checked = validator.check<Action>(Action, { kind: `Browser${kind}Action`, ...fields });
  if (!checked.ok) throw new Error(`Not an action: ${JSON.stringify(checked.errors)}`);
  return checked.value;
}
