import { useState } from "react";
import { useServices } from "../services/services.ts";
import { Button } from "../ui/button.tsx";
import { useMoreWords, useWords } from "../words/words.ts";
import { Entries, Entry, Explanation, Form, TextField } from "./parts.tsx";
import { Problem } from "../ui/problem.tsx";
import { useResource } from "./use-resource.ts";

/** Secrets by name. Values are write-only. */
export function SecretsSection() {
  const words = useWords();
  const more = useMoreWords();
  const { client } = useServices();
  const { value, problem, change } = useResource("GET /api/settings/secrets");
  const [draft, setDraft] = useState({ name: "", value: "" });
  const secrets = value?.secrets ?? [];
  const save = async (): Promise<void> => {
    const isSaved = await change(() =>
      client.call("PUT /api/settings/secrets", { body: { name: draft.name.trim(), value: draft.value } }),
    );
    if (isSaved) setDraft({ name: "", value: "" });
  };
  return (
    <>
      <Explanation>{more.settings.secrets.explanation}</Explanation>
      <Problem text={problem} />
      <Entries isEmpty={value !== undefined && secrets.length === 0} empty={more.settings.secrets.none}>
        {secrets.map(({ name, description }) => (
          <Entry key={name} title={name} detail={description ?? ""}>
            <Button
              variant="quiet"
              onClick={() =>
                void change(() => client.call("DELETE /api/settings/secrets/{name}", { params: { name } }))
              }
            >
              {words.common.remove}
            </Button>
          </Entry>
        ))}
      </Entries>
      <Form title={more.settings.secrets.add} onSubmit={() => void save()}>
        <TextField
          label={more.settings.secrets.name}
          value={draft.name}
          isRequired
          onChange={(name) => setDraft({ ...draft, name })}
        />
        <TextField
          label={more.settings.secrets.value}
          value={draft.value}
          isSecret
          isRequired
          onChange={(next) => setDraft({ ...draft, value: next })}
        />
        <Button type="submit" variant="primary">
          {words.common.save}
        </Button>
      </Form>
    </>
  );
}
