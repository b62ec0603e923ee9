import type { PushKind } from "@convoke/protocol";
import { useState } from "react";
import { useServices } from "../services/services.ts";
import { useMoreWords } from "../words/words.ts";
import { isPushSupported, isSubscribedToPush, unsubscribeFromPush, subscribeToPush } from "./browser-push.ts";
import { Explanation } from "./parts.tsx";
import { Problem } from "../ui/problem.tsx";
import { Toggle } from "./toggle.tsx";
import { sentenceOf, useResource } from "./use-resource.ts";

type PushToggleProps = {
  /** Requests the browser's permission and returns the enabled kinds; null if it was denied. */
  readonly prepare: () => Promise<readonly PushKind[] | null>;
};

/** Switch for push notifications while no tab is open. */
export function PushToggle({ prepare }: PushToggleProps) {
  const words = useMoreWords().settings.notifications;
  const services = useServices();
  const { value } = useResource("GET /api/push");
  const [isOn, setIsOn] = useState(() => isSubscribedToPush(services.storage));
  const [problem, setProblem] = useState<string | null>(null);
  if (value === undefined) return null;
  if (!value.is_on) return <Explanation>{words.pushOff}</Explanation>;
  if (!isPushSupported()) return <Explanation>{words.pushMissing}</Explanation>;
  const toggle = async (isWanted: boolean): Promise<void> => {
    setProblem(null);
    try {
      const kinds = isWanted ? await prepare() : null;
      if (kinds !== null) await subscribeToPush(services, kinds, words.kinds);
      else if (!isWanted) await unsubscribeFromPush(services);
    } catch (error) {
      setProblem(sentenceOf(error));
    }
    setIsOn(isSubscribedToPush(services.storage));
  };
  return (
    <>
      <Problem text={problem} />
      <Toggle isOn={isOn} onToggle={toggle} className="rounded px-2 py-1.5 hover:bg-hover">
        {words.push}
      </Toggle>
      <p className="px-2 text-sm text-soft">{words.pushHint}</p>
    </>
  );
}
