import type { RetentionPlan } from "@convoke/protocol";
import { Link } from "wouter";
import { useMoreWords, useWords } from "../words/words.ts";
import { Entries } from "./parts.tsx";

/** Maximum number of listed conversations. */
const maxShown = 50;

/** The conversations that a policy would move to the trash, and those that would stay, with the reason. */
export function RetentionPlanList({ plan }: { readonly plan: RetentionPlan }) {
  const words = useMoreWords().retention;
  const { untitled } = useWords().rail;
  const { matches, is_complete: isComplete } = plan;
  const stays = matches.filter(({ stays_because: why }) => why !== null).length;
  return (
    <>
      <p role="status" className="mb-2 text-sm">
        {matches.length === 0 ? words.nothing : words.count(matches.length - stays, stays)}
      </p>
      {matches.length > 0 && (
        <Entries isEmpty={false} empty="">
          {matches.slice(0, maxShown).map((match) => (
            <li key={match.conversation_id} className="py-1.5 text-sm">
              <Link
                href={`/c/${match.conversation_id}`}
                className="block truncate underline underline-offset-2 pointer-coarse:py-2"
              >
                {match.title ?? untitled}
              </Link>
              <span className="block text-xs text-faint">{`${match.rule}: ${match.why}`}</span>
              {match.stays_because !== null && (
                <span className="block text-xs text-warn">{words.stays(match.stays_because)}</span>
              )}
            </li>
          ))}
        </Entries>
      )}
      {(!isComplete || matches.length > maxShown) && (
        <p className="mb-3 text-xs text-faint">{words.incomplete}</p>
      )}
    </>
  );
}
