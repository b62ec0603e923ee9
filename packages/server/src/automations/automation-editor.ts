import type { ChangeAutomationRequest, CreateAutomationRequest } from "@convoke/protocol";
import type { Clock } from "../lib/clock.ts";
import { Fault, invalidField } from "../lib/fault.ts";
import { withoutUndefined } from "../lib/without-undefined.ts";
import type { Automation, AutomationPlan } from "./automation.ts";
import { type AutomationStore } from "./automation-store.ts";
import { previousSecretMs } from "./decision.ts";
import { checkPlan, checkTrigger } from "./check-plan.ts";
import { newHookSecret } from "./hook-secrets.ts";
import { createSchedule } from "./schedule.ts";

export type AutomationEditorDeps = {
  readonly store: AutomationStore;
  readonly clock: Clock;
  /** Called when a due time may have changed. */
  readonly onChange: () => void;
};

/** Of one user. */
const maxAutomations = 2_000;

const triggerLoc = ["body", "trigger"];

/** What owners do with their automations. Throws Faults that name the field. */
export class AutomationEditor {
  readonly #deps: AutomationEditorDeps;

  constructor(deps: AutomationEditorDeps) {
    this.#deps = deps;
  }

  async create(
    ownerId: string,
    request: CreateAutomationRequest,
  ): Promise<{ readonly automation: Automation; readonly generatedSecret: string | null }> {
    const { store, clock, onChange } = this.#deps;
    const nowMs = clock.nowMs();
    const { is_paused: isPaused = false, hook_secret: givenSecret = null } = request;
    const trigger = checkTrigger(request.trigger, nowMs, triggerLoc);
    const plan: AutomationPlan = {
      name: request.name,
      trigger,
      prompt: request.prompt,
      conversation: request.conversation ?? {},
      approvals: request.approvals ?? {},
      overlap: request.overlap ?? {},
      catchUp: request.catch_up ?? {},
    };
    checkPlan(plan);
    checkSecret(plan, givenSecret);
    if ((await store.count(ownerId)) >= maxAutomations)
      throw new Fault(
        "conflict",
        "too_many_automations",
        `You have ${maxAutomations} automations, which is the limit. Delete one first.`,
      );
    const generatedSecret = trigger.kind === "webhook" && givenSecret === null ? newHookSecret() : null;
    const nextDueMs = isPaused ? null : createSchedule(trigger).next(nowMs);
    const state = { isPaused, nextDueMs };
    const automation = await store.create(ownerId, plan, state, givenSecret ?? generatedSecret);
    onChange();
    return { automation, generatedSecret };
  }

  /** Null when the automation was changed at the same time. A trigger that is given counts from now on. */
  async change(automation: Automation, request: ChangeAutomationRequest): Promise<Automation | null> {
    const nowMs = this.#deps.clock.nowMs();
    const { trigger: given, catch_up: catchUp, hook_secret: hookSecret, ...fields } = request;
    const trigger = given === undefined ? undefined : checkTrigger(given, nowMs, triggerLoc);
    const change = withoutUndefined({ ...fields, catchUp, trigger });
    const plan = { ...automation, ...change };
    checkPlan(plan);
    if (trigger?.kind === "event" && trigger.automation_id === automation.id)
      throw invalidField(
        [...triggerLoc, "automation_id"],
        "An automation cannot react to its own conversations. Name another one.",
      );
    checkSecret(plan, hookSecret ?? null);
    if (plan.trigger.kind === "webhook" && !automation.hasHookSecret && hookSecret == null)
      throw invalidField(["body", "hook_secret"], "A webhook needs a secret of at least 16 characters.");
    const nextDueMs =
      trigger === undefined || automation.isPaused ? undefined : createSchedule(trigger).next(nowMs);
    // A secret that nobody uses any more is removed.
    const secret = plan.trigger.kind === "webhook" ? (hookSecret ?? undefined) : null;
    return await this.#store(automation, {
      ...change,
      ...withoutUndefined({ nextDueMs, hookSecret: secret }),
    });
  }

  /**
   * Makes a new secret for the sender of a webhook; null when the automation was changed at the same time. The one before stays valid for a
   * while.
   */
  async rotateSecret(
    automation: Automation,
  ): Promise<{ readonly secret: string; readonly previousUntilMs: number | null } | null> {
    if (automation.trigger.kind !== "webhook")
      throw new Fault("conflict", "no_webhook", "This automation has no webhook, so there is no secret.");
    const secret = newHookSecret();
    const untilMs = this.#deps.clock.nowMs() + previousSecretMs;
    const changed = await this.#store(automation, { hookSecret: secret });
    return changed === null ? null : { secret, previousUntilMs: automation.hasHookSecret ? untilMs : null };
  }

  async pause(automation: Automation): Promise<Automation | null> {
    if (automation.isPaused) return automation;
    return await this.#store(automation, { isPaused: true, nextDueMs: null });
  }

  /** Due times that passed while it was paused are not caught up with. */
  async resume(automation: Automation): Promise<Automation | null> {
    if (!automation.isPaused) return automation;
    const nextDueMs = createSchedule(automation.trigger).next(this.#deps.clock.nowMs());
    return await this.#store(automation, { isPaused: false, nextDueMs });
  }

  async #store(
    { id, version }: Automation,
    change: Parameters<AutomationStore["change"]>[2],
  ): Promise<Automation | null> {
    const changed = await this.#deps.store.change(id, version, change);
    this.#deps.onChange();
    return changed;
  }
}

function checkSecret({ trigger }: AutomationPlan, secret: string | null): void {
  if (secret !== null && trigger.kind !== "webhook")
    throw invalidField(
      ["body", "hook_secret"],
      "Only the trigger webhook has a secret. Leave this field out.",
    );
}
