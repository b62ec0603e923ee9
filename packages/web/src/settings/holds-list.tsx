import { Link } from "wouter";
import { useStore } from "../lib/store.ts";
import { exactTime } from "../lib/shown-times.ts";
import { useServices } from "../services/services.ts";
import { Button } from "../ui/button.tsx";
import { Problem } from "../ui/problem.tsx";
import { useMoreWords, useWords } from "../words/words.ts";
import { Entries } from "./parts.tsx";
import { useResource } from "./use-resource.ts";

/** The conversations that nothing deletes. */
export function HoldsList() {
  const { hold, retention: words } = useMoreWords();
  const { untitled } = useWords().rail;
  const { client, language, overview } = useServices();
  const titles = new Map(useStore(overview).summaries.map(({ id, title }) => [id, title]));
  const { value, problem, change } = useResource("GET /api/holds");
  const lift = (id: string): Promise<unknown> =>
    client.call("DELETE /api/conversations/{conversation_id}/hold", { params: { conversation_id: id } });
  return (
    <>
      <h3 className="mb-1 font-medium">{words.holds}</h3>
      <Problem text={problem} />
      <Entries isEmpty={value?.items.length === 0} empty={words.noHolds}>
        {value?.items.map(({ conversation_id: id, reason, held_at: at }) => (
          <li key={id} className="flex flex-wrap items-center gap-x-3 gap-y-1 py-1.5">
            <span className="min-w-0 grow basis-40">
              <Link
                href={`/c/${id}`}
                className="block truncate underline underline-offset-2 pointer-coarse:py-2"
              >
                {titles.get(id) ?? untitled}
              </Link>
              <span className="block text-xs text-faint">
                {[hold.since(exactTime(at, language)), reason].filter((text) => text !== "").join(" ")}
              </span>
            </span>
            <Button variant="quiet" onClick={() => void change(() => lift(id))}>
              {words.lift}
            </Button>
          </li>
        ))}
      </Entries>
    </>
  );
}
