import type { RetentionRule } from "@convoke/protocol";
import { Row, TextInput } from "../ui/form-fields.tsx";
import { Button } from "../ui/button.tsx";
import { useMoreWords, useWords, type MoreWords } from "../words/words.ts";
import { numberFields, type RuleDraft, type RuleProblem } from "./retention-draft.ts";

type RuleFieldsProps = {
  readonly number: number;
  readonly rule: RuleDraft;
  readonly problem: RuleProblem;
  readonly onChange: (rule: RuleDraft) => void;
  readonly onRemove: () => void;
};

/** One rule of the form. */
export function RuleFields({ number, rule, problem, onChange, onRemove }: RuleFieldsProps) {
  const words = useMoreWords().retention;
  const { common } = useWords();
  const title = words.rule(number);
  return (
    <fieldset className="mb-4 rounded-md border border-line px-3 pt-1 pb-2">
      <legend className="px-1 text-sm font-medium">{title}</legend>
      <TextInput
        label={words.name}
        hint={words.nameHint}
        maxLength={100}
        value={rule.name}
        error={problem.name && words[problem.name]}
        onChange={(name) => onChange({ ...rule, name })}
      />
      <p className="mb-2 text-xs text-faint">{words.all}</p>
      <Row>
        {numberFields.map((field) => (
          <TextInput
            key={field}
            label={words[field]}
            inputMode="decimal"
            value={rule[field]}
            error={problem[field] && words[problem[field]]}
            onChange={(value) => onChange({ ...rule, [field]: value })}
          />
        ))}
        <div />
        <TextInput
          label={words.tagKey}
          maxLength={256}
          value={rule.tagKey}
          onChange={(tagKey) => onChange({ ...rule, tagKey })}
        />
        {rule.tagKey.trim() !== "" && (
          <TextInput
            label={words.tagValue}
            hint={words.tagValueHint}
            maxLength={256}
            value={rule.tagValue}
            onChange={(tagValue) => onChange({ ...rule, tagValue })}
          />
        )}
      </Row>
      {problem.rule !== undefined && <p className="mb-2 text-xs text-bad">{words[problem.rule]}</p>}
      <Button variant="quiet" aria-label={words.removeRule(rule.name || title)} onClick={onRemove}>
        {common.remove}
      </Button>
    </fieldset>
  );
}

/** The conditions of a rule in words. */
export function conditionsOf(rule: RetentionRule, { conditions }: MoreWords["retention"]): string {
  const { older_than_days: older, idle_days: idle, larger_than_mib: larger, tag } = rule;
  return [
    ...(older === undefined ? [] : [conditions.older(older)]),
    ...(idle === undefined ? [] : [conditions.idle(idle)]),
    ...(larger === undefined ? [] : [conditions.larger(larger)]),
    ...(tag === undefined ? [] : [conditions.tag([tag.key, tag.value].filter(Boolean).join(": "))]),
  ].join(", ");
}
