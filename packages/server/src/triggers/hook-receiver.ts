import type { HookReply, WebhookTrigger } from "@convoke/protocol";
import type { AutomationStore } from "../automations/automation-store.ts";
import type { TriggerPort } from "../automations/trigger-port.ts";
import type { Clock } from "../lib/clock.ts";
import { boundedPayload } from "./bounded-payload.ts";
import type { DeliveryStore } from "./delivery-store.ts";
import { refusedBy } from "./hook-filter.ts";
import { readDelivery, type HookDelivery, type HookForm, type HookRequest } from "./hook-form.ts";

export type HookReceiverDeps = {
  readonly store: Pick<AutomationStore, "find" | "hookSecrets">;
  readonly deliveries: Pick<DeliveryStore, "claim" | "settle">;
  readonly port: TriggerPort;
  readonly clock: Clock;
};

/** A delivery whose sender knows the secret of the automation. */
export type VerifiedDelivery = {
  readonly automationId: string;
  readonly trigger: WebhookTrigger;
  readonly delivery: HookDelivery;
};

/** Takes deliveries of webhooks: each starts one run of its automation, however often it comes and on whichever node. */
export class HookReceiver {
  readonly #deps: HookReceiverDeps;

  constructor(deps: HookReceiverDeps) {
    this.#deps = deps;
  }

  /** Null for a wrong signature, and where no automation waits for a webhook. */
  async verify(automationId: string, request: HookRequest): Promise<VerifiedDelivery | null> {
    const { store, clock } = this.#deps;
    const automation = await store.find(automationId);
    if (automation?.trigger.kind !== "webhook") return null;
    const { trigger } = automation;
    const secrets = await store.hookSecrets(automationId);
    const delivery = readDelivery(formOf(trigger), request, secrets, clock.nowMs());
    return delivery === null ? null : { automationId, trigger, delivery };
  }

  /** Resolves when the run is durable. Null when the automation has gone meanwhile. */
  async receive(verified: VerifiedDelivery, body: unknown): Promise<HookReply | null> {
    const { deliveries, port } = this.#deps;
    const { automationId, trigger, delivery } = verified;
    const { event, keys } = delivery;
    const refusal = trigger.form === "github" && event === "ping" ? ping : refusedBy(trigger, event, body);
    if (refusal !== null) return { run_id: null, is_repeated: false, detail: refusal };
    const { occurrence, runId } = await deliveries.claim(automationId, keys);
    if (runId !== null) return repeated(runId);
    const payload = boundedPayload(body, event);
    const triggered = await port.trigger(automationId, { origin: "webhook", key: occurrence, payload });
    if (triggered === null) return null;
    const { run, isRepeated } = triggered;
    await deliveries.settle(automationId, occurrence, run.id);
    return isRepeated ? repeated(run.id) : { run_id: run.id, is_repeated: false, detail: run.reason };
  }
}

/** GitHub sends it when a webhook is added. */
const ping = "The webhook works. A ping starts nothing.";

function repeated(runId: string): HookReply {
  return { run_id: runId, is_repeated: true, detail: "This delivery came before." };
}

function formOf(trigger: WebhookTrigger): HookForm {
  if (trigger.form !== "hmac") return { kind: trigger.form };
  const header = (name: string | null | undefined): string | null => name?.toLowerCase() ?? null;
  return {
    kind: "hmac",
    signature_header: header(trigger.signature_header) ?? "x-signature-256",
    timestamp_header: header(trigger.timestamp_header),
    id_header: header(trigger.id_header),
    event_header: header(trigger.event_header),
  };
}
