import { randomUUID } from "node:crypto";
import type { Automation as AutomationReply, automationRoutes, hookSecretRoutes } from "@convoke/protocol";
import type { Automation } from "../../../automations/automation.ts";
import { toReply, toRunReply } from "../../../automations/automation-replies.ts";
import { checkTrigger, hasPayload } from "../../../automations/check-plan.ts";
import { nextDueTimes } from "../../../automations/schedule.ts";
import type { Handlers, RequestOf } from "../../../http/mount.ts";
import { notStored } from "../../../http/route-reply.ts";
import { Fault, invalidField } from "../../../lib/fault.ts";
import { isoOf } from "../../../lib/instant.ts";
import { storedId } from "../../../lib/uuid7.ts";
import type { FaceDeps } from "../../face-deps.ts";

type Asked = RequestOf<(typeof automationRoutes)["getAutomation"]>;

const defaultPage = 100;

/** The handlers of `automationRoutes` and `hookSecretRoutes`. */
export function automationHandlers({ automations }: FaceDeps) {
  const { store, editor, triggers, clock } = automations;

  async function find({ caller, params: { automation_id: id } }: Asked): Promise<Automation> {
    const automation = await store.find(storedId(id));
    if (automation === null || automation.ownerId !== caller.userId) throw automationMissing(id);
    return automation;
  }

  async function change(
    request: Asked,
    edit: (automation: Automation) => Promise<Automation | null>,
  ): Promise<{ json: unknown }> {
    const automation = await find(request);
    const changed = await edit(automation);
    if (changed === null) throw automationChanged();
    return { json: await reply(changed) };
  }

  async function reply(automation: Automation): Promise<AutomationReply> {
    const runs = await store.lastRuns([automation.id]);
    return toReply(automation, runs.get(automation.id) ?? null);
  }

  return {
    createAutomation: async ({ caller, body }) => {
      const { automation, generatedSecret } = await editor.create(caller.userId, body);
      const json = { ...toReply(automation, null), hook_secret: generatedSecret };
      return { status: 201, headers: notStored, json };
    },

    listAutomations: async ({ caller, query }) => {
      const { page_id: beforeId = null, limit = defaultPage } = query;
      const found = await store.list(caller.userId, { beforeId, limit: limit + 1 });
      const runs = await store.lastRuns(found.map(({ id }) => id));
      return { json: toPage(found, limit, (item) => toReply(item, runs.get(item.id) ?? null)) };
    },

    previewTrigger: ({ body }) => {
      const { trigger, count = 10 } = body;
      const nowMs = clock.nowMs();
      const checked = checkTrigger(trigger, nowMs, ["body", "trigger"]);
      return { json: { due_times: nextDueTimes(checked, nowMs, count) } };
    },

    getAutomation: async (request) => ({ json: await reply(await find(request)) }),

    changeAutomation: (request) => change(request, (automation) => editor.change(automation, request.body)),

    rotateHookSecret: async (request) => {
      const automation = await find(request);
      const rotated = await editor.rotateSecret(automation);
      if (rotated === null) throw automationChanged();
      const { secret, previousUntilMs } = rotated;
      const previous_until = previousUntilMs === null ? null : isoOf(previousUntilMs);
      return { headers: notStored, json: { hook_secret: secret, previous_until } };
    },

    deleteAutomation: async (request) => {
      const automation = await find(request);
      await store.delete(automation.id);
      return { status: 204, text: "" };
    },

    pauseAutomation: (request) => change(request, (automation) => editor.pause(automation)),

    resumeAutomation: (request) => change(request, (automation) => editor.resume(automation)),

    runAutomation: async (request) => {
      const automation = await find(request);
      const { request_id: requestId = null, payload = null } = request.body ?? {};
      if (payload !== null && !hasPayload(automation.trigger))
        throw invalidField(
          ["body", "payload"],
          "Automations of schedules have no payload. Leave this field out.",
        );
      const key = requestId ?? randomUUID();
      const triggered = await triggers.trigger(automation.id, { origin: "manual", key, payload });
      if (triggered === null) throw automationMissing(automation.id);
      return { status: 201, json: toRunReply(triggered.run) };
    },

    listAutomationRuns: async (request) => {
      const { id } = await find(request);
      const { page_id: beforeId = null, limit = defaultPage, state = null } = request.query;
      const found = await store.runs(id, { beforeId, limit: limit + 1, state });
      return { json: toPage(found, limit, toRunReply) };
    },

    listDueTimes: async (request) => {
      const { trigger, nextDueMs } = await find(request);
      const { count = 10 } = request.query;
      const due_times = nextDueMs === null ? [] : nextDueTimes(trigger, nextDueMs - 1, count);
      return { json: { due_times } };
    },
  } satisfies Handlers<typeof automationRoutes & typeof hookSecretRoutes>;
}

/** `found` has one item more than the page if there is another page. */
function toPage<Item extends { readonly id: string }, Reply>(
  found: readonly Item[],
  limit: number,
  toItem: (item: Item) => Reply,
): { readonly items: readonly Reply[]; readonly next_page_id: string | null } {
  const items = found.slice(0, limit);
  return { items: items.map(toItem), next_page_id: found.length > limit ? items.at(-1)!.id : null };
}

function automationMissing(id: string): Fault {
  return new Fault("missing", "automation_not_found", `You have no automation ${id}.`);
}

function automationChanged(): Fault {
  return new Fault(
    "conflict",
    "automation_changed",
    "The automation was changed at the same time. Read it again, and repeat the change if it is still right.",
  );
}
