import type { LocalModelServer } from "@convoke/protocol";
import { useEffect, useState } from "react";
import { useServices } from "../services/services.ts";
import { proposedName } from "../lib/model-options.ts";
import { Button } from "../ui/button.tsx";
import { useMoreWords, useWords } from "../words/words.ts";

type Choice = { readonly server: LocalModelServer; readonly model: string };

/** A model server that answers on the server's machine, to be used with one click. `onUsed` is called once a model is stored and active. */
export default function LocalOffer({ onUsed }: { readonly onUsed: () => void }) {
  const words = useWords();
  const { local } = useMoreWords().home;
  const { client } = useServices();
  const choices = useLocalModels();
  const [chosen, setChosen] = useState("");
  const [isStoring, setStoring] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const choice = choices.find(({ model }) => model === chosen) ?? choices[0];
  if (choice === undefined) return null;

  const use = async (): Promise<void> => {
    setStoring(true);
    setProblem(null);
    const params = { name: proposedName(choice.model) };
    const { base_url: address } = choice.server;
    const llm = { model: choice.model, stream: true, ...(address ? { base_url: address } : {}) };
    try {
      await client.call("POST /api/profiles/{name}", { params, body: { llm } });
      await client.call("POST /api/profiles/{name}/activate", { params });
      onUsed();
      // The button goes; what comes next is the message.
      document.querySelector("textarea")?.focus();
    } catch (error) {
      setProblem(error instanceof Error ? error.message : words.common.failed);
      setStoring(false);
    }
  };

  return (
    <section aria-label={local.title} className="mb-3 rounded-lg border border-line px-4 py-3">
      <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
        <p className="min-w-0 grow basis-48 text-sm text-soft">{local.answers(choice.server.name)}</p>
        {choices.length > 1 && (
          <select
            aria-label={local.model}
            value={choice.model}
            onChange={(event) => setChosen(event.target.value)}
            className="h-8 min-w-0 rounded-md border border-edge bg-canvas px-1.5 text-sm pointer-coarse:h-11 pointer-coarse:text-[16px]"
          >
            {choices.map(({ model }) => (
              <option key={model}>{model}</option>
            ))}
          </select>
        )}
        <Button variant="primary" disabled={isStoring} onClick={() => void use()}>
          {local.use(choice.model)}
        </Button>
      </div>
      {problem !== null && (
        <p role="alert" className="mt-2 text-sm text-bad">
          {problem}
        </p>
      )}
    </section>
  );
}

/** Empty until the server has answered, and when no model server does. */
function useLocalModels(): readonly Choice[] {
  const { client } = useServices();
  const [choices, setChoices] = useState<readonly Choice[]>([]);
  useEffect(() => {
    const stop = new AbortController();
    const { signal } = stop;
    client
      .call("GET /api/llm/local-servers", { signal })
      .then(({ servers }) =>
        setChoices(servers.flatMap((server) => server.models.map((model) => ({ server, model })))),
      )
      .catch((error: unknown) => {
        if (!signal.aborted) console.warn("The model servers of this machine could not be listed.", error);
      });
    return () => stop.abort();
  }, [client]);
  return choices;
}
