import { useState } from "react";
import { useServices } from "../services/services.ts";
import { Button } from "../ui/button.tsx";
import { useMoreWords, useWords } from "../words/words.ts";
import { Entries, Entry, Explanation, Form, TextField } from "./parts.tsx";
import { Problem } from "../ui/problem.tsx";
import { useResource } from "./use-resource.ts";

const nothing = { name: "", value: "", hosts: "" };

/** Secrets by name, and the hosts of those that are bound to some. Values are write-only. */
export function SecretsSection() {
  const words = useWords();
  const more = useMoreWords();
  const { client } = useServices();
  const { value, problem, change } = useResource("GET /api/settings/secrets");
  const [draft, setDraft] = useState(nothing);
  const [bound, setBound] = useState<{ readonly name: string; readonly hosts: string } | null>(null);
  const secrets = value?.secrets ?? [];
  const save = async (): Promise<void> => {
    const body = { name: draft.name.trim(), value: draft.value, ...withHosts(draft.hosts) };
    const isSaved = await change(() => client.call("PUT /api/settings/secrets", { body }));
    if (isSaved) setDraft(nothing);
  };
  const bind = async ({ name, hosts }: { readonly name: string; readonly hosts: string }): Promise<void> => {
    // An empty field unbinds, so that the value is for tools.
    const body = { name, hosts: withHosts(hosts).hosts ?? null };
    const isSaved = await change(() =>
      client.call("PUT /api/v1/secrets/{secret_id}", { params: { secret_id: name }, body }),
    );
    if (isSaved) setBound(null);
  };
  const { secrets: text } = more.settings;
  return (
    <>
      <Explanation>{text.explanation}</Explanation>
      <Problem text={problem} />
      <Entries isEmpty={value !== undefined && secrets.length === 0} empty={text.none}>
        {secrets.map(({ name, description, hosts }) => (
          <Entry key={name} title={name} detail={detailOf(description ?? "", hosts ?? [], text.onlyFor)}>
            <Button variant="quiet" onClick={() => setBound({ name, hosts: (hosts ?? []).join(", ") })}>
              {text.changeHosts}
            </Button>
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
      {bound !== null && (
        <Form title={text.hostsOf(bound.name)} onSubmit={() => void bind(bound)}>
          <TextField
            label={text.hosts}
            hint={text.hostsHint}
            value={bound.hosts}
            onChange={(hosts) => setBound({ ...bound, hosts })}
          />
          <Button type="submit" variant="primary">
            {words.common.save}
          </Button>
        </Form>
      )}
      <Form title={text.add} onSubmit={() => void save()}>
        <TextField
          label={text.name}
          value={draft.name}
          isRequired
          onChange={(name) => setDraft({ ...draft, name })}
        />
        <TextField
          label={text.value}
          value={draft.value}
          isSecret
          isRequired
          onChange={(next) => setDraft({ ...draft, value: next })}
        />
        <TextField
          label={text.hosts}
          hint={text.hostsHint}
          value={draft.hosts}
          onChange={(hosts) => setDraft({ ...draft, hosts })}
        />
        <Button type="submit" variant="primary">
          {words.common.save}
        </Button>
      </Form>
    </>
  );
}

/** Without hosts, a secret that is replaced stays bound as it was. */
function withHosts(typed: string): { readonly hosts?: string[] } {
  const hosts = typed.split(/[\s,]+/).filter((host) => host !== "");
  return hosts.length === 0 ? {} : { hosts };
}

function detailOf(description: string, hosts: readonly string[], onlyFor: (hosts: string) => string): string {
  return [description, ...(hosts.length === 0 ? [] : [onlyFor(hosts.join(", "))])]
    .filter((part) => part !== "")
    .join(" · ");
}
