import { asRecord } from "@convoke/client/view";
import { useServices } from "../services/services.ts";
import { useMoreWords } from "../words/words.ts";
import { Explanation } from "./parts.tsx";
import { Problem } from "../ui/problem.tsx";
import { SchemaForm } from "./schema-form.tsx";
import { ReviewerFields } from "./reviewer-fields.tsx";
import { RulesList } from "./rules-list.tsx";
import { useResource } from "./use-resource.ts";

/** Default limits and approval policy of new conversations. */
export function ApprovalsSection() {
  const words = useMoreWords().settings.approvals;
  const { client } = useServices();
  const schema = useResource("GET /api/settings/conversation-schema");
  const { value, problem, change } = useResource("GET /api/settings");
  return (
    <>
      <Explanation>{words.explanation}</Explanation>
      <Problem text={problem ?? schema.problem} />
      {schema.value !== undefined && value !== undefined && (
        <SchemaForm
          schema={schema.value}
          settings={asRecord(value.conversation_settings) ?? {}}
          onChange={(diff) =>
            change(() => client.call("PATCH /api/settings", { body: { conversation_settings_diff: diff } }))
          }
        />
      )}
      {value !== undefined && <ReviewerFields settings={value} change={change} />}
      <RulesList />
    </>
  );
}
