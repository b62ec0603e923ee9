import { expect, test } from "vitest";
import { concludeInspection } from "./inspection-conclusions.ts";
import type { InspectedAction } from "./inspection-actions.ts";
import type { Inspection } from "./inspection.ts";

type Found = Parameters<typeof concludeInspection>[0];
type State = NonNullable<Inspection["state"]>;

const action = {
  action_id: "a",
  seq: 3,
  tool_call_id: "call_1",
  tool_name: "terminal",
  is_waiting: false,
  execution: "started",
  started_at: "2026-11-26T10:00:00Z",
  ended_at: null,
} satisfies InspectedAction;

function conclude({
  status = "running",
  isActive = status === "running",
  node = true,
  ...more
}: {
  readonly status?: State["execution_status"];
  readonly isActive?: boolean;
  /** Null: nobody holds it. Whether its node is alive. */
  readonly node?: boolean | null;
  readonly actions?: readonly InspectedAction[];
  readonly parts?: Found["parts"];
  readonly isCopying?: boolean;
  readonly damages?: readonly string[];
  readonly state?: Partial<State> | null;
} = {}): string[] {
  const state = {
    execution_status: status,
    run: null,
    approvals: { waiting: [], deadline: null },
    queued: [],
    budget: { spent: 0, limit: null },
    ...more.state,
  };
  const found = {
    row: { is_active: isActive, is_copying: more.isCopying === true },
    lease: { node: node === null ? null : { is_alive: node } },
    state: more.state === null ? null : state,
    open_actions: more.actions ?? [],
    parts: more.parts ?? [],
    store: { damages: more.damages ?? [] },
  };
  return concludeInspection(found as unknown as Found);
}

test("a run at a living server: its conclusion names what it waits for", () => {
  expect(conclude()).toEqual([
    "A server works on it, and no call is open: it waits for the model, for a hook, or for its turn.",
  ]);
  expect(conclude({ actions: [action] })).toEqual([
    "The call call_1 of terminal runs since 2026-11-26T10:00:00Z.",
  ]);
  expect(conclude({ actions: [{ ...action, execution: "ended" }] })).toEqual([
    "The call call_1 of terminal has ended, and its result is not in the log yet.",
  ]);
  expect(conclude({ parts: [{ id: "b", execution_status: "running" }] })).toEqual([
    "A server works on it, and 1 conversation of sub-agents has not finished: inspect it too.",
  ]);
  const run = { retry_until: "2026-11-26T10:00:09Z" } as NonNullable<State["run"]>;
  expect(conclude({ state: { run } })).toEqual([
    "A model call failed; the next try is at 2026-11-26T10:00:09Z.",
  ]);
});

test("a run without an owner: its conclusions say which server resumes it, and the outcome of each call", () => {
  const left = ["started", "ended", "announced", "none", "unknown"] as const;
  const actions = left.map((execution) => ({ ...action, execution }));
  expect(conclude({ node: null })).toEqual([expect.stringMatching(/^It is active and no server owns it/)]);
  for (const node of [false, null])
    expect(conclude({ node, actions }).slice(1)).toEqual([
      expect.stringMatching(/had begun at 2026-\S+, and nobody knows its outcome\. It is not run again/),
      expect.stringMatching(/has ended, and its result is not in the log: the next server puts it there/),
      expect.stringMatching(/has not begun\.$/),
      expect.stringMatching(/has no record/),
      expect.stringMatching(/in a record that cannot be read here/),
    ]);
});

test("a conversation at rest: a person, a message, a budget, or nothing", () => {
  expect(conclude({ status: "finished" })).toEqual(["No run is in progress; its status is finished."]);
  const approvals = { waiting: ["a", "b"], deadline: null };
  const waiting = [{ ...action, is_waiting: true, execution: "none" as const }];
  expect(
    conclude({ status: "waiting_for_confirmation", node: null, state: { approvals }, actions: waiting }),
  ).toEqual(["It waits for a person to accept or reject 2 calls."]);
  const queued = [{ event_id: "e", seq: 5, is_from_user: true, wants_run: false }];
  expect(conclude({ status: "paused", state: { queued, budget: { spent: 2, limit: 1.5 } } })).toEqual([
    "Its budget is spent: 2.0000 of 1.5 US dollars.",
    "The model has not read 1 message: a run has to be started.",
    "No run is in progress; its status is paused.",
  ]);
});

test("damage comes first, and a fork that is being made is named", () => {
  expect(conclude({ state: null, damages: ["x"] })).toEqual([
    expect.stringMatching(/^1 damage was found/),
    expect.stringMatching(/^The log cannot be folded/),
  ]);
  expect(conclude({ isCopying: true, status: "idle" })[0]).toMatch(/^It is a fork/);
});
