import { exactTime } from "../lib/shown-times.ts";
import { useServices } from "../services/services.ts";
import { Button } from "../ui/button.tsx";
import { useMoreWords, useWords } from "../words/words.ts";
import { Entries, Explanation } from "./parts.tsx";
import { Problem } from "../ui/problem.tsx";
import { useResource } from "./use-resource.ts";

/** Webhooks that the operator configured, and their delivery status. */
export function WebhooksSection() {
  const words = useMoreWords().settings.webhooks;
  const { conversation } = useWords();
  const { language } = useServices();
  const { value, problem, change } = useResource("GET /api/webhooks");
  return (
    <>
      <Explanation>{words.explanation}</Explanation>
      <Problem text={problem} />
      <Entries isEmpty={value?.webhooks?.length === 0} empty={words.none}>
        {value?.webhooks?.map((hook) => (
          <li key={hook.id} className="py-2">
            <p className="font-mono text-xs break-all">{hook.base_url}</p>
            <p className="text-sm text-soft">
              {hook.lag_events === 0
                ? words.upToDate(hook.delivered_events)
                : words.behind(hook.lag_events, hook.lag_conversations)}
              {hook.skipped_events > 0 && ` ${words.skipped(hook.skipped_events)}`}
            </p>
            {hook.last_error != null && (
              <p className="text-sm text-bad">
                {hook.last_error}{" "}
                {hook.next_attempt_at != null && words.next(exactTime(hook.next_attempt_at, language))}
              </p>
            )}
          </li>
        ))}
      </Entries>
      {/* Only reloads. */}
      <Button onClick={() => void change(() => Promise.resolve())}>{conversation.tryAgain}</Button>
    </>
  );
}
