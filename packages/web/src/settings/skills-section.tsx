import { useServices } from "../services/services.ts";
import { useMoreWords } from "../words/words.ts";
import { InstalledList } from "./installed-list.tsx";
import { Entries, Entry, Explanation } from "./parts.tsx";
import { skillActions } from "./source-actions.ts";
import { SourceForm } from "./source-form.tsx";
import { Problem } from "../ui/problem.tsx";
import { Toggle } from "./toggle.tsx";
import { useResource } from "./use-resource.ts";

/** Skills of new conversations: origin, and whether each is enabled. */
export function SkillsSection() {
  const { skills: words, sources: more } = useMoreWords().settings;
  const { client } = useServices();
  const installed = useResource("GET /api/skills/installed");
  const catalogue = useResource("GET /api/skills/catalog");
  const settings = useResource("GET /api/v1/settings");
  const actions = skillActions(client);
  const names = new Set(installed.value?.skills.map(({ name }) => name));
  const found = catalogue.value?.skills.filter(({ name }) => !names.has(name)) ?? [];
  const disabled = settings.value?.disabled_skills ?? [];
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
      <InstalledList
        items={installed.value?.skills}
        empty={words.noneInstalled}
        actions={actions}
        change={installed.change}
      />
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
              name={more.use(name)}
              isOn={!disabled.includes(name)}
              onToggle={(isOn) => enable(name, isOn)}
              className="text-xs text-soft"
            >
              {more.on}
            </Toggle>
          </Entry>
        ))}
      </Entries>
      <SourceForm title={words.add} actions={actions} onInstall={installed.change} />
    </>
  );
}
