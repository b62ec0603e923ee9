import { StrictMode, Suspense } from "react";
import { createRoot } from "react-dom/client";
import { Router } from "wouter";
import { memoryLocation } from "wouter/memory-location";
import { ServicesContext } from "../services/services.ts";
import { laterWords, readWords } from "../words/read-words.ts";
import { MoreWordsContext, WordsContext } from "../words/words.ts";
import { eventsElement, factsElement, readEvents, type ReplayFacts } from "../log/replay-facts.ts";
import { offlineServices } from "./offline-services.ts";
import { RecordedLog } from "./recorded-log.ts";
import { ReplayPage } from "./replay-page.tsx";

/** The page inside a replay file. Its events stand in the same file; nothing of it leads anywhere else. */
async function open(): Promise<void> {
  const textOf = (id: string): string => document.querySelector(`#${id}`)?.textContent ?? "";
  const facts = JSON.parse(textOf(factsElement)) as ReplayFacts;
  const log = new RecordedLog(facts.conversation, readEvents(textOf(eventsElement)));
  const { lang } = document.documentElement;
  const words = await readWords(lang);
  const language = navigator.languages.find((name) => name.startsWith(lang)) ?? lang;
  const { hook } = memoryLocation({ path: "/" });
  createRoot(document.querySelector("#root")!).render(
    <StrictMode>
      <WordsContext value={words}>
        <MoreWordsContext value={laterWords(lang, (read) => read())}>
          <ServicesContext value={offlineServices(log, language)}>
            <Router hook={hook}>
              <Suspense>
                <ReplayPage log={log} facts={facts} />
              </Suspense>
            </Router>
          </ServicesContext>
        </MoreWordsContext>
      </WordsContext>
    </StrictMode>,
  );
}

void open();
