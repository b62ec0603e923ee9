import { useState } from "react";
import { asRecord, recordAt, textAt, textsAt, type UnknownRecord } from "@convoke/client/view";
import { useServices } from "../services/services.ts";
import { Button } from "../ui/button.tsx";
import { useMoreWords, useWords } from "../words/words.ts";
import { Entries, Entry, Explanation, Form, TextField } from "./parts.tsx";
import { Problem } from "../ui/problem.tsx";
import { useResource } from "./use-resource.ts";
import { useVerdicts } from "./use-verdicts.ts";

/** MCP servers: add by URL or command, test, remove. */
export function McpSection() {
  const words = useWords();
  const more = useMoreWords();
  const { client } = useServices();
  const { value, problem, change } = useResource("GET /api/settings");
  const [draft, setDraft] = useState({ name: "", address: "" });
  const verdicts = useVerdicts();
  const config = recordAt(asRecord(value?.agent_settings), "mcp_config");
  const servers = Object.entries(recordAt(config, "mcpServers") ?? config ?? {});

  const save = async (): Promise<void> => {
    const isSaved = await change(() =>
      client.call("POST /api/settings/mcp/{settings_key}", {
        params: { settings_key: draft.name.trim() },
        body: serverOf(draft.address),
      }),
    );
    if (isSaved) setDraft({ name: "", address: "" });
  };
  const remove = (name: string): Promise<unknown> =>
    client.call("DELETE /api/settings/mcp/{settings_key}", { params: { settings_key: name } });
  const attempt = async (name: string, server: unknown): Promise<string> => {
    const { ok, tools, error } = await client.call("POST /api/mcp/test", {
      body: { name, server: asRecord(server) ?? {} },
    });
    return ok ? more.settings.mcp.tools((tools ?? []).join(", ")) : (error ?? words.common.failed);
  };

  return (
    <>
      <Explanation>{more.settings.mcp.explanation}</Explanation>
      <Problem text={problem} />
      <Entries isEmpty={value !== undefined && servers.length === 0} empty={more.settings.mcp.none}>
        {servers.map(([name, server]) => (
          <Entry
            key={name}
            title={name}
            detail={addressOf(asRecord(server))}
            note={
              <span className="max-w-full text-xs text-faint" role="status">
                {verdicts.of(name)}
              </span>
            }
          >
            <Button variant="quiet" onClick={() => void verdicts.attempt(name, () => attempt(name, server))}>
              {more.settings.mcp.tryIt}
            </Button>
            <Button variant="quiet" onClick={() => void change(() => remove(name))}>
              {words.common.remove}
            </Button>
          </Entry>
        ))}
      </Entries>
      <Form title={more.settings.mcp.add} onSubmit={() => void save()}>
        <TextField
          label={more.settings.mcp.name}
          value={draft.name}
          isRequired
          onChange={(name) => setDraft({ ...draft, name })}
        />
        <TextField
          label={more.settings.mcp.address}
          hint={more.settings.mcp.addressHint}
          value={draft.address}
          isRequired
          onChange={(address) => setDraft({ ...draft, address })}
        />
        <Button type="submit" variant="primary">
          {words.common.add}
        </Button>
      </Form>
    </>
  );
}

function serverOf(address: string): object {
  const text = address.trim();
  if (/^https?:\/\//i.test(text)) return { url: text };
  const [command = "", ...args] = text.split(/\s+/);
  return { command, args };
}

function addressOf(server: UnknownRecord | null): string {
  return textAt(server, "url") || [textAt(server, "command"), ...textsAt(server, "args")].join(" ");
}
