import type { Rule, WallKind } from "@convoke/protocol";
import {
  asRecord,
  listAt,
  recordAt,
  summaryOf,
  textAt,
  textsAt,
  type UnknownRecord,
} from "@convoke/client/view";
import { Cell, type Store } from "../lib/store.ts";

/** An action that needs approval. */
export type Approval = {
  readonly conversationId: string;
  readonly actionId: string;
  readonly tool: string;
  readonly action: UnknownRecord;
  readonly summary: string;
  readonly risk: string;
  /** Findings of the security analyzer. */
  readonly reasons: readonly string[];
  readonly requestedAt: string;
  readonly deadline: string | null;
  readonly onTimeout: string | null;
  /** The narrowest rules that would allow it; empty if none can. */
  readonly proposedRules: readonly Rule[];
  /** What stands around the tools; a sandbox where nothing does on the server's machine. */
  readonly place: ApprovalPlace;
};

export type ApprovalPlace = WallKind | "sandbox";

/** The pending approvals of all conversations, fetched again whenever they may have changed. */
export class ApprovalsStore implements Store<readonly Approval[]> {
  readonly #list: () => Promise<unknown>;
  readonly #onFailure: (error: unknown) => void;
  readonly #cell = new Cell<readonly Approval[]>([]);
  #asking: Promise<void> | null = null;
  #isStale = false;

  constructor(deps: { readonly list: () => Promise<unknown>; readonly onFailure: (error: unknown) => void }) {
    this.#list = deps.list;
    this.#onFailure = deps.onFailure;
  }

  get snapshot(): () => readonly Approval[] {
    return this.#cell.snapshot;
  }

  get subscribe(): (onChange: () => void) => () => void {
    return this.#cell.subscribe;
  }

  /** Fetches the list again. A call during a fetch starts one more fetch after it. */
  refresh(): Promise<void> {
    if (this.#asking !== null) {
      this.#isStale = true;
      return this.#asking;
    }
    this.#asking = this.#ask().finally(() => {
      this.#asking = null;
      if (!this.#isStale) return;
      this.#isStale = false;
      void this.refresh();
    });
    return this.#asking;
  }

  async #ask(): Promise<void> {
    try {
      const items = listAt(asRecord(await this.#list()), "items").map(toApproval);
      const before = this.#cell.snapshot();
      const same = (item: Approval): Approval =>
        before.find(({ actionId }) => actionId === item.actionId) ?? item;
      const next = items.map(same);
      const isSame = next.length === before.length && next.every((item, index) => item === before[index]);
      if (!isSame) this.#cell.set(next);
    } catch (error) {
      this.#onFailure(error);
    }
  }
}

function toApproval(value: unknown): Approval {
  const fields = asRecord(value);
  const tool = textAt(fields, "tool_name");
  return {
    conversationId: textAt(fields, "conversation_id"),
    actionId: textAt(fields, "action_id"),
    tool,
    action: recordAt(fields, "action") ?? {},
    summary: summaryOf(textAt(fields, "summary"), tool),
    risk: textAt(fields, "security_risk") || "UNKNOWN",
    reasons: textsAt(fields, "reasons"),
    requestedAt: textAt(fields, "requested_at"),
    deadline: textAt(fields, "deadline") || null,
    onTimeout: textAt(fields, "on_timeout") || null,
    proposedRules: listAt(fields, "proposed_rules") as readonly Rule[],
    place: (textAt(fields, "wall") as WallKind | "") || "sandbox",
  };
}
