import { ApiError } from "@convoke/client";
import { useState } from "react";
import { useLocation } from "wouter";
import { useServices } from "../services/services.ts";
import { Button } from "../ui/button.tsx";
import { useMoreWords, useWords } from "../words/words.ts";

/** The demo: real tools, a scripted model, one approval. */
export function DemoOffer() {
  const words = useWords();
  const more = useMoreWords();
  const { client } = useServices();
  const [, navigate] = useLocation();
  const [isStarting, setStarting] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);

  const watch = async (): Promise<void> => {
    setStarting(true);
    setProblem(null);
    try {
      const { conversation_id: id } = await client.call("POST /api/demo");
      navigate(`/c/${id}`);
    } catch (error) {
      const isOn = error instanceof ApiError && error.status === 409;
      const sentence = error instanceof Error ? error.message : words.common.failed;
      setProblem(isOn ? more.home.demoIsOn : sentence);
      setStarting(false);
    }
  };

  return (
    <section aria-label={more.home.demo} className="mt-8 rounded-lg border border-line px-4 py-3">
      <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
        <p className="min-w-0 grow basis-64 text-sm text-soft">{more.home.demoDescription}</p>
        <Button disabled={isStarting} onClick={() => void watch()}>
          {more.home.demo}
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
