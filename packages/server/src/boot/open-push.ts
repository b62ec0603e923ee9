import type { FaceDeps } from "../faces/face-deps.ts";
import type { PushConfig } from "./config-push.ts";
import type { KeyRing } from "../http/auth.ts";
import { wait } from "../lib/wait.ts";
import type { Observer } from "../observability/observer.ts";
import type { OpenConversations } from "./open-conversations.ts";
import type { Store } from "./store.ts";
import { openPushKeys } from "../push/push-keys.ts";
import { canSeal } from "../push/push-post.ts";
import { Pushes, type RunOutcome } from "../push/pushes.ts";
import { SubscriptionStore } from "../push/subscription-store.ts";
import { systemClock } from "../lib/clock.ts";

export type OpenPushDeps = Pick<FaceDeps, "logger"> & {
  readonly config: PushConfig;
  readonly store: Pick<Store, "database" | "secretBox">;
  readonly conversations: Pick<OpenConversations, "directory" | "filteredFetch">;
  readonly keys: Pick<KeyRing, "isStillGood">;
  readonly observer: Observer;
};

export type OpenPush = NonNullable<FaceDeps["push"]> & AsyncDisposable;

/** Starts to notify browsers. */
export async function openPush(deps: OpenPushDeps): Promise<OpenPush> {
  const { config, store, conversations, keys, observer, logger } = deps;
  const pair = await openPushKeys({ ...store, logger });
  const sender = { contact: config.contact, keys: pair };
  const subscriptions = new SubscriptionStore({ ...store, clock: systemClock });
  const pushes = new Pushes({
    subscriptions,
    sender,
    runs: { find: (id) => outcomeOf(conversations, id) },
    owners: keys,
    fetch: conversations.filteredFetch,
    wait,
    logger,
  });
  observer.add({
    ended({ activity }) {
      if (activity.kind === "run") pushes.onRunEnd(activity.conversationId);
    },
  });
  return {
    publicKey: pair.publicKey,
    services: config.services,
    canSeal: (target) => canSeal(sender, target),
    subscriptions,
    [Symbol.asyncDispose]: () => pushes[Symbol.asyncDispose](),
  };
}

async function outcomeOf(
  { directory }: OpenPushDeps["conversations"],
  id: string,
): Promise<RunOutcome | null> {
  const [found] = await directory.describeAll([id]);
  if (found === undefined) return null;
  const { ownerId, described } = found;
  return {
    ownerId,
    status: described.state.status,
    isTask: described.config.parent !== undefined && described.config.parent !== null,
  };
}
