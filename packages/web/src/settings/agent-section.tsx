import { asRecord } from "@convoke/client/view";
import { useServices } from "../services/services.ts";
import { useMoreWords } from "../words/words.ts";
import { AgentProfiles } from "./agent-profiles.tsx";
import { Explanation } from "./parts.tsx";
import { Problem } from "../ui/problem.tsx";
import { SchemaForm } from "./schema-form.tsx";
import { useResource } from "./use-resource.ts";

/** Defaults of agents in new conversations, except the model, as a form that the server describes. */
export function AgentSection() {
  const words = useMoreWords().settings.agent;
  const { client } = useServices();
  const schema = useResource("GET /api/settings/agent-schema");
  const { value, problem, change } = useResource("GET /api/settings");
  return (
    <>
      <Explanation>{words.explanation}</Explanation>
      <Problem text={problem ?? schema.problem} />
      {schema.value !== undefined && value !== undefined && (
        <SchemaForm
          schema={schema.value}
          settings={asRecord(value.agent_settings) ?? {}}
          onChange={(diff) =>
            change(() => client.call("PATCH /api/settings", { body: { agent_settings_diff: diff } }))
          }
        />
      )}
      <AgentProfiles />
    </>
  );
}
