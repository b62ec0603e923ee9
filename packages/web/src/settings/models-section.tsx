import type { LLMProfileInfo, ValidateProfileRequest } from "@convoke/protocol";
import { Suspense, useState } from "react";
import { useServices } from "../services/services.ts";
import { Button } from "../ui/button.tsx";
import { lazyPart } from "../lib/lazy-part.ts";
import { useMoreWords, useWords } from "../words/words.ts";
import { ModelField } from "./model-field.tsx";
import { proposedName } from "../lib/model-options.ts";
import { Entries, Entry, Explanation, Form, TextField } from "./parts.tsx";
import { Problem } from "../ui/problem.tsx";
import { useResource } from "./use-resource.ts";
import { useVerdicts } from "./use-verdicts.ts";

const ProfileHistoryDialog = lazyPart(() => import("./profile-history-dialog.tsx"));

const emptyModel = { name: "", model: "", key: "", address: "" };

/** Stored models: add, test, choose the active one. */
export function ModelsSection() {
  const words = useWords();
  const more = useMoreWords();
  const { client } = useServices();
  const { value, problem, change } = useResource("GET /api/profiles");
  const [draft, setDraft] = useState(emptyModel);
  const [historyOf, setHistoryOf] = useState<string | null>(null);
  const verdicts = useVerdicts();
  const profiles = value?.profiles ?? [];
  const activate = (name: string): Promise<unknown> =>
    client.call("POST /api/profiles/{name}/activate", { params: { name } });

  const save = async (): Promise<void> => {
    const { model, key, address } = draft;
    const name = draft.name.trim();
    const llm = {
      model: model.trim(),
      stream: true,
      ...(key.trim() === "" ? {} : { api_key: key.trim() }),
      ...(address.trim() === "" ? {} : { base_url: address.trim() }),
    };
    const isSaved = await change(async () => {
      await client.call("POST /api/profiles/{name}", { params: { name }, body: { llm } });
      if (profiles.length === 0) await activate(name);
    });
    if (!isSaved) return;
    setDraft(emptyModel);
    void attempt(name, llm);
  };
  const attempt = (name: string, llm: ValidateProfileRequest["llm"]): Promise<void> =>
    verdicts.attempt(name, async () => {
      const { valid, error } = await client.call("POST /api/profiles/{name}/validate", {
        params: { name },
        body: { llm },
      });
      return valid ? more.settings.models.works : (error?.message ?? words.common.failed);
    });

  return (
    <>
      <Explanation>{more.settings.models.explanation}</Explanation>
      <Problem text={problem} />
      <Entries isEmpty={value !== undefined && profiles.length === 0} empty={more.settings.models.none}>
        {profiles.map((profile) => {
          const { name } = profile;
          return (
            <Entry
              key={name}
              title={name}
              detail={profile.model ?? ""}
              note={
                <span className="text-xs text-faint" role="status">
                  {verdicts.of(name) ?? (name === value?.active_profile ? more.settings.models.active : "")}
                </span>
              }
            >
              <Button variant="quiet" onClick={() => void attempt(name, storedOf(profile))}>
                {more.settings.models.tryIt}
              </Button>
              <Button variant="quiet" onClick={() => setHistoryOf(name)}>
                {more.settings.models.history}
              </Button>
              {name !== value?.active_profile && (
                <Button variant="quiet" onClick={() => void change(() => activate(name))}>
                  {more.settings.models.activate}
                </Button>
              )}
              <Button
                variant="quiet"
                onClick={() =>
                  void change(() => client.call("DELETE /api/profiles/{name}", { params: { name } }))
                }
              >
                {words.common.remove}
              </Button>
            </Entry>
          );
        })}
      </Entries>
      {historyOf !== null && (
        <Suspense>
          <ProfileHistoryDialog
            kind="profiles"
            name={historyOf}
            onClose={() => setHistoryOf(null)}
            onRestored={() => void change(async () => {})}
          />
        </Suspense>
      )}
      <Form title={more.settings.models.add} onSubmit={() => void save()}>
        <ModelField
          value={draft.model}
          onChange={(model) => setDraft({ ...draft, model })}
          onChoose={({ model, baseUrl }) =>
            setDraft({
              ...draft,
              model,
              address: baseUrl ?? "",
              name: draft.name.trim() === "" ? proposedName(model) : draft.name,
            })
          }
        />
        <TextField
          label={more.settings.models.key}
          hint={more.settings.models.keyHint}
          isSecret
          value={draft.key}
          onChange={(key) => setDraft({ ...draft, key })}
        />
        <TextField
          label={more.settings.models.address}
          hint={more.settings.models.addressHint}
          value={draft.address}
          onChange={(address) => setDraft({ ...draft, address })}
        />
        <TextField
          label={more.settings.models.name}
          hint={more.settings.models.nameHint}
          value={draft.name}
          isRequired
          onChange={(name) => setDraft({ ...draft, name })}
        />
        <Button type="submit" variant="primary">
          {words.common.add}
        </Button>
      </Form>
    </>
  );
}

/** The test request of a stored model: omitted fields, above all the key, keep their stored values. */
function storedOf({ model, base_url }: LLMProfileInfo): ValidateProfileRequest["llm"] {
  return { model: model ?? "", ...(base_url ? { base_url } : {}) };
}
