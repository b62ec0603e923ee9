import type { AutomationTrigger } from "@convoke/protocol";
import { useEffect, useState } from "react";
import { useServices } from "../services/services.ts";
import { noProblem, toProblem, type FormProblem } from "./field-errors.ts";

const typingMs = 350;
const shownTimes = 5;

export type Preview = {
  /** Null until the server has answered, and for a trigger that it refuses. */
  readonly times: readonly string[] | null;
  readonly problem: FormProblem;
};

const nothing: Preview = { times: null, problem: noProblem };

/** The next due times of a trigger, from the server, shortly after its last change. */
export function usePreview(trigger: AutomationTrigger): Preview {
  const { client } = useServices();
  const [preview, setPreview] = useState(nothing);
  const text = JSON.stringify(trigger);
  useEffect(() => {
    const stop = new AbortController();
    const { signal } = stop;
    const ask = async (): Promise<void> => {
      const body = { trigger: JSON.parse(text) as AutomationTrigger, count: shownTimes };
      try {
        const { due_times: times } = await client.call("POST /api/automations/preview", { body, signal });
        setPreview({ times, problem: noProblem });
      } catch (error) {
        if (!signal.aborted) setPreview({ times: null, problem: toProblem(error) });
      }
    };
    const timer = setTimeout(() => void ask(), typingMs);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [client, text]);
  return preview;
}
