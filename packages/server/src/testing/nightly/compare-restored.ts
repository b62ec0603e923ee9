import { isDeepStrictEqual } from "node:util";
import type { ConvokeProcess } from "../convoke-process.ts";
import type { ServerAtWork, StoredEvent } from "../server-at-work.ts";

/** The required content of a backup that began later: by conversation, ids of events and of acknowledged messages. */
export type Before = {
  readonly atMs: number;
  readonly logs: ReadonlyMap<string, { readonly events: number; readonly acknowledged: readonly string[] }>;
};

export async function noteBefore(atWork: ServerAtWork): Promise<Before> {
  const logs = new Map<string, { events: number; acknowledged: readonly string[] }>();
  for (const id of Array.from(atWork.conversations)) {
    // Acknowledged before the events are read.
    const acknowledged = [...(atWork.acknowledged.get(id) ?? [])];
    logs.set(id, { events: (await atWork.eventsOf(id)).length, acknowledged });
  }
  return { atMs: Date.now(), logs };
}

/**
 * Compares a restored server with the original, which continued. Each log begins with what existed before the backup, is equal event by
 * event up to the backup, and no command that had started before it starts again.
 */
export async function compareRestored(
  atWork: ServerAtWork,
  restored: ConvokeProcess,
  before: Before,
): Promise<{ readonly events: number; readonly wrong: readonly string[] }> {
  const wrong: string[] = [];
  let events = 0;
  for (const [id, had] of before.logs) {
    const copied = await atWork.eventsOf(id, restored);
    const original = await atWork.eventsOf(id);
    const same = copied.findIndex((event, index) => !isDeepStrictEqual(event, original[index]));
    const shared = same === -1 ? copied.length : same;
    events += shared;
    if (shared < had.events)
      wrong.push(`${id}: the same up to event ${shared}, and ${had.events} were there before`);
    const texts = JSON.stringify(copied);
    for (const clientId of had.acknowledged)
      if (!texts.includes(clientId)) wrong.push(`${id}: the message ${clientId} is lost`);
    wrong.push(...begunTwice(copied.slice(shared), original, before.atMs).map((what) => `${id}: ${what}`));
  }
  const secret = await restored.call("GET", "/api/settings/secrets/TOKEN");
  if (!secret.text.includes("canary")) wrong.push(`the secret is ${secret.status}: ${secret.text}`);
  return { events, wrong };
}

/** Commands print their start time. */
function begunTwice(own: readonly StoredEvent[], original: readonly StoredEvent[], atMs: number): string[] {
  return own
    .filter(({ kind }) => kind === "ObservationEvent")
    .flatMap(({ action_id: actionId }) => {
      const first = original.find(
        (event) => event.kind === "ObservationEvent" && event["action_id"] === actionId,
      );
      const began = Number(/\b\d{13}\b/.exec(JSON.stringify(first?.["observation"] ?? ""))?.[0] ?? Infinity);
      return began < atMs ? [`the command of ${String(actionId)} began twice`] : [];
    });
}
