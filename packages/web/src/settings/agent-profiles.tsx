import { Suspense, useState } from "react";
import { lazyPart } from "../lib/lazy-part.ts";
import { useServices } from "../services/services.ts";
import { Button } from "../ui/button.tsx";
import { Problem } from "../ui/problem.tsx";
import { useMoreWords } from "../words/words.ts";
import { Entries, Entry } from "./parts.tsx";
import { useResource } from "./use-resource.ts";

const ProfileHistoryDialog = lazyPart(() => import("./profile-history-dialog.tsx"));

/** The stored profiles of agents: which one is in use, and what each was. */
export function AgentProfiles() {
  const { settings } = useMoreWords();
  const words = settings.agentProfiles;
  const { client } = useServices();
  const { value, problem, change } = useResource("GET /api/agent-profiles");
  const [historyOf, setHistoryOf] = useState<string | null>(null);
  const profiles = value?.profiles ?? [];
  return (
    <>
      <h3 className="mt-6 mb-1 font-medium">{words.title}</h3>
      <p className="mb-2 text-sm text-soft">{words.about}</p>
      <Problem text={problem} />
      <Entries isEmpty={value !== undefined && profiles.length === 0} empty={words.none}>
        {profiles.map(({ id, name, agent_kind: kind, llm_profile_ref: model }) => (
          <Entry
            key={name}
            title={name}
            detail={model || words.kinds[kind === "acp" ? "acp" : "openhands"]}
            note={
              <span className="text-xs text-faint">
                {id === value?.active_agent_profile_id ? settings.models.active : ""}
              </span>
            }
          >
            <Button
              variant="quiet"
              aria-label={`${settings.models.history}: ${name}`}
              onClick={() => setHistoryOf(name)}
            >
              {settings.models.history}
            </Button>
            {id != null && id !== value?.active_agent_profile_id && (
              <Button
                variant="quiet"
                aria-label={`${settings.models.activate}: ${name}`}
                onClick={() =>
                  void change(() =>
                    client.call("POST /api/agent-profiles/{profile_id}/activate", {
                      params: { profile_id: id },
                    }),
                  )
                }
              >
                {settings.models.activate}
              </Button>
            )}
          </Entry>
        ))}
      </Entries>
      {historyOf !== null && (
        <Suspense>
          <ProfileHistoryDialog
            kind="agent-profiles"
            name={historyOf}
            onClose={() => setHistoryOf(null)}
            onRestored={() => void change(async () => {})}
          />
        </Suspense>
      )}
    </>
  );
}
