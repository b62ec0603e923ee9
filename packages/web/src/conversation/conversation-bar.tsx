import { ChevronLeft, CornerLeftUp, FileDiff, Files, Square, Play, X } from "lucide-react";
import { Suspense, use, useEffect, useState } from "react";
import { Link, useLocation } from "wouter";
import type { ConversationView } from "@convoke/client";
import { conversationAddress } from "../lib/conversation-address.ts";
import type { OpenLog } from "../log/open-log.ts";
import { useServices } from "../services/services.ts";
import { Button, IconButton } from "../ui/button.tsx";
import { StateMark } from "../ui/state-mark.tsx";
import { useMoreWords, useWords } from "../words/words.ts";
import type { Attempt } from "./attempt.ts";
import ConversationMenu from "./conversation-menu.tsx";
import { ConversationTitle } from "./conversation-title.tsx";
import Meters from "./meters.tsx";
import { PaneContext } from "./pane.ts";

type ConversationBarProps = {
  readonly log: OpenLog;
  readonly state: ConversationView;
  readonly onAttempt: Attempt;
  readonly onFork: () => void;
  /** Opens or closes the panel. */
  readonly onPanel: (name: string) => void;
  readonly onDeleted: () => void;
};

/** Title, status and the main action of the conversation. */
export default function ConversationBar({
  log,
  state,
  onAttempt,
  onFork,
  onPanel,
  onDeleted,
}: ConversationBarProps) {
  const words = useWords();
  const pane = use(PaneContext);
  const [, navigate] = useLocation();
  /** The newest request led to the newest answer or action. */
  const showContext = (): void => {
    const { newest } = log.view.snapshot();
    const row = newest.findLast(({ type }) => type === "action" || type === "answer");
    if (row !== undefined)
      navigate(conversationAddress(log.id, location.search, { panel: "context", of: row.id, path: null }));
  };
  return (
    <header className="flex h-11 shrink-0 items-center gap-2.5 border-b border-line px-3 max-[720px]:gap-2">
      <Link
        href="/"
        aria-label={words.conversation.back}
        className="-ml-1 hidden size-11 shrink-0 items-center justify-center text-faint max-[720px]:inline-flex"
      >
        <ChevronLeft size={18} />
      </Link>
      <StateMark status={state.status} />
      <ConversationTitle id={log.id} state={state} />
      <Suspense>{state.parentId !== null && <ParentLink id={state.parentId} />}</Suspense>
      <Suspense>{state.isPlanning && <PlanMark />}</Suspense>
      <span className="grow" />
      <Suspense>
        <Meters state={state} onContext={showContext} />
      </Suspense>
      <IconButton
        label={words.conversation.changes}
        className={mainActionOf(state.status) === null ? "" : "max-[720px]:hidden"}
        onClick={() => onPanel("changes")}
      >
        <FileDiff size={16} />
      </IconButton>
      <IconButton
        label={words.conversation.files}
        className="max-[720px]:hidden"
        onClick={() => onPanel("files")}
      >
        <Files size={16} />
      </IconButton>
      <MainButton id={log.id} state={state} onAttempt={onAttempt} />
      <Suspense fallback={<div className="size-7 pointer-coarse:size-11" />}>
        <ConversationMenu
          id={log.id}
          state={state}
          onAttempt={onAttempt}
          onFork={onFork}
          onPanel={onPanel}
          onDeleted={onDeleted}
        />
      </Suspense>
      <Suspense>{pane !== null && <CloseButton onClose={pane.close} />}</Suspense>
    </header>
  );
}

/** Closes a side pane. */
function CloseButton({ onClose }: { readonly onClose: () => void }) {
  const { close } = useMoreWords().beside;
  return (
    <IconButton label={close} className="max-[1100px]:hidden" onClick={onClose}>
      <X size={16} />
    </IconButton>
  );
}

/** Link to the parent conversation. */
function ParentLink({ id }: { readonly id: string }) {
  const { parent } = useMoreWords().task;
  return (
    <Link
      href={`/c/${id}`}
      aria-label={parent}
      title={parent}
      className="inline-flex size-7 shrink-0 items-center justify-center rounded-md text-faint hover:bg-hover hover:text-ink pointer-coarse:size-11"
    >
      <CornerLeftUp size={14} />
    </Link>
  );
}

/** Marks plan mode. */
function PlanMark() {
  const words = useMoreWords().plan;
  return (
    <span title={words.explanation} className="shrink-0 rounded border border-line px-1.5 text-xs text-soft">
      {words.mark}
    </span>
  );
}

function mainActionOf(status: string): "stop" | "go on" | null {
  if (status === "running") return "stop";
  return status === "paused" || status === "error" || status === "stuck" ? "go on" : null;
}

type MainButtonProps = Pick<ConversationBarProps, "state" | "onAttempt"> & { readonly id: string };

/** Stop while it runs, Resume while it is halted. Shows "stopping" until the log confirms it. */
function MainButton({ id, state, onAttempt }: MainButtonProps) {
  const words = useWords().conversation;
  const { client } = useServices();
  const [isStopping, setIsStopping] = useState(false);
  useEffect(() => setIsStopping(false), [state.status]);
  const action = mainActionOf(state.status);
  if (action === null) return null;
  if (action === "stop") {
    return (
      <Button
        disabled={isStopping}
        onClick={() => {
          setIsStopping(true);
          void onAttempt(() => client.interrupt(id)).then((isDone) => isDone || setIsStopping(false));
        }}
      >
        <Square size={11} className="fill-current" />
        {isStopping ? words.stopping : words.stop}
      </Button>
    );
  }
  return (
    <Button onClick={() => void onAttempt(() => client.run(id))}>
      <Play size={11} className="fill-current" />
      {words.resume}
    </Button>
  );
}
