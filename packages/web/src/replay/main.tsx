import { StrictMode, Suspense } from "react";
import { createRoot } from "react-dom/client";
import { Router } from "wouter";
import { memoryLocation } from "wouter/memory-location";
import { ServicesContext } from "../services/services.ts";
import { laterWords, readWords } from "../words/read-words.ts";
import { MoreWordsContext, WordsContext } from "../words/words.ts";
import {
  eventsElement,
  factsElement,
  readEvents,
  tasksElement,
  type ReplayFacts,
} from "../log/replay-facts.ts";
import { offlineServices } from "./offline-services.ts";
import { RecordedLog } from "./recorded-log.ts";
import { recordedSource } from "./recorded-source.ts";
import { ReplayPage } from "./replay-page.tsx";

/** Entry of a replay file. The events are in the same file; it makes no requests. */
async function open(): Promise<void> {
  const facts = JSON.parse(takeText(factsElement)) as ReplayFacts;
  const log = new RecordedLog(facts.conversation, readEvents(takeText(eventsElement)));
  const allEvents = readEvents(takeText(tasksElement));
  const tasks = facts.tasks.map(
    ({ conversation, events }) => new RecordedLog(conversation, allEvents.splice(0, events)),
  );
  const logs = new Map([log, ...tasks].map((each) => [each.id, each]));
  const { lang } = document.documentElement;
  const words = await readWords(lang);
  const language = navigator.languages.find((name) => name.startsWith(lang)) ?? lang;
  const { hook } = memoryLocation({ path: "/" });
  createRoot(document.querySelector("#root")!).render(
    <StrictMode>
      <WordsContext value={words}>
        <MoreWordsContext value={laterWords(lang, (read) => read())}>
          <ServicesContext value={offlineServices(recordedSource(logs), language)}>
            <Router hook={hook}>
              <Suspense>
                <ReplayPage log={log} logs={logs} facts={facts} />
              </Suspense>
            </Router>
          </ServicesContext>
        </MoreWordsContext>
      </WordsContext>
    </StrictMode>,
  );
}

/** Takes the text of an element and removes it, because it may be large. */
function takeText(id: string): string {
  const element = document.querySelector(`#${id}`);
  const text = element?.textContent ?? "";
  element?.remove();
  return text;
}

void open();
