import type { RetentionPlan } from "@convoke/protocol";
import { Link } from "wouter";
import { useServices } from "../services/services.ts";
import { useMoreWords, useWords } from "../words/words.ts";
import { describeFacts, describeStay } from "./describe-match.ts";
import { Entries } from "./parts.tsx";

/** Maximum number of listed conversations. */
const maxShown = 50;

/** The conversations that a policy would move to the trash, and those that would stay, with the reason. */
export function RetentionPlanList({ plan }: { readonly plan: RetentionPlan }) {
  const words = useMoreWords().retention;
  const { untitled } = useWords().rail;
  const { language } = useServices();
  const { matches, is_complete: isComplete } = plan;
  const stays = matches.filter((match) => match.stays !== null).length;
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
              <span className="block text-xs text-faint">{`${match.rule}: ${describeFacts(match.facts, words, language)}`}</span>
              {match.stays !== null && (
                <span className="block text-xs text-warn">
                  {words.stays(describeStay(match.stays, match.hold_reason, words))}
                </span>
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
