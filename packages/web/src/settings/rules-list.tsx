import { describeRule } from "@convoke/client";
import type { Rule } from "@convoke/protocol";
import type { ReactNode } from "react";
import { useServices } from "../services/services.ts";
import { visibleText } from "../text/visible-text.ts";
import { Button } from "../ui/button.tsx";
import { Problem } from "../ui/problem.tsx";
import { useMoreWords, useWords } from "../words/words.ts";
import { Entries, Explanation } from "./parts.tsx";
import { useResource } from "./use-resource.ts";

/** The user's rules, which can be removed, and those of the server, which count as well. */
export function RulesList() {
  const words = useWords();
  const { settings, rule: ruleWords } = useMoreWords();
  const more = settings.approvals;
  const { client } = useServices();
  const { value, problem, change } = useResource("GET /api/rules");
  const rules = value?.rules ?? [];
  const remove = (removed: number): void => {
    const version = value?.version ?? 0;
    const left = rules.filter((_, index) => index !== removed);
    void change(() => client.call("PUT /api/rules", { body: { rules: left, version } }));
  };
  return (
    <>
      <h3 className="mt-6 mb-1 font-medium">{more.rules}</h3>
      <Explanation>{more.rulesExplanation}</Explanation>
      <Problem text={problem} />
      <Entries isEmpty={value !== undefined && rules.length === 0} empty={more.noRules}>
        {rules.map((rule, index) => (
          // Two rules may have the same text; the position tells them apart.
          <RuleEntry key={`${index} ${describeRule(rule)}`} rule={rule}>
            <Button
              variant="quiet"
              aria-label={`${words.common.remove}: ${describeRule(rule, ruleWords)}`}
              onClick={() => remove(index)}
            >
              {words.common.remove}
            </Button>
          </RuleEntry>
        ))}
      </Entries>
      {(value?.server_rules ?? []).length > 0 && (
        <>
          <h3 className="mb-1 font-medium">{more.serverRules}</h3>
          <Entries isEmpty={false} empty="">
            {value!.server_rules.map((rule, index) => (
              <RuleEntry key={`${index} ${describeRule(rule)}`} rule={rule} />
            ))}
          </Entries>
        </>
      )}
    </>
  );
}

type RuleEntryProps = { readonly rule: Rule; readonly children?: ReactNode };

function RuleEntry({ rule, children }: RuleEntryProps) {
  const ruleWords = useMoreWords().rule;
  return (
    <li className="flex flex-wrap items-center gap-x-3 gap-y-1 py-1.5">
      <span className="min-w-0 grow basis-60">
        <span className="font-mono text-sm break-words">{visibleText(describeRule(rule, ruleWords))}</span>
        {rule.note !== undefined && (
          <span className="ml-3 text-sm break-words text-soft">{visibleText(rule.note)}</span>
        )}
      </span>
      {children}
    </li>
  );
}
