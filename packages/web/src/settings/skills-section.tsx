import { useState } from "react";
import { useServices } from "../services/services.ts";
import { Button } from "../ui/button.tsx";
import { useMoreWords, useWords } from "../words/words.ts";
import { Entries, Entry, Explanation, Form, TextField } from "./parts.tsx";
import { Problem } from "../ui/problem.tsx";
import { Toggle } from "./toggle.tsx";
import { useResource } from "./use-resource.ts";

/** Skills of new conversations: origin, and whether each is enabled. */
export function SkillsSection() {
  const words = useMoreWords().settings.skills;
  const { common } = useWords();
  const { client } = useServices();
  const installed = useResource("GET /api/skills/installed");
  const catalogue = useResource("GET /api/skills/catalog");
  const settings = useResource("GET /api/v1/settings");
  const [source, setSource] = useState("");
  const names = new Set(installed.value?.skills.map(({ name }) => name));
  const found = catalogue.value?.skills.filter(({ name }) => !names.has(name)) ?? [];
  const disabled = settings.value?.disabled_skills ?? [];
  const install = async (): Promise<void> => {
    const body = { source: source.trim() };
    if (await installed.change(() => client.call("POST /api/skills/install", { body }))) setSource("");
  };
  const enable = (name: string, isOn: boolean): Promise<boolean> => {
    const rest = disabled.filter((one) => one !== name);
    const body = { disabled_skills: isOn ? rest : [...rest, name] };
    return settings.change(() => client.call("POST /api/v1/settings", { body }));
  };
  return (
    <>
      <Explanation>{words.explanation}</Explanation>
      <Problem text={installed.problem ?? catalogue.problem ?? settings.problem} />
      <h3 className="mb-1 font-medium">{words.installed}</h3>
      <Entries isEmpty={installed.value?.skills.length === 0} empty={words.noneInstalled}>
        {installed.value?.skills.map(({ name, description, source: from, enabled }) => (
          <Entry key={name} title={name} detail={description || from}>
            <Toggle
              name={words.use(name)}
              isOn={enabled !== false}
              onToggle={(isOn) =>
                installed.change(() =>
                  client.call("PATCH /api/skills/installed/{skill_name}", {
                    params: { skill_name: name },
                    body: { enabled: isOn },
                  }),
                )
              }
              className="text-xs text-soft"
            >
              {words.on}
            </Toggle>
            <Button
              variant="quiet"
              onClick={() =>
                void installed.change(() =>
                  client.call("DELETE /api/skills/installed/{skill_name}", { params: { skill_name: name } }),
                )
              }
            >
              {common.remove}
            </Button>
          </Entry>
        ))}
      </Entries>
      <h3 className="mb-1 font-medium">{words.found}</h3>
      <Entries isEmpty={catalogue.value !== undefined && found.length === 0} empty={words.noneFound}>
        {found.map(({ name, description, origin }) => (
          <Entry
            key={name}
            title={name}
            detail={description ?? ""}
            note={<span className="text-xs text-faint">{words.origins[origin]}</span>}
          >
            <Toggle
              name={words.use(name)}
              isOn={!disabled.includes(name)}
              onToggle={(isOn) => enable(name, isOn)}
              className="text-xs text-soft"
            >
              {words.on}
            </Toggle>
          </Entry>
        ))}
      </Entries>
      <Form title={words.add} onSubmit={() => void install()}>
        <TextField
          label={words.source}
          hint={words.sourceHint}
          value={source}
          isRequired
          onChange={setSource}
        />
        <Button type="submit" variant="primary">
          {common.add}
        </Button>
      </Form>
    </>
  );
}
