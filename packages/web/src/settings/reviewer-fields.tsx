import type { Settings } from "@convoke/protocol";
import { asRecord, textAt } from "@convoke/client/view";
import { useServices } from "../services/services.ts";
import { Field, inputClass } from "../ui/field.tsx";
import { useMoreWords } from "../words/words.ts";
import { useResource } from "./use-resource.ts";

const risks = ["LOW", "MEDIUM", "HIGH"] as const;

type ReviewerFieldsProps = {
  readonly settings: Settings;
  readonly change: (act: () => Promise<unknown>) => Promise<boolean>;
};

/** The stored model that is asked about actions before a person is, and up to which risk. */
export function ReviewerFields({ settings, change }: ReviewerFieldsProps) {
  const words = useMoreWords().settings.approvals.reviewer;
  const { client } = useServices();
  const profiles = useResource("GET /api/profiles");
  const stored = asRecord(asRecord(settings.conversation_settings)?.["reviewer"]);
  const [llm, upTo] = [textAt(stored, "llm"), textAt(stored, "up_to") || "MEDIUM"];
  const names = profiles.value?.profiles?.map(({ name }) => name) ?? [];
  const save = (reviewer: object | null): void =>
    void change(() =>
      client.call("PATCH /api/settings", { body: { conversation_settings_diff: { reviewer } } }),
    );
  return (
    <fieldset className="mb-6 max-w-md">
      <legend className="mb-2 font-medium">{words.title}</legend>
      <Field label={words.model} hint={names.length === 0 ? words.noModels : words.hint}>
        {(id, describedBy) => (
          <select
            id={id}
            aria-describedby={describedBy}
            value={llm}
            onChange={({ target }) => save(target.value === "" ? null : { llm: target.value, up_to: upTo })}
            className={inputClass}
          >
            <option value="">{words.nobody}</option>
            {llm !== "" && !names.includes(llm) && <option value={llm}>{words.gone(llm)}</option>}
            {names.map((name) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </select>
        )}
      </Field>
      {llm !== "" && (
        <Field label={words.upTo}>
          {(id) => (
            <select
              id={id}
              value={upTo}
              onChange={({ target }) => save({ llm, up_to: target.value })}
              className={inputClass}
            >
              {risks.map((risk) => (
                <option key={risk} value={risk}>
                  {words.risks[risk]}
                </option>
              ))}
            </select>
          )}
        </Field>
      )}
    </fieldset>
  );
}
