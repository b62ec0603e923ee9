import { Ellipsis } from "lucide-react";
import { useMemo, useState, type ReactNode } from "react";
import {
  acpCallKind,
  acpCommandOf,
  type ActionRow,
  asRecord,
  type Edit,
  editsOf,
  listAt,
  observationOfAcpCall,
  type Outcome,
  partsText,
  pathWithin,
  recordAt,
  tasksOf,
  textAt,
  textsAt,
  type UnknownRecord,
} from "@convoke/client/view";
import { DiffView } from "../diff/diff-view.tsx";
import { PlannedDiff } from "./planned-diff.tsx";
import { copyText } from "../lib/copy-text.ts";
import { linkTo } from "../lib/link-to.ts";
import { Markdown } from "../text/markdown.tsx";
import { visibleText } from "../text/visible-text.ts";
import { useServices } from "../services/services.ts";
import { Button } from "../ui/button.tsx";
import { CopyButton } from "../ui/copy-button.tsx";
import { Menu } from "../ui/menu.tsx";
import { useMoreWords, useWords } from "../words/words.ts";
import { ArgumentTable } from "./argument-table.tsx";
import type { CardMenu } from "./card-menu.ts";
import { LongText } from "./long-text.tsx";
import { TaskList } from "./task-list.tsx";
import { Changed } from "./changed.tsx";

type BodyProps = {
  readonly row: ActionRow;
  readonly conversationId: string;
  readonly folder: string | null;
  /** Streamed output while the tool runs. */
  readonly progress: string | null;
  readonly menu: CardMenu | null;
  readonly thread: ((report: ReactNode) => ReactNode) | null;
};

type Result = Extract<Outcome, { readonly type: "result" }>;

/** Arguments and result of a call. A new kind of card is a new function here. */
export default function ActionBody({ row, conversationId, folder, progress, menu, thread }: BodyProps) {
  const edits = useMemo(() => editsOf(row), [row]);
  const body = (
    <>
      {edits.length > 0 ? (
        <EditsBody row={row} edits={edits} conversationId={conversationId} folder={folder} />
      ) : (
        <InputBody row={row} />
      )}
      {row.outcome === null && progress !== null && <LongText text={progress} isLive />}
      <OutcomeBody row={row} conversationId={conversationId} hasEdits={edits.length > 0} />
    </>
  );
  return (
    <div className="text-sm">
      {thread === null ? body : thread(body)}
      {menu !== null && <BodyMenu id={row.id} menu={menu} />}
    </div>
  );
}

function BodyMenu({ id, menu }: { readonly id: string; readonly menu: CardMenu }) {
  const words = useMoreWords().message;
  const entries = [
    { label: words.showContext, onChoose: () => menu.showContext(id) },
    { label: words.copyLink, onChoose: () => void copyText(linkTo(id)) },
    { label: words.showEvent, onChoose: () => menu.showEvent(id) },
  ];
  return (
    <div className="flex justify-end border-t border-line px-1">
      <Menu label={words.menu} icon={<Ellipsis size={14} />} entries={entries} />
    </div>
  );
}

type EditsBodyProps = Pick<BodyProps, "row" | "conversationId" | "folder"> & {
  readonly edits: readonly Edit[];
};

function EditsBody({ row, edits, conversationId, folder }: EditsBodyProps) {
  // What another agent does is not done by us: nothing says at which lines of the file it will be.
  const planned = row.outcome === null && row.action?.["kind"] !== acpCallKind ? row.action : null;
  return edits.map((edit) => (
    <div key={edit.path} className="border-b border-line last:border-b-0">
      <div className="flex items-center gap-2 bg-raised px-3 py-1 text-xs">
        <span className="grow truncate font-mono">{visibleText(pathWithin(edit.path, folder))}</span>
        <Changed edit={edit} />
      </div>
      {planned === null ? (
        <DiffView change={edit} path={edit.path} />
      ) : (
        <PlannedDiff edit={edit} action={planned} conversationId={conversationId} folder={folder} />
      )}
    </div>
  ));
}

function InputBody({ row }: { readonly row: ActionRow }) {
  const { action } = row;
  switch (textAt(action, "kind")) {
    case "TerminalAction":
      return <CommandText command={textAt(action, "command")} />;
    case "TaskTrackerAction":
      return <TaskList tasks={tasksOf(listAt(action, "task_list"))} />;
    case "ThinkAction":
      return (
        <Padded>
          <Markdown text={textAt(action, "thought")} />
        </Padded>
      );
    case "TaskAction":
      return (
        <Padded>
          <Markdown text={textAt(action, "prompt")} />
        </Padded>
      );
    case "ApplyPatchAction":
      return <LongText text={textAt(action, "patch")} />;
    case acpCallKind: {
      const command = acpCommandOf(action);
      return command === null ? <ArgumentTable row={row} /> : <CommandText command={command} />;
    }
    case "FileEditorAction":
    case "ReadFileAction":
    case "GrepAction":
    case "GlobAction":
    case "ListDirectoryAction":
      return null;
    default:
      return <ArgumentTable row={row} />;
  }
}

function CommandText({ command }: { readonly command: string }) {
  return (
    <div className="flex items-start gap-2 border-b border-line bg-sunken py-1.5 pr-1.5 pl-3 font-mono text-sm">
      <span className="text-faint select-none" aria-hidden="true">
        {"$"}
      </span>
      <span className="min-w-0 grow break-words whitespace-pre-wrap">{visibleText(command)}</span>
      <CopyButton text={command} />
    </div>
  );
}

type OutcomeBodyProps = Pick<BodyProps, "row" | "conversationId"> & { readonly hasEdits: boolean };

function OutcomeBody({ row, conversationId, hasEdits }: OutcomeBodyProps) {
  const words = useMoreWords().cardBody;
  const { outcome } = row;
  if (outcome === null) return null;
  if (outcome.type === "failed")
    return <p className="px-3 py-2 whitespace-pre-wrap text-bad">{outcome.error}</p>;
  if (outcome.type === "rejected") {
    return (
      <p className="px-3 py-2 text-warn">
        {outcome.by === "hook" ? words.blockedBecause(outcome.reason) : words.rejectedBecause(outcome.reason)}
      </p>
    );
  }
  // Another agent may say something beside its changes.
  if (hasEdits && listAt(outcome.observation, "content").length === 0) return null;
  if (hasEdits && outcome.observation["kind"] !== acpCallKind) return null;
  if (outcome.isCut) return <CutBody conversationId={conversationId} outcome={outcome} />;
  return <ObservationBody observation={outcome.observation} isError={outcome.isError} />;
}

/** A trimmed result; the whole one is loaded on demand. */
function CutBody({ conversationId, outcome }: { readonly conversationId: string; readonly outcome: Result }) {
  const words = useMoreWords().cardBody;
  const { client } = useServices();
  const [whole, setWhole] = useState<UnknownRecord | null>(null);
  const [isFailed, setIsFailed] = useState(false);
  const load = async (): Promise<void> => {
    try {
      const event = asRecord(await client.getEvent(conversationId, outcome.id));
      setWhole(
        event?.["kind"] === "ACPToolCallEvent" ? observationOfAcpCall(event) : recordAt(event, "observation"),
      );
    } catch {
      // The button stays and offers a retry.
      setIsFailed(true);
    }
  };
  return (
    <>
      <ObservationBody observation={whole ?? outcome.observation} isError={outcome.isError} />
      {whole === null && (
        <div className="border-t border-line px-2 py-1">
          <Button variant="quiet" onClick={() => void load()}>
            {isFailed ? words.wholeFailed : words.whole}
          </Button>
        </div>
      )}
    </>
  );
}

function ObservationBody({
  observation,
  isError,
}: {
  readonly observation: UnknownRecord;
  readonly isError: boolean;
}) {
  const words = useMoreWords().cardBody;
  const { image: imageText } = useWords().card;
  const lists = [...textsAt(observation, "matches"), ...textsAt(observation, "files")];
  if (lists.length > 0) return <LongText text={lists.join("\n")} />;
  const screenshot = textAt(observation, "screenshot_data");
  const images = listAt(observation, "content").flatMap((part) => textsAt(asRecord(part), "image_urls"));
  const text = textAt(observation, "file_content") || partsText(listAt(observation, "content"));
  const pictures = [...(screenshot === "" ? [] : [`data:image/png;base64,${screenshot}`]), ...images];
  return (
    <>
      {pictures
        .filter((address) => address.startsWith("data:image/"))
        .map((address) => (
          <img key={address.slice(-64)} src={address} alt={imageText} className="max-h-96 max-w-full p-2" />
        ))}
      {observation["kind"] === "TaskObservation" ? (
        <Padded>
          <Markdown text={text} />
        </Padded>
      ) : (
        text !== "" && (
          <LongText
            text={text}
            isError={isError}
            isWrapped={isError && observation["kind"] !== "TerminalObservation"}
          />
        )
      )}
      {text === "" && pictures.length === 0 && <p className="px-3 py-2 text-faint">{words.noOutput}</p>}
    </>
  );
}

function Padded({ children }: { readonly children: ReactNode }) {
  return <div className="px-3 py-2">{children}</div>;
}
