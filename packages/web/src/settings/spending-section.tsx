import { useState } from "react";
import { Link } from "wouter";
import { shownCost, shownCount } from "@convoke/client/view";
import { useStore } from "../lib/store.ts";
import { useServices } from "../services/services.ts";
import { Button } from "../ui/button.tsx";
import { useMoreWords, useWords } from "../words/words.ts";
import { Entries, Entry, Explanation, Form, TextField } from "./parts.tsx";
import { Problem } from "../ui/problem.tsx";
import { useResource } from "./use-resource.ts";

/** Maximum number of listed conversations. */
const maxConversations = 20;

/** Cost of models by day and conversation, and the daily limit. */
export function SpendingSection() {
  const words = useMoreWords().settings.spending;
  const { common, rail } = useWords();
  const { client, overview } = useServices();
  const { value, problem, change } = useResource("GET /api/spend");
  const titles = new Map(useStore(overview).summaries.map(({ id, title }) => [id, title]));
  const [limit, setLimit] = useState<string | null>(null);
  const own = value?.own_max_budget_per_day ?? null;
  const shown = limit ?? (own === null ? "" : String(own));
  const save = async (): Promise<void> => {
    const dollars = shown.trim() === "" ? null : Number(shown.replace(",", "."));
    const body = { max_budget_per_day: dollars };
    if (await change(() => client.call("PUT /api/spend/limits", { body }))) setLimit(null);
  };
  return (
    <>
      <Explanation>{words.explanation}</Explanation>
      <Problem text={problem} />
      {value !== undefined && (
        <dl className="mb-6 grid max-w-md grid-cols-[1fr_max-content] gap-x-4 gap-y-1 tabular-nums">
          <dt className="text-soft">{words.today}</dt>
          <dd className="text-right">{shownCost(value.today)}</dd>
          <dt className="text-soft">{words.all}</dt>
          <dd className="text-right">{shownCost(value.cost)}</dd>
          <dt className="text-soft">{words.limit}</dt>
          <dd className="text-right">
            {value.max_budget_per_day == null ? words.noLimit : shownCost(value.max_budget_per_day)}
          </dd>
        </dl>
      )}
      {(value !== undefined || problem !== null) && (
        <Form title={words.change} onSubmit={() => void save()}>
          <TextField label={words.own} hint={words.ownHint} value={shown} onChange={setLimit} />
          <Button type="submit" className="mb-6">
            {common.save}
          </Button>
        </Form>
      )}
      <h3 className="mb-1 font-medium">{words.days}</h3>
      <Entries isEmpty={value !== undefined && Object.keys(value.days).length === 0} empty={words.none}>
        {Object.entries(value?.days ?? {})
          .toSorted(([left], [right]) => (left < right ? 1 : -1))
          .map(([day, cost]) => (
            <Entry key={day} title={day}>
              <span className="text-sm tabular-nums">{shownCost(cost)}</span>
            </Entry>
          ))}
      </Entries>
      <h3 className="mb-1 font-medium">{words.conversations}</h3>
      <Entries isEmpty={value?.conversations.length === 0} empty={words.none}>
        {value?.conversations.slice(0, maxConversations).map((one) => (
          <Entry
            key={one.conversation_id}
            title={titles.get(one.conversation_id) ?? rail.untitled}
            detail={words.tokens(shownCount(one.prompt_tokens), shownCount(one.completion_tokens))}
          >
            <span className="text-sm tabular-nums">{shownCost(one.cost)}</span>
            <Link
              href={`/c/${one.conversation_id}`}
              className="text-sm text-soft underline underline-offset-2 pointer-coarse:py-3"
            >
              {words.open}
            </Link>
          </Entry>
        ))}
      </Entries>
    </>
  );
}
