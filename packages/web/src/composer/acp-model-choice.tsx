import { acpModelsOf, type AcpModels } from "@convoke/client/view";
import { useEffect, useState } from "react";
import { useServices } from "../services/services.ts";
import { Button } from "../ui/button.tsx";
import { useMoreWords } from "../words/words.ts";

type AcpModelChoiceProps = {
  readonly conversationId: string;
  /** The model by the log; null before the agent was started. */
  readonly model: string | null;
  /** Shows the error of what it is given. */
  readonly onAttempt: (act: () => Promise<unknown>) => Promise<boolean>;
  readonly onChoose: (model: string) => void;
};

/** The models of the other agent of a conversation. One that was not started yet is asked on request. */
export default function AcpModelChoice({ conversationId, model, onAttempt, onChoose }: AcpModelChoiceProps) {
  const words = useMoreWords().acpModel;
  const { client } = useServices();
  const [known, setKnown] = useState<AcpModels | null>(null);
  const [isAsking, setIsAsking] = useState(false);
  useEffect(() => {
    let isCurrent = true;
    // Again with each model: the agent tells them once it was started.
    acpModelsOf(client, conversationId, false)
      .then((models) => isCurrent && setKnown(models))
      .catch((error: unknown) => console.warn("The models of the agent could not be read.", error));
    return () => {
      isCurrent = false;
    };
  }, [client, conversationId, model]);
  const ask = (): void => {
    setIsAsking(true);
    void onAttempt(async () => setKnown(await acpModelsOf(client, conversationId, true))).finally(() =>
      setIsAsking(false),
    );
  };
  if (known === null) return null;
  if (known.models.length === 0) {
    return (
      <Button variant="quiet" disabled={isAsking} onClick={ask}>
        {isAsking ? words.asking : words.label}
      </Button>
    );
  }
  const now = model ?? known.current ?? "";
  const isListed = known.models.some(({ model_id: id }) => id === now);
  return (
    <select
      aria-label={words.label}
      title={words.label}
      value={now}
      onChange={({ target }) => onChoose(target.value)}
      className="max-w-full min-w-0 truncate rounded border border-line bg-canvas px-1 py-0.5 text-xs text-faint pointer-coarse:min-h-11"
    >
      {!isListed && <option value={now}>{now === "" ? words.unknown : now}</option>}
      {known.models.map(({ model_id: id, name }) => (
        <option key={id} value={id}>
          {name || id}
        </option>
      ))}
    </select>
  );
}
