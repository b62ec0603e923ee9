import type { StartConversationRequest, WallInfo } from "@convoke/protocol";
import { Suspense, useEffect, useState } from "react";
import { Link, useLocation } from "wouter";
import { Composer, type ComposedMessage } from "../composer/composer.tsx";
import { approvalModes, policyOf, type ApprovalMode } from "../lib/approval-mode.ts";
import { lazyPart } from "../lib/lazy-part.ts";
import { useStore } from "../lib/store.ts";
import { attentionOf } from "../overview/summary.ts";
import { useServices } from "../services/services.ts";
import { StateMark, statusWord } from "../ui/state-mark.tsx";
import { useMoreWords, useWords } from "../words/words.ts";
import { DemoOffer } from "./demo-offer.tsx";
import { ImportButton } from "./import-button.tsx";
import { hasSecret, repositoryOf } from "./fetch-repository.ts";
import { HomeSearch } from "./home-search.tsx";
import { QuotaNote } from "./quota-note.tsx";
import { useChoices } from "./use-choices.ts";
import { FetchingNote, useFetch } from "./use-fetch.tsx";
import { useStart } from "./use-start.ts";

const LocalOffer = lazyPart(() => import("./local-offer.tsx"));

type Models = {
  readonly names: readonly string[];
  readonly active: string | null;
  readonly isReady: boolean;
};

/** The start page: task, folder, model, approval mode; below, active conversations. */
export default function HomePage() {
  const words = useWords();
  const more = useMoreWords();
  const { client, outbox, drafts } = useServices();
  const [, navigate] = useLocation();
  const [models, reloadModels] = useModels();
  const start = useStart();
  const [choices, choose] = useChoices();
  // Once the field was focused, a later response of the server does not overwrite it.
  const [entered, setEntered] = useState<string | null>(null);
  const folder = choices.folder ?? entered ?? start?.default_workspace ?? "";
  const [plansFirst, setPlansFirst] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const { fetching, fetchInto, cancel } = useFetch();

  /** The working directory: the entered folder, or the clone of the entered repository. */
  const prepareFolder = async (): Promise<string> => {
    const place = folder.trim() || (await client.call("GET /api/start")).default_workspace;
    const address = repositoryOf(place);
    if (address === null) return place;
    if (hasSecret(address)) throw new Error(more.home.secretInAddress);
    const base = start?.default_workspace ?? (await client.call("GET /api/start")).default_workspace;
    const fetched = await fetchInto(address, base);
    // Stored now, for a retry after an error and for the next conversation.
    choose({ ...choices, folder: fetched });
    return fetched;
  };

  const begin = async (composed: ComposedMessage): Promise<void> => {
    setProblem(null);
    const id = crypto.randomUUID();
    const { policy, analyzer } = policyOf(choices.care);
    try {
      const workingDir = await prepareFolder();
      const request: Omit<StartConversationRequest, "agent"> = {
        conversation_id: id,
        title: titleOf(composed.text),
        workspace: { kind: "LocalWorkspace", working_dir: workingDir },
        confirmation_policy: policy,
        ...(plansFirst ? { agent_type: "plan" } : {}),
        ...(analyzer === null ? {} : { security_analyzer: analyzer }),
      };
      // Without `agent` the server uses that of the settings; the wire schema does not say so.
      await client.startConversation(request as StartConversationRequest);
      const isOther = choices.profile !== "" && choices.profile !== models?.active;
      if (isOther)
        await client.call("POST /api/conversations/{conversation_id}/switch_profile", {
          params: { conversation_id: id },
          body: { profile_name: choices.profile },
        });
    } catch (error) {
      drafts.write("new", composed.text);
      drafts.writeImages("new", composed.images);
      setProblem(
        isAbort(error)
          ? more.home.fetchCancelled
          : error instanceof Error
            ? error.message
            : words.conversation.failed,
      );
      return;
    }
    outbox.add({ id: crypto.randomUUID(), conversationId: id, ...composed });
    navigate(`/c/${id}`);
  };

  return (
    <div className="h-full overflow-y-auto">
      <div className="mx-auto max-w-[46rem] px-5 pt-[14vh] pb-8 max-[720px]:px-3 max-[720px]:pt-8">
        <h1 className="mb-4 text-xl font-semibold">{more.home.title}</h1>
        {models?.isReady === false && (
          <p className="mb-3 rounded-md bg-warn-wash px-3 py-2 text-sm text-warn">
            {more.home.noModel}{" "}
            <Link href="/settings/models" className="font-medium underline underline-offset-2">
              {more.home.connectModel}
            </Link>
          </p>
        )}
        {models?.isReady === false && (
          <Suspense>
            <LocalOffer onUsed={reloadModels} />
          </Suspense>
        )}
        <QuotaNote />
        {problem !== null && (
          <p role="alert" className="mb-3 rounded-md bg-bad-wash px-3 py-2 text-sm text-bad">
            {problem}
          </p>
        )}
        {fetching === null ? (
          <Composer
            key={problem}
            place="new"
            status="idle"
            isLarge
            onSend={(composed) => void begin(composed)}
          />
        ) : (
          <FetchingNote {...fetching} onCancel={cancel} />
        )}
        <div className="mt-2 flex flex-wrap items-center gap-x-4 gap-y-1.5 px-1 text-sm">
          <label className="flex min-w-0 basis-full items-center gap-2 text-faint">
            <span className="shrink-0">{more.home.folder}</span>
            <input
              value={folder}
              spellCheck={false}
              title={more.home.folderHint}
              disabled={fetching !== null}
              onFocus={() => setEntered(folder)}
              onChange={(event) => choose({ ...choices, folder: event.target.value })}
              className="h-7 min-w-32 grow rounded border border-transparent bg-transparent px-1.5 font-mono text-xs text-ink hover:border-line focus:border-accent pointer-coarse:h-11 pointer-coarse:text-[16px]"
            />
          </label>
          {models !== null && models.names.length > 0 && (
            <label className="flex items-center gap-2 text-faint">
              {more.home.model}
              <select
                value={models.names.includes(choices.profile) ? choices.profile : (models.active ?? "")}
                onChange={(event) => choose({ ...choices, profile: event.target.value })}
                className={selectClass}
              >
                {models.active === null && <option value="">{more.home.fromSettings}</option>}
                {models.names.map((name) => (
                  <option key={name} value={name}>
                    {name}
                  </option>
                ))}
              </select>
            </label>
          )}
          <label className="flex items-center gap-2 text-faint">
            {more.home.care}
            <select
              value={choices.care}
              onChange={(event) => choose({ ...choices, care: event.target.value as ApprovalMode })}
              className={selectClass}
            >
              {approvalModes.map((care) => (
                <option key={care} value={care}>
                  {more.care[care]}
                </option>
              ))}
            </select>
          </label>
          <label
            title={more.plan.explanation}
            className="flex items-center gap-2 text-faint pointer-coarse:min-h-11"
          >
            <input
              type="checkbox"
              className="size-4 accent-accent-fill"
              checked={plansFirst}
              onChange={(event) => setPlansFirst(event.target.checked)}
            />
            {more.plan.first}
          </label>
        </div>
        {start !== null && (
          <p className="mt-2 px-1 text-xs text-faint">
            {start.can.machine ? more.home.wall[start.wall.kind] : more.home.noMachine}
            {start.can.machine &&
              start.wall.kind !== "none" &&
              ` ${more.home.network[networkOf(start.wall)]}`}
          </p>
        )}
        {start?.can.demo === true && models?.isReady === false && <DemoOffer />}
        <div className="mt-6">
          <ImportButton />
        </div>
        <HomeSearch />
        <ActiveConversations />
      </div>
    </div>
  );
}

function networkOf({ network }: WallInfo): "none" | "registries" | "all" | "rules" {
  return typeof network === "string" ? network : "rules";
}

function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === "AbortError";
}

/** A provisional title: the beginning of the first message. */
function titleOf(text: string): string | null {
  const line =
    text
      .split("\n")
      .find((part) => part.trim() !== "")
      ?.trim() ?? "";
  if (line === "") return null;
  return line.length > 80 ? `${line.slice(0, 79).trimEnd()}…` : line;
}

const selectClass =
  "h-7 rounded border border-line bg-canvas px-1.5 text-sm text-ink pointer-coarse:h-11 pointer-coarse:text-[16px]";

/** Conversations that run, need approval or have failed. */
function ActiveConversations() {
  const words = useWords();
  const more = useMoreWords();
  const { overview } = useServices();
  const active = useStore(overview).summaries.filter((summary) => attentionOf(summary) !== "rests");
  if (active.length === 0) return null;
  return (
    <section aria-label={more.home.now} className="mt-10">
      <h2 className="mb-1.5 text-sm text-faint">{more.home.now}</h2>
      <ul className="lines border-y border-line">
        {active.map(({ id, title, status }) => (
          <li key={id}>
            <Link
              href={`/c/${id}`}
              className="flex items-center gap-2.5 px-1 py-2 hover:bg-hover pointer-coarse:min-h-11"
            >
              <StateMark status={status} />
              <span className="min-w-0 grow truncate">{title ?? words.rail.untitled}</span>
              <span className="shrink-0 text-xs text-faint">{statusWord(words, status)}</span>
            </Link>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** The stored models, and whether one has a key: null until the server has responded. And how they are read again. */
function useModels(): readonly [Models | null, () => void] {
  const { client } = useServices();
  const [models, setModels] = useState<Models | null>(null);
  const [reads, setReads] = useState(1);
  useEffect(() => {
    const stop = new AbortController();
    const { signal } = stop;
    void Promise.all([
      client.call("GET /api/profiles", { signal }),
      client.call("GET /api/settings", { signal }),
    ])
      .then(([{ profiles = [], active_profile: active }, settings]) =>
        setModels({
          names: profiles.map(({ name }) => name),
          active: active ?? null,
          isReady: profiles.length > 0 || settings.llm_api_key_is_set,
        }),
      )
      .catch((error: unknown) => {
        if (!stop.signal.aborted) console.warn("The models could not be read.", error);
      });
    return () => stop.abort();
  }, [client, reads]);
  return [models, () => setReads(reads + 1)];
}
