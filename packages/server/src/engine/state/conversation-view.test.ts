import { emptyView, foldEvents, foldItem, spendOf, waitingActions, type OpenAction } from "@convoke/client";
import fc from "fast-check";
import { expect, test } from "vitest";
import { parseStored } from "../../events/parse-stored.ts";
import { World, type WorldOptions } from "../../testing/interleaving/world.ts";
import { awaiting } from "../commands/approvals.ts";
import { initialState, type ConversationState } from "./conversation-state.ts";
import { combinedMetrics } from "./conversation-info.ts";
import { applyEvent } from "./fold.ts";
import { liveStatusFrame } from "./live-status.ts";

const frameOf = (state: ConversationState): Record<string, unknown> =>
  JSON.parse(liveStatusFrame(state, 0)) as Record<string, unknown>;
const isAwaiting =
  (state: ConversationState) =>
  ({ id }: OpenAction): boolean =>
    awaiting(state).some((action) => action.id === id);

type Policy = WorldOptions["policy"];

async function walk(policy: Policy, choices: readonly number[]): Promise<World> {
  const world = await World.open({ policy });
  for (const choice of choices) {
    const { endings, inputs } = world;
    const steps = endings.length > 0 && (choice % 5 < 3 || inputs.length === 0) ? endings : inputs;
    await world.take(steps[Math.floor(choice / 5) % steps.length]!);
  }
  return world;
}

test.for(["NeverConfirm", "AlwaysConfirm"] as const satisfies readonly Policy[])(
  "P36: after each event the client's view says what the server's own state says (%s)",
  async (policy) => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat({ max: 999 }), { maxLength: 60, size: "max" }), async (choices) => {
        const world = await walk(policy, choices);
        const state = initialState();
        let view = emptyView;
        for (const stored of world.events) {
          const folded = parseStored("c", stored);
          applyEvent(state, folded);
          view = foldEvents(view, [folded.event]);
          const isWaiting = state.status === "waiting_for_confirmation";
          const users = state.queued.filter(({ isFromUser }) => isFromUser).map(({ id }) => id);
          expect({
            status: view.status,
            lastEventId: view.lastEventId,
            open: view.openActions.map(({ id }) => id),
            waiting: waitingActions(view).map(({ id }) => id),
            stats: view.stats,
            cost: spendOf(view).cost,
          }).toEqual({
            status: state.status,
            lastEventId: state.lastId,
            open: state.openActions.map(({ id }) => id),
            waiting: isWaiting ? awaiting(state).map(({ id }) => id) : [],
            stats: state.stats,
            cost: combinedMetrics(state)?.accumulated_cost ?? 0,
          });
          const liveStatus = { type: "signal" as const, frame: frameOf(state) };
          const exact = foldItem(view, liveStatus);
          expect(exact.queued).toEqual(users);
          expect(waitingActions(exact)).toEqual(isWaiting ? exact.openActions.filter(isAwaiting(state)) : []);
          // What came while the model answered is not in the events; the view never names one that was read.
          expect(users).toEqual(expect.arrayContaining([...view.queued]));
        }
        // Told first how it stands, and then what led to it, as on a new connection.
        const exact = foldItem(emptyView, { type: "signal", frame: frameOf(state) });
        const events = world.events.map((stored) => parseStored("c", stored).event);
        const { queued, openActions, status } = foldEvents(exact, events);
        expect({ queued, openActions, status }).toEqual({
          queued: exact.queued,
          openActions: exact.openActions,
          status: state.status,
        });
      }),
      { numRuns: 200 },
    );
  },
);
