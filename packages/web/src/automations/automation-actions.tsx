import type { Automation } from "@convoke/protocol";
import { Pause, Play } from "lucide-react";
import { useState } from "react";
import { sentenceOf } from "../settings/use-resource.ts";
import { useServices } from "../services/services.ts";
import { Button } from "../ui/button.tsx";
import { useMoreWords } from "../words/words.ts";
import { one } from "./use-refreshed.ts";

/** Runs one request at a time, and keeps the message of its failure. */
export function useAttempt() {
  const [problem, setProblem] = useState<string | null>(null);
  const [isBusy, setIsBusy] = useState(false);
  const attempt = async (act: () => Promise<unknown>): Promise<void> => {
    setProblem(null);
    setIsBusy(true);
    try {
      await act();
    } catch (error) {
      setProblem(sentenceOf(error));
    }
    setIsBusy(false);
  };
  return { problem, isBusy, attempt };
}

type AutomationActionsProps = {
  readonly automation: Automation;
  readonly isBusy: boolean;
  readonly attempt: (act: () => Promise<unknown>) => Promise<void>;
  readonly onChanged: () => Promise<void>;
};

/** Run now; pause or resume. */
export function AutomationActions({ automation, isBusy, attempt, onChanged }: AutomationActionsProps) {
  const words = useMoreWords().automations;
  const { client } = useServices();
  const { id, name, is_paused: isPaused } = automation;
  const params = { automation_id: id };
  const change = (act: () => Promise<unknown>): void =>
    void attempt(async () => {
      await act();
      await onChanged();
    });
  const toggle = isPaused ? "resume" : "pause";
  return (
    <>
      <Button
        disabled={isBusy}
        aria-label={`${words.runNow}: ${name}`}
        onClick={() => {
          // The same id for each attempt of the browser.
          const body = { request_id: crypto.randomUUID() };
          change(() => client.call(`POST ${one}/run`, { params, body }));
        }}
      >
        {words.runNow}
      </Button>
      <Button
        disabled={isBusy}
        aria-label={`${words[toggle]}: ${name}`}
        onClick={() => change(() => client.call(`POST ${one}/${toggle}`, { params }))}
      >
        {isPaused ? <Play size={13} aria-hidden="true" /> : <Pause size={13} aria-hidden="true" />}
        {words[toggle]}
      </Button>
    </>
  );
}
