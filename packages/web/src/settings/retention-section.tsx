import type { RetentionPlan, RetentionPolicies } from "@convoke/protocol";
import { useState } from "react";
import { useServices } from "../services/services.ts";
import { Button } from "../ui/button.tsx";
import { Problem } from "../ui/problem.tsx";
import { useMoreWords, useWords } from "../words/words.ts";
import { HoldsList } from "./holds-list.tsx";
import { Entries, Entry, Explanation, TextField } from "./parts.tsx";
import {
  fromPolicy,
  newRule,
  problemOf,
  toPolicy,
  type PolicyDraft,
  type RuleDraft,
} from "./retention-draft.ts";
import { RetentionPlanList } from "./retention-plan.tsx";
import { conditionsOf, RuleFields } from "./retention-rule.tsx";
import { sentenceOf, useResource } from "./use-resource.ts";

/** Where neither the user nor the server says how long the trash is restorable. */
const usualTrashDays = 30;

/** What goes into the trash by itself: the rules, what they would do, and what is on hold. */
export function RetentionSection() {
  const words = useMoreWords().retention;
  const { value, problem, change } = useResource("GET /api/retention");
  return (
    <>
      <Explanation>{words.explanation}</Explanation>
      <Problem text={problem} />
      {value !== undefined && <PolicyForm key={JSON.stringify(value)} stored={value} onSave={change} />}
      {value?.server_policy != null && (
        <>
          <h3 className="mb-1 font-medium">{words.server}</h3>
          <p className="mb-2 text-sm text-soft">{words.serverAbout}</p>
          <Entries isEmpty={value.server_policy.rules.length === 0} empty={words.none}>
            {value.server_policy.rules.map((rule) => (
              <Entry key={rule.name} title={rule.name}>
                <span className="text-sm text-soft">{conditionsOf(rule, words)}</span>
              </Entry>
            ))}
          </Entries>
        </>
      )}
      <HoldsList />
    </>
  );
}

type PolicyFormProps = {
  readonly stored: RetentionPolicies;
  readonly onSave: (act: () => Promise<unknown>) => Promise<boolean>;
};

/** Rules are saved only after what they would do was shown: a wrong one takes conversations away. */
function PolicyForm({ stored, onSave }: PolicyFormProps) {
  const words = useMoreWords().retention;
  const { common } = useWords();
  const { client } = useServices();
  const [draft, setDraft] = useState<PolicyDraft>(() => fromPolicy(stored.policy));
  const [isChecked, setIsChecked] = useState(false);
  const [plan, setPlan] = useState<RetentionPlan | null>(null);
  const [isBusy, setIsBusy] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const isChanged = JSON.stringify(toPolicy(draft)) !== JSON.stringify(stored.policy);
  const edit = (next: PolicyDraft): void => {
    setDraft(next);
    setPlan(null);
  };
  const editRule = (key: number, next: RuleDraft | null): void =>
    edit({ ...draft, rules: draft.rules.flatMap((rule) => (rule.key === key ? (next ?? []) : rule)) });
  const isRight = draft.rules.every((rule) => Object.keys(problemOf(rule)).length === 0);
  const preview = async (): Promise<void> => {
    setIsChecked(true);
    if (!isRight) return;
    setProblem(null);
    setIsBusy(true);
    try {
      setPlan(await client.call("POST /api/retention/plan", { body: toPolicy(draft), timeoutMs: 600_000 }));
    } catch (error) {
      setProblem(sentenceOf(error));
    }
    setIsBusy(false);
  };
  const save = (): Promise<boolean> =>
    onSave(() => client.call("PUT /api/retention", { body: toPolicy(draft) }));
  return (
    <form
      className="mb-6 max-w-xl"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        void (plan === null ? preview() : save());
      }}
    >
      <h3 className="mb-2 font-medium">{words.rules}</h3>
      {draft.rules.length === 0 && <p className="mb-3 text-faint">{words.none}</p>}
      {draft.rules.map((rule, index) => (
        <RuleFields
          key={rule.key}
          number={index + 1}
          rule={rule}
          problem={isChecked ? problemOf(rule) : {}}
          onChange={(next) => editRule(rule.key, next)}
          onRemove={() => editRule(rule.key, null)}
        />
      ))}
      <Button
        className="mb-4"
        onClick={() => {
          setIsChecked(false);
          edit({
            ...draft,
            rules: [...draft.rules, newRule(Math.max(-1, ...draft.rules.map(({ key }) => key)) + 1)],
          });
        }}
      >
        {words.addRule}
      </Button>
      <TextField
        label={words.trashDays}
        hint={words.trashDaysHint(stored.server_policy?.trash_days ?? usualTrashDays)}
        value={draft.trashDays}
        onChange={(trashDays) => edit({ ...draft, trashDays })}
      />
      <Problem text={problem} />
      {plan !== null && <RetentionPlanList plan={plan} />}
      <div className="flex flex-wrap items-center gap-2">
        <Button disabled={isBusy} onClick={() => void preview()}>
          {isBusy ? words.working : words.preview}
        </Button>
        <Button variant="primary" type="submit" disabled={isBusy || plan === null || !isChanged}>
          {common.save}
        </Button>
        {isChanged && plan === null && <span className="text-xs text-faint">{words.previewFirst}</span>}
      </div>
    </form>
  );
}
