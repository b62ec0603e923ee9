import { useServices } from "../services/services.ts";
import { Problem } from "../ui/problem.tsx";
import { useMoreWords } from "../words/words.ts";
import { InstalledList } from "./installed-list.tsx";
import { Explanation } from "./parts.tsx";
import { pluginActions } from "./source-actions.ts";
import { SourceForm } from "./source-form.tsx";
import { useResource } from "./use-resource.ts";

/** The plugins of a user, which conversations name that want them. */
export function PluginsSection() {
  const words = useMoreWords().settings.plugins;
  const { client } = useServices();
  const installed = useResource("GET /api/plugins/installed");
  const actions = pluginActions(client);
  return (
    <>
      <Explanation>{words.explanation}</Explanation>
      <Problem text={installed.problem} />
      <InstalledList
        items={installed.value?.plugins}
        empty={words.noneInstalled}
        actions={actions}
        change={installed.change}
      />
      <SourceForm title={words.add} actions={actions} onInstall={installed.change} />
    </>
  );
}
